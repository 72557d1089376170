// All that runs, and what has ended.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import { follow, type Liveness } from "./live";
import type { JobAnswer, JobListUpdate, JobWords, Snapshot } from "./messages";
import { Bar, clock, EndAt, LiveNote } from "./parts";

interface Row {
  snapshot: Snapshot;
  words: JobWords;
}
type Column = "name" | "state" | "end" | "start";

const ROWS_AT_ONCE = 100;
const ended = (row: Row) => row.snapshot.final === true;

const keyFor: Record<Column, (row: Row) => string | number> = {
  name: (row) => (row.words.title ?? "").toLowerCase(),
  state: (row) => (ended(row) ? 1 : 0),
  // What ends next first; what has no prediction last.
  end: ({ snapshot, words }) => Date.parse(snapshot.ended_at ?? words.ends_at ?? "") || Infinity,
  start: ({ snapshot }) => -Date.parse(snapshot.started_at ?? "") || Infinity,
};

function ordered(rows: Row[], column: Column, descending: boolean): Row[] {
  const key = keyFor[column];
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left !== right) return left < right ? -sign : sign;
    return (a.snapshot.job_id ?? "") < (b.snapshot.job_id ?? "") ? -1 : 1;
  });
}

// How right the forecast was is in the whole snapshot only.
function Accuracy({ id, run }: { id: string; run: string }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let isShown = true;
    ask<JobAnswer>("GET", jobPath(id)).then(
      (answer) => isShown && setText(answer.words?.accuracy ?? ""),
      () => {},
    );
    return () => void (isShown = false);
  }, [id, run]);
  return <span title="The mean distance between the progress that was shown and the true one">{text}</span>;
}

function JobRow({ row: { snapshot, words } }: { row: Row }) {
  const id = snapshot.job_id ?? "";
  return (
    <tr>
      <th scope="row">
        <a class="name" href={`#/jobs/${encodeURIComponent(id)}`} dir="auto">{words.title}</a>
        {words.title !== id && <small dir="auto">{id}</small>}
      </th>
      <td data-label="State">{words.state}</td>
      <td data-label="Progress" class="progress">
        <Bar snapshot={snapshot} words={words} />
        <span>{words.percent}</span>
      </td>
      <td data-label="Left" title="As likely longer as shorter; the 90 % interval is in brackets">
        {snapshot.final ? <Accuracy id={id} run={snapshot.run_uid ?? ""} /> : <>{words.remaining}{words.remaining_detail}</>}
      </td>
      <td data-label="Ends at"><EndAt snapshot={snapshot} words={words} /></td>
      <td data-label="Started">{clock(snapshot.started_at)}</td>
    </tr>
  );
}

export function List({ onRefused }: { onRefused: (liveness: Liveness) => void }) {
  const rows = useRef(new Map<string, Row>());
  const [version, setVersion] = useState(0);
  const [synced, setSynced] = useState(false);
  const [liveness, setLiveness] = useState<Liveness>({ state: "connecting" });
  const [search, setSearch] = useState("");
  const [which, setWhich] = useState("all");
  const [order, setOrder] = useState<{ column: Column; descending: boolean }>({ column: "state", descending: false });
  const [most, setMost] = useState(ROWS_AT_ONCE);

  useEffect(
    () =>
      follow<JobListUpdate>(
        "/api/watch",
        { interval_min: "1s" },
        ({ update, words }) => {
          if (update?.restarted) rows.current.clear();
          for (const id of update?.removed_job_ids ?? []) rows.current.delete(id);
          for (const snapshot of update?.snapshots ?? []) {
            const id = snapshot.job_id ?? "";
            rows.current.set(id, { snapshot, words: words?.[id] ?? {} });
          }
          if (update?.synced) setSynced(true);
          setVersion((before) => before + 1);
        },
        (now) => (now.state === "refused" ? onRefused(now) : setLiveness(now)),
      ),
    [],
  );

  const shown = useMemo(() => {
    const wanted = search.toLowerCase();
    const found = [...rows.current.values()].filter(
      (row) =>
        (which === "all" || (which === "ended") === ended(row)) &&
        (row.words.title?.toLowerCase().includes(wanted) || row.snapshot.job_id?.toLowerCase().includes(wanted)),
    );
    return ordered(found, order.column, order.descending);
  }, [version, search, which, order]);

  const heading = (column: Column, text: string) => (
    <th scope="col" aria-sort={order.column !== column ? "none" : order.descending ? "descending" : "ascending"}>
      <button
        type="button"
        onClick={() => setOrder({ column, descending: order.column === column && !order.descending })}
      >
        {text}
        <span aria-hidden="true">{order.column !== column ? "" : order.descending ? " ▼" : " ▲"}</span>
      </button>
    </th>
  );
  return (
    <>
      <h1>Jobs</h1>
      <LiveNote liveness={liveness} />
      <div class="filters" role="search">
        <label>
          Search <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <label>
          Show{" "}
          <select value={which} onChange={(event) => setWhich(event.currentTarget.value)}>
            <option value="all">all</option>
            <option value="going">what has not ended</option>
            <option value="ended">what has ended</option>
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <p>{!synced ? "…" : rows.current.size === 0 ? "No job has reported yet." : "No job is like that."}</p>
      ) : (
        <table class="jobs">
          <thead>
            <tr>
              {heading("name", "Job")}
              {heading("state", "State")}
              <th scope="col">Progress</th>
              <th scope="col">Left, or how right it was</th>
              {heading("end", "Ends at")}
              {heading("start", "Started")}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((row) => (
              <JobRow key={row.snapshot.job_id} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {shown.length > most && (
        <button type="button" onClick={() => setMost(most + ROWS_AT_ONCE)}>
          {shown.length - most} more
        </button>
      )}
    </>
  );
}
