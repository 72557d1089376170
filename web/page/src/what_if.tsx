// When a job would end on other slots, and a workflow also with other data.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import type { EstimateAnswer, JobWords, Snapshot } from "./messages";
import { clock, count, Due, LEFT_TITLE } from "./parts";

const PAUSE_MS = 300; // after the last move of a slider
const EVERY_MS = 5000; // the job goes on meanwhile

interface Said {
  snapshot: Snapshot;
  words: JobWords;
  executors?: number; // 0: not told
}

function End({ snapshot, words, executors }: Said) {
  return (
    <span title={LEFT_TITLE}>
      {words.remaining}{words.remaining_detail}
      {words.ends_at && `, at ${clock(words.ends_at)}`}
      {words.due_before && <>; <Due snapshot={snapshot} words={words} /></>}
      {executors ? `, on ${executors === 1 ? "1 executor" : `${count(executors)} executors`}` : ""}
    </span>
  );
}

// Why there is nothing to try yet; empty: there is.
function whyNot(words: JobWords, isWorkflow: boolean): string {
  if (isWorkflow) return "";
  if (!words.ends_at) return "Its end is not predicted now, so neither is what other slots would change.";
  return "";
}

export function WhatIf({ id, snapshot, now, isWorkflow }: { id: string; snapshot: Snapshot; now: JobWords; isWorkflow: boolean }) {
  const [slots, setSlots] = useState(0); // as many as there are
  const [data, setData] = useState(1);
  const [would, setWould] = useState<Said>();
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const isOther = slots > 0 || data !== 1;
  const why = whyNot(now, isWorkflow);
  useEffect(() => {
    const number = ++asked.current;
    setWould(undefined);
    setProblem("");
    if (!isOther) return;
    let timer: number | undefined;
    const load = async () => {
      try {
        const scenario = { ...(slots > 0 && { slots }), ...(data !== 1 && { data_factor: data }) };
        const answer = await ask<EstimateAnswer>("POST", `${jobPath(id)}/estimate`, { scenarios: [scenario] });
        if (number === asked.current) {
          setProblem("");
          const outcome = answer.estimate?.outcomes?.[0];
          setWould({ snapshot: outcome?.snapshot ?? {}, words: answer.words?.[0] ?? {}, executors: outcome?.executors });
        }
      } catch (error) {
        if (number === asked.current) setProblem(error instanceof Error ? error.message : String(error));
      }
      if (number === asked.current) timer = window.setTimeout(load, EVERY_MS);
    };
    timer = window.setTimeout(load, PAUSE_MS);
    return () => {
      ++asked.current;
      window.clearTimeout(timer);
    };
  }, [id, slots, data]);
  const running = Number(snapshot.counts?.running_task_count ?? 0);
  return (
    <section class="card what-if">
      <h2>What if it had other slots{isWorkflow && " or other data"}?</h2>
      {why ? <p class="quiet">{why}</p> : (
        <>
          <label title="Tasks that run at once">
            Slots: {slots || `as now${isWorkflow ? "" : ` (${count(running)} running)`}`}
            <input type="range" min={0} max={128} value={slots} onInput={(event) => setSlots(+event.currentTarget.value)} />
          </label>
          <p class="quiet">
            A task is taken to be as fast on other slots as on those that it has.
            {!isWorkflow && " The data of a running job cannot change; ask its workflow about other data."}
          </p>
          {isWorkflow && (
            <label title="Of jobs and stages that have not begun">
              Data of what has not begun: {data} times
              <input type="range" min={0.25} max={8} step={0.25} value={data} onInput={(event) => setData(+event.currentTarget.value)} />
            </label>
          )}
          <p>As it is: <End snapshot={snapshot} words={now} /></p>
          {problem && <p role="alert" class="bad" dir="auto">{problem}</p>}
          {isOther && !problem && <p role="status">So: <strong>{would ? <End {...would} /> : "…"}</strong></p>}
        </>
      )}
    </section>
  );
}
