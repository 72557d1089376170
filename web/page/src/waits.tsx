// Shows the causes of the waits of a job.
import { useRef, useState } from "preact/hooks";
import { ask, jobPath, reasonOf } from "./api";
import type { ExplanationAnswer } from "./messages";
import { usePoll, useSeen } from "./poll";

const EVERY_MS = 5000;
const TITLE = "Delay of the end by these waits; a missing value is unknown, not zero";

export function Waits({ id, isOver }: { id: string; isOver: boolean }) {
  const [answer, setAnswer] = useState<ExplanationAnswer>();
  const [problem, setProblem] = useState("");
  const place = useRef<HTMLElement>(null);
  const isSeen = useSeen(place);
  usePoll(
    async (isWanted) => {
      if (!isSeen) return true;
      try {
        const newest = await ask<ExplanationAnswer>("GET", `${jobPath(id)}/explanation`);
        if (!isWanted()) return true;
        setAnswer(newest);
        setProblem("");
        return isOver && !newest.explanation?.more_to_come;
      } catch (error) {
        if (isWanted()) setProblem(reasonOf(error));
        return false;
      }
    },
    EVERY_MS,
    [id, isOver, isSeen],
  );
  const queries = answer?.queries ?? [];
  const headings = answer?.wait_headings ?? queries[0]?.waits?.map(() => "Wait") ?? [];
  return (
    <section class="card" ref={place}>
      <h2>Causes of waits</h2>
      {(answer?.sentences ?? []).map((sentence) => <p key={sentence} dir="auto">{sentence}</p>)}
      {answer && queries.length === 0 && !answer.explanation?.more_to_come && <p class="quiet">The job's tasks reported no waits.</p>}
      {problem && <p class="quiet" role="status" dir="auto">The waits are unavailable: {problem}.</p>}
      {!answer && !problem && <p class="quiet">Loading the waits …</p>}
      {queries.length > 0 && (
        <details>
          <summary>Waits of each query</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">Query</th><th scope="col">Duration</th>
                {headings.map((heading, i) => <th key={i} scope="col">{heading}</th>)}
              </tr>
            </thead>
            <tbody>
              {queries.map((query) => (
                <tr key={query.query}>
                  <th scope="row" dir="auto">{query.query}</th>
                  <td data-label="Duration" title="From the start to the end, or until now">{query.lasted}</td>
                  {headings.map((heading, i) => <td key={i} data-label={heading} title={TITLE}>{query.waits?.[i]}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}
