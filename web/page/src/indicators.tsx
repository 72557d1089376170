// Shows the estimates of other estimators next to the main estimate. They exist for MapReduce jobs.
import { Chart, type Point } from "./chart";
import type { JobWords, Snapshot } from "./messages";

export function Indicators({ snapshot, words, live }: { snapshot: Snapshot; words: JobWords; live: Point[] }) {
  if (snapshot.info?.kind !== "JOB_KIND_MAPREDUCE") return null;
  const others = words.indicators ?? [];
  if (others.length === 0) {
    return (
      <details class="card">
        <summary><h2>Other estimators</h2></summary>
        <p>This master runs no other estimators. To compare some, start it with <code>--indicator tidemark nearestfit hadoop</code>; each slows down every update.</p>
      </details>
    );
  }
  const last = snapshot.final ? "Forecast error" : "Remaining";
  const shown = { name: `tidemark${words.method ? ` (${words.method})` : ""}`, percent: `${words.percent} ${words.percent_bounds ?? ""}`, remaining: `${words.remaining}${words.remaining_detail}`, accuracy: words.accuracy };
  const compared = live.filter((point) => Object.keys(point.others ?? {}).length > 0);
  return (
    <details class="card" open>
      <summary><h2>Other estimators</h2></summary>
      {compared.length > 1 && <Chart kind="estimators" points={compared} label="Progress by each estimator since this page was opened" />}
      <table>
        <thead>
          <tr><th scope="col">Estimator</th><th scope="col">Progress</th><th scope="col">{last}</th></tr>
        </thead>
        <tbody>
          {[shown, ...others].map((each) => (
            <tr key={each.name}>
              <th scope="row">{each.name}</th>
              <td data-label="Progress" title="Progress according to this estimator">{each.percent}</td>
              <td data-label={last}
                title={snapshot.final ? "Difference between this estimator's progress and the true progress over all updates" : "Remaining time according to this estimator; most estimators have no interval"}>
                {(snapshot.final ? each.accuracy : each.remaining) || "unknown"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
