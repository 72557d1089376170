// Predicts the end of a job for other numbers of slots. For a workflow, it can also vary the amount
// of data.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, jobPath, reasonOf } from "./api";
import type { EstimateAnswer, JobWords, Snapshot } from "./messages";
import { clock, count, Due, LEFT_TITLE } from "./parts";

const PAUSE_MS = 300;  // delay after the last change of a slider
const EVERY_MS = 5000;  // the job continues, so the prediction is repeated

interface Forecast {
  snapshot: Snapshot;
  words: JobWords;
  executors?: number; // 0 if unknown
}

function End({ snapshot, words, executors }: Forecast) {
  return (
    <span title={LEFT_TITLE}>
      {words.remaining}{words.remaining_detail}
      {words.ends_at && !words.is_end_wide && `, at ${clock(words.ends_at)}`}
      {words.due_before && <>; <Due snapshot={snapshot} words={words} /></>}
      {executors ? `, on ${executors === 1 ? "1 executor" : `${count(executors)} executors`}` : ""}
    </span>
  );
}

// Returns the reason why other numbers of slots cannot be tried yet, or an empty string.
function whyNot(words: JobWords, isWorkflow: boolean): string {
  if (isWorkflow) return "";
  if (!words.ends_at) return "There is no forecast of the end yet, so the effect of a different number of slots is unknown.";
  return "";
}

export function WhatIf({ id, snapshot, now, isWorkflow }: { id: string; snapshot: Snapshot; now: JobWords; isWorkflow: boolean }) {
  const [slots, setSlots] = useState(0); // 0 keeps the current number
  const [data, setData] = useState(1);
  const [would, setWould] = useState<Forecast>();
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
        if (number === asked.current) setProblem(reasonOf(error));
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
      <h2>{isWorkflow ? "What if the number of slots or the amount of data changed?" : "What if it had more or fewer slots?"}</h2>
      {why ? <p class="quiet">{why}</p> : (
        <>
          <label title="Tasks that run at once">
            Slots: {slots || `unchanged${isWorkflow ? "" : ` (${count(running)} running)`}`}
            <input type="range" min={0} max={128} value={slots} onInput={(event) => setSlots(+event.currentTarget.value)} />
          </label>
          <p class="quiet">
            This assumes that tasks are as fast on any number of slots as on the current one.
            {!isWorkflow && " The data of a running job cannot change; its workflow page can try a different amount of data."}
          </p>
          {isWorkflow && (
            <label title="Applies to jobs and stages that have not started">
              Data of pending jobs and stages: {data} times
              <input type="range" min={0.25} max={8} step={0.25} value={data} onInput={(event) => setData(+event.currentTarget.value)} />
            </label>
          )}
          <p>Now: <End snapshot={snapshot} words={now} /></p>
          {problem && <p role="alert" class="bad" dir="auto">{problem}</p>}
          {isOther && !problem && <p role="status">With this change: <strong>{would ? <End {...would} /> : "…"}</strong></p>}
        </>
      )}
    </section>
  );
}
