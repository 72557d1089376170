// Shows the estimates of other estimators for the same job.
import type { JobWords, Snapshot } from "./messages";

export function Indicators({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const estimators = words.indicators ?? [];
  if (estimators.length === 0) {
    if (snapshot.info?.kind === "JOB_KIND_WORKFLOW") return null;
    return (
      <details class="card">
        <summary><h2>Other estimators</h2></summary>
        <p>This master runs no other estimators. <code>tidemark serve --indicator tidemark nearestfit hadoop</code> adds two; each of them costs time at every update.</p>
      </details>
    );
  }
  return (
    <details class="card">
      <summary><h2>Other estimators</h2></summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Estimator</th><th scope="col">Progress</th>
            <th scope="col">{snapshot.final ? "Forecast error" : "Remaining"}</th>
          </tr>
        </thead>
        <tbody>
          {estimators.map((indicator) => (
            <tr key={indicator.name}>
              <th scope="row">{indicator.name}</th>
              <td data-label="Progress" title="Estimate of this estimator">{indicator.percent}</td>
              <td data-label={snapshot.final ? "Forecast error" : "Remaining"}
                title={snapshot.final ? "Difference between its progress and the true progress over all updates" : "Estimate of this estimator; most have no interval"}>
                {(snapshot.final ? indicator.accuracy : indicator.remaining) || "unknown"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
