// When a workflow would end on other slots or with other data.
import { useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import type { EstimateAnswer, JobWords } from "./messages";
import { clock } from "./parts";

export function WhatIf({ id }: { id: string }) {
  const [slots, setSlots] = useState(8);
  const [data, setData] = useState(1);
  const [outcome, setOutcome] = useState<{ of: string; words: JobWords }>();
  const [problem, setProblem] = useState("");
  const estimate = async (event: Event) => {
    event.preventDefault();
    try {
      const answer = await ask<EstimateAnswer>("POST", `${jobPath(id)}/estimate`, {
        scenarios: [{ slots, ...(data === 1 ? {} : { data_factor: data }) }],
      });
      setProblem("");
      setOutcome({ of: `${slots} slots, ${data} times the data`, words: answer.words?.[0] ?? {} });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="what-if" onSubmit={estimate}>
      <label>
        Slots: {slots}
        <input type="range" min={1} max={128} value={slots} onInput={(event) => setSlots(+event.currentTarget.value)} />
      </label>
      <label>
        Data of what has not begun: {data} times
        <input type="range" min={0.25} max={8} step={0.25} value={data}
          onInput={(event) => setData(+event.currentTarget.value)} />
      </label>
      <button type="submit">When would it end?</button>
      {problem && <p role="alert" class="bad">{problem}</p>}
      {outcome && (
        <p role="status">
          With {outcome.of}: {outcome.words.remaining}{outcome.words.remaining_detail}
          {outcome.words.ends_at && `, at ${clock(outcome.words.ends_at)}`}
        </p>
      )}
    </form>
  );
}
