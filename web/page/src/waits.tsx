// Who slowed the job down.
import { useRef, useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import type { ExplanationAnswer } from "./messages";
import { usePoll, useSeen } from "./poll";

const EVERY_MS = 5000;
const RESOURCES = ["Slots", "Processor", "Memory", "Network", "IO"];
const TITLE = "So much later it ended because of that; not told is not zero";

export function Waits({ id, isOver }: { id: string; isOver: boolean }) {
  const [answer, setAnswer] = useState<ExplanationAnswer>();
  const place = useRef<HTMLElement>(null);
  const isSeen = useSeen(place);
  usePoll(
    async (isWanted) => {
      if (!isSeen) return true;
      const news = await ask<ExplanationAnswer>("GET", `${jobPath(id)}/explanation`);
      if (isWanted()) setAnswer(news);
      return isOver && !news.explanation?.more_to_come;
    },
    EVERY_MS,
    [id, isOver, isSeen],
  );
  const queries = answer?.queries ?? [];
  return (
    <section class="card" ref={place}>
      <h2>Who slowed it down</h2>
      {(answer?.sentences ?? []).map((sentence) => <p key={sentence} dir="auto">{sentence}</p>)}
      {answer && queries.length === 0 && !answer.explanation?.more_to_come && <p class="quiet">Nothing was seen of what its tasks waited for.</p>}
      {!answer && <p class="quiet">…</p>}
      {queries.length > 0 && (
        <details>
          <summary>What each query waited for</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">Query</th><th scope="col">Lasted</th>
                {RESOURCES.map((resource) => <th key={resource} scope="col">{resource}</th>)}
              </tr>
            </thead>
            <tbody>
              {queries.map((query) => (
                <tr key={query.query}>
                  <th scope="row" dir="auto">{query.query}</th>
                  <td data-label="Lasted" title="From its beginning to its end, or until now">{query.lasted}</td>
                  {RESOURCES.map((resource, i) => <td key={resource} data-label={resource} title={TITLE}>{query.waits?.[i]}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}
