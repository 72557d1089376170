// When a workflow would end on other slots or with other data.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import type { EstimateAnswer, JobWords } from "./messages";
import { clock, LEFT_TITLE } from "./parts";

const PAUSE_MS = 300; // after the last move of a slider

const said = (words: JobWords | undefined) =>
  words === undefined ? "…" : `${words.remaining ?? ""}${words.remaining_detail ?? ""}${words.ends_at ? `, at ${clock(words.ends_at)}` : ""}`;

export function WhatIf({ id, now }: { id: string; now: JobWords }) {
  const [slots, setSlots] = useState(0); // as many as there are
  const [data, setData] = useState(1);
  const [would, setWould] = useState<JobWords>();
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const isOther = slots > 0 || data !== 1;
  useEffect(() => {
    const number = ++asked.current;
    setWould(undefined);
    setProblem("");
    if (!isOther) return;
    const timer = window.setTimeout(async () => {
      try {
        const scenario = { ...(slots > 0 && { slots }), ...(data !== 1 && { data_factor: data }) };
        const answer = await ask<EstimateAnswer>("POST", `${jobPath(id)}/estimate`, { scenarios: [scenario] });
        if (number === asked.current) setWould(answer.words?.[0] ?? {});
      } catch (error) {
        if (number === asked.current) setProblem(error instanceof Error ? error.message : String(error));
      }
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [id, slots, data]);
  return (
    <section class="card what-if">
      <h2>What if</h2>
      <label>
        Slots: {slots || "as now"}
        <input type="range" min={0} max={128} value={slots} onInput={(event) => setSlots(+event.currentTarget.value)} />
      </label>
      <label>
        Data of what has not begun: {data} times
        <input type="range" min={0.25} max={8} step={0.25} value={data} onInput={(event) => setData(+event.currentTarget.value)} />
      </label>
      <p title={LEFT_TITLE}>As it is: {said(now)}</p>
      {problem && <p role="alert" class="bad">{problem}</p>}
      {isOther && !problem && <p role="status" title={LEFT_TITLE}>So: <strong>{said(would)}</strong></p>}
    </section>
  );
}
