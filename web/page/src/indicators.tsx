// What other methods say of the same job, for those who ask.
import type { JobWords, Snapshot } from "./messages";

export function Indicators({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const said = words.indicators ?? [];
  if (said.length === 0) {
    if (snapshot.info?.kind === "JOB_KIND_WORKFLOW") return null;
    return (
      <details class="card">
        <summary><h2>What other methods say</h2></summary>
        <p>This master was not started with any, as by <code>tidemark serve --indicator tidemark nearestfit hadoop</code>: each costs time at every update.</p>
      </details>
    );
  }
  return (
    <details class="card">
      <summary><h2>What other methods say</h2></summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Method</th><th scope="col">Progress</th>
            <th scope="col">{snapshot.final ? "How right it was" : "Left"}</th>
          </tr>
        </thead>
        <tbody>
          {said.map((indicator) => (
            <tr key={indicator.name}>
              <th scope="row">{indicator.name}</th>
              <td data-label="Progress" title="By this method">{indicator.percent}</td>
              <td data-label={snapshot.final ? "How right it was" : "Left"}
                title={snapshot.final ? "The distance between the progress that it showed and the true one, over all updates" : "By this method; most say nothing of how sure they are"}>
                {(snapshot.final ? indicator.accuracy : indicator.remaining) || "not known"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
