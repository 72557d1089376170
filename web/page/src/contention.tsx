// Shows which jobs delay others, and on which resources and hosts.
import { useState } from "preact/hooks";
import { ask, reasonOf, Refused } from "./api";
import type { Liveness } from "./live";
import type { ContentionAnswer, ContentionTable } from "./messages";
import { usePoll } from "./poll";

const EVERY_MS = 5000;
const TITLES: Record<string, string> = {
  Delay: "Time by which other queries delayed the end of these queries, with its bounds",
  Share: "Share of all delay in this table, with its bounds",
  Responsibility: "Part of the waits for which the query is responsible; 1 means all waits of one query",
  Queries: "Number of queries that waited",
  Impact: "The waits of a stage for a resource add up to 1, divided among hosts by the wait per unit",
};

function Table({ table }: { table: ContentionTable }) {
  const headings = table.headings ?? [];
  return (
    <section class="card">
      <h2>{table.title}</h2>
      <table>
        <thead>
          <tr>{headings.map((heading) => <th key={heading} scope="col" title={TITLES[heading]}>{heading}</th>)}</tr>
        </thead>
        <tbody>
          {(table.rows ?? []).map(({ cells = [], job_id }) => (
            <tr key={cells.join("\n")}>
              {cells.map((cell, i) =>
                i === 0 ? <th key={i} scope="row" dir="auto">{job_id ? <a href={`#/jobs/${encodeURIComponent(job_id)}`}>{cell}</a> : cell}</th> : <td key={i} data-label={headings[i]} title={TITLES[headings[i]]} dir="auto">{cell}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Contention({ onRefused }: { onRefused: (liveness: Liveness) => void }) {
  const [answer, setAnswer] = useState<ContentionAnswer>();
  const [minutes, setMinutes] = useState(5);
  const [problem, setProblem] = useState("");
  usePoll(
    async (isWanted) => {
      const last = minutes > 0 ? `?last=${60 * minutes}s` : "";
      try {
        const newest = await ask<ContentionAnswer>("GET", `/api/contention${last}`);
        if (isWanted()) setAnswer(newest);
        setProblem("");
      } catch (error) {
        if (error instanceof Refused && error.status === 401) onRefused({ state: "refused", why: error });
        setProblem(reasonOf(error));
      }
      return false;
    },
    EVERY_MS,
    [minutes],
  );
  const tables = answer?.tables ?? [];
  const stages = tables.filter((table) => table.is_of_stages);
  return (
    <>
      <div class="title"><h1>Contention</h1></div>
      <div class="filters">
        <label>
          Time{" "}
          <select value={minutes} onChange={(event) => setMinutes(Number(event.currentTarget.value))}>
            <option value={5}>last 5 minutes</option>
            <option value={10}>last 10 minutes</option>
            <option value={0}>since the start of the master</option>
          </select>
        </label>
      </div>
      {problem && <p class="warning" role="status" dir="auto">The contention is unavailable: {problem}.</p>}
      {!answer && !problem && <p class="quiet">Loading the contention …</p>}
      {(answer?.sentences ?? []).map((sentence) => <p key={sentence} dir="auto">{sentence}</p>)}
      {tables.filter((table) => !table.is_of_stages).map((table) => <Table key={table.kind} table={table} />)}
      {stages.length > 0 && (
        <details>
          <summary>Stages</summary>
          {stages.map((table) => <Table key={table.kind} table={table} />)}
        </details>
      )}
    </>
  );
}
