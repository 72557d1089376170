// Lists the jobs that run or have ended.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { follow, type Liveness } from "./live";
import type { JobListUpdate, JobWords, Snapshot } from "./messages";
import { Bar, BarLegend, clock, count, Due, EndAt, LEFT_TITLE, LiveNote, Percent, State, STEP_TITLE } from "./parts";

interface Row {
  snapshot: Snapshot;
  words: JobWords;
}
type Column = "name" | "state" | "end" | "due" | "start";

type Which = "all" | "going" | "late" | "good" | "bad";

const ROWS_AT_ONCE = 100;
const ended = (row: Row) => row.snapshot.final === true;
const isLate = ({ snapshot, words }: Row) =>
  !snapshot.final &&
  (words.is_likely_late || snapshot.estimate?.state === "ESTIMATE_STATE_OVERDUE" || snapshot.silent_since !== undefined ||
    (words.warnings ?? []).length > 0);
const isOf: Record<Which, (row: Row) => boolean> = {
  all: () => true,
  going: (row) => !ended(row),
  late: isLate,
  good: (row) => row.snapshot.state === "JOB_STATE_SUCCEEDED",
  bad: (row) => ended(row) && row.snapshot.state !== "JOB_STATE_SUCCEEDED",
};
const NAMES: Record<Which, string> = { all: "all", going: "running", late: "likely late or with warnings", good: "succeeded", bad: "failed" };

const keyFor: Record<Column, (row: Row) => string | number> = {
  name: (row) => (row.words.title ?? "").toLowerCase(),
  // Sorts jobs with warnings before running jobs and ended jobs; each group starts with the newest.
  state: (row) => (isLate(row) ? 0 : ended(row) ? 2 : 1),
  // Sorts jobs by their ends, and jobs without a forecast last.
  end: ({ snapshot, words }) => Date.parse(snapshot.ended_at ?? words.ends_at ?? "") || Infinity,
  // Sorts jobs by the probability of being late. Jobs without a forecast, ended jobs and all others
  // follow.
  due: ({ snapshot }) => (!snapshot.deadline_at ? 3 : snapshot.final ? 2 : snapshot.late_probability === undefined ? 1 : -snapshot.late_probability),
  start: ({ snapshot }) => -Date.parse(snapshot.started_at ?? "") || Infinity,
};

function ordered(rows: Row[], column: Column, descending: boolean): Row[] {
  const key = keyFor[column];
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left !== right) return left < right ? -sign : sign;
    const newer = keyFor.start(a) as number - (keyFor.start(b) as number);
    return newer || ((a.snapshot.job_id ?? "") < (b.snapshot.job_id ?? "") ? -1 : 1);
  });
}

function JobRow({ row: { snapshot, words }, isDueShown }: { row: Row; isDueShown: boolean }) {
  const id = snapshot.job_id ?? "";
  const info = snapshot.info;
  const more = [words.title !== id ? id : "", info?.kind === "JOB_KIND_WORKFLOW" ? "workflow" : "", info?.user ?? "", info?.queue ?? ""];
  return (
    <tr>
      <th scope="row">
        <a class="name" href={`#/jobs/${encodeURIComponent(id)}`} dir="auto">{words.title}</a>
        {more.filter(Boolean).map((each) => <small key={each} class="name" dir="auto">{each}</small>)}
      </th>
      <td><State snapshot={snapshot} words={words} />{words.step && !snapshot.final && <small title={STEP_TITLE}>{words.step}</small>}</td>
      <td class="progress">
        <Bar snapshot={snapshot} words={words} />
        <Percent words={words} />
      </td>
      <td data-label={snapshot.final ? "Forecast error" : "Remaining"} title={snapshot.final ? undefined : LEFT_TITLE}>
        {snapshot.final ? <span title="Difference between the shown and the true progress over all updates">{words.accuracy}</span> : <>{words.headline && <small class="name" dir="auto">{words.headline}</small>}<strong>{words.remaining}</strong>{words.remaining_detail}</>}
        {words.warnings?.[0] && <small class="warning" dir="auto">{words.warnings[0]}</small>}
      </td>
      <td data-label={snapshot.final ? "Ended" : "Ends"}><EndAt snapshot={snapshot} words={words} /></td>
      {isDueShown && <td><Due snapshot={snapshot} words={words} /></td>}
      <td data-label="Started" title="Time of the job's submission or first report">{clock(snapshot.started_at)}</td>
    </tr>
  );
}

const searched = ({ snapshot, words }: Row) =>
  [words.title, snapshot.job_id, snapshot.info?.user, snapshot.info?.queue].join("\n").toLowerCase();

export function List({ onRefused }: { onRefused: (liveness: Liveness) => void }) {
  const rows = useRef(new Map<string, Row>());
  const [version, setVersion] = useState(0);
  const [synced, setSynced] = useState(false);
  const [liveness, setLiveness] = useState<Liveness>({ state: "connecting" });
  const [search, setSearch] = useState("");
  const [which, setWhich] = useState<Which>("all");
  const [order, setOrder] = useState<{ column: Column; descending: boolean }>({ column: "state", descending: false });
  const [most, setMost] = useState(ROWS_AT_ONCE);

  useEffect(
    () =>
      follow<JobListUpdate>(
        "/api/watch",
        { interval_min: "1s" },
        "/api/session",
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
      (row) => isOf[which](row) && (wanted === "" || searched(row).includes(wanted)),
    );
    return ordered(found, order.column, order.descending);
  }, [version, search, which, order]);

  const isDueShown = shown.some(({ words }) => words.due_before);
  const heading = (column: Column, text: string) => (
    <th scope="col" class={`${column}-column`} aria-sort={order.column !== column ? "none" : order.descending ? "descending" : "ascending"}>
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
      <div class="title">
        <h1>Jobs</h1>
        <LiveNote liveness={liveness} what="the list" />
      </div>
      <div class="filters" role="search">
        <label>
          Search{" "}
          <input type="search" placeholder="name, id, user or queue" value={search}
            onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <label>
          Show{" "}
          <select value={which} onChange={(event) => setWhich(event.currentTarget.value as Which)}>
            {(Object.keys(NAMES) as Which[]).map((each) => (
              <option key={each} value={each}>{NAMES[each]} ({count([...rows.current.values()].filter(isOf[each]).length)})</option>
            ))}
          </select>
        </label>
        <label class="narrow-only">
          Order{" "}
          <select value={order.column} onChange={(event) => setOrder({ column: event.currentTarget.value as Column, descending: false })}>
            <option value="state">running first</option>
            <option value="end">earliest end first</option>
            <option value="due">most likely late first</option>
            <option value="start">newest first</option>
            <option value="name">by name</option>
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <p>{!synced ? "…" : rows.current.size === 0 ? "No job has reported yet." : "No jobs match."}</p>
      ) : (
        <table class="jobs">
          <thead>
            <tr>
              {heading("name", "Job")}
              {heading("state", "State")}
              <th scope="col">Progress</th>
              <th scope="col">Remaining, or forecast error</th>
              {heading("end", "Ends at")}
              {isDueShown && heading("due", "Due")}
              {heading("start", "Started")}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((row) => (
              <JobRow key={row.snapshot.job_id} row={row} isDueShown={isDueShown} />
            ))}
          </tbody>
        </table>
      )}
      {shown.some(({ words }) => words.percent_bounds) && <BarLegend />}
      {shown.length > most && (
        <button type="button" onClick={() => setMost(most + ROWS_AT_ONCE)}>
          {count(shown.length - most)} more
        </button>
      )}
    </>
  );
}
