// Lists the jobs that run or have ended.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { follow, type Liveness } from "./live";
import { addressOf, type Filter, FILTERS, type ListQuery, type Order, ORDERS, queryOf } from "./list_query";
import type { JobListUpdate, JobWords, Snapshot } from "./messages";
import { Bar, BarLegend, clock, count, Due, endWords, joined, LEFT_TITLE, LiveNote, Percent, State, STEP_TITLE } from "./parts";
import { type Run, runOf, runsBefore, Sparkline } from "./past_runs";
import { shortened } from "./shortened";

interface Row {
  snapshot: Snapshot;
  words: JobWords;
}
const ROWS_AT_ONCE = 100;
const ended = (row: Row) => row.snapshot.final === true;
const isLate = ({ snapshot, words }: Row) =>
  !snapshot.final &&
  (words.is_likely_late || snapshot.estimate?.state === "ESTIMATE_STATE_OVERDUE" || snapshot.silent_since !== undefined ||
    (words.warnings ?? []).length > 0);
const isOf: Record<Filter, (row: Row) => boolean> = {
  all: () => true,
  running: (row) => !ended(row),
  late: isLate,
  ended,
  succeeded: (row) => row.snapshot.state === "JOB_STATE_SUCCEEDED",
  failed: (row) => ended(row) && row.snapshot.state !== "JOB_STATE_SUCCEEDED",
};

// Returns the elapsed seconds, or the duration of an ended job.
const elapsedOf = ({ snapshot }: Row) => Date.parse(snapshot.ended_at ?? snapshot.at ?? "") - Date.parse(snapshot.started_at ?? "") || 0;

const keyFor: Record<Order, (row: Row) => string | number> = {
  name: (row) => (row.words.title ?? "").toLowerCase(),
  // Sorts jobs with warnings before running jobs and ended jobs; each group starts with the newest.
  state: (row) => (isLate(row) ? 0 : ended(row) ? 2 : 1),
  // Sorts jobs by their ends, and jobs without a forecast last.
  end: ({ snapshot, words }) => Date.parse(snapshot.ended_at ?? words.ends_at ?? "") || Infinity,
  // Sorts jobs by the probability of being late. Jobs without a forecast, ended jobs and all others
  // follow.
  due: ({ snapshot }) => (!snapshot.deadline_at ? 3 : snapshot.final ? 2 : snapshot.late_probability === undefined ? 1 : -snapshot.late_probability),
  start: ({ snapshot }) => -Date.parse(snapshot.started_at ?? "") || Infinity,
  elapsed: (row) => -elapsedOf(row),
};

function ordered(rows: Row[], column: Order, descending: boolean): Row[] {
  const key = keyFor[column];
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left !== right) return left < right ? -sign : sign;
    const newer = keyFor.start(a) as number - (keyFor.start(b) as number);
    return newer || ((a.snapshot.job_id ?? "") < (b.snapshot.job_id ?? "") ? -1 : 1);
  });
}

function JobRow({ row: { snapshot, words }, runs, isDueShown }: { row: Row; runs: Run[]; isDueShown: boolean }) {
  const id = snapshot.job_id ?? "";
  const info = snapshot.info;
  const end = endWords(snapshot, words);
  const more = [words.title !== id ? id : "", info?.kind === "JOB_KIND_WORKFLOW" ? "workflow" : "", info?.user ?? "", info?.queue ?? ""];
  return (
    <tr>
      <th scope="row">
        <a class="name" href={`#/jobs/${encodeURIComponent(id)}`} dir="auto">{words.title}</a>
        {more.filter(Boolean).map((each) => <small key={each} class="name" dir="auto" title={each}>{shortened(each, 44)}</small>)}
      </th>
      <td><State snapshot={snapshot} words={words} />{words.step && !snapshot.final && <small title={STEP_TITLE}>{words.step}</small>}</td>
      <td class="progress">
        <Bar snapshot={snapshot} words={words} />
        <Percent words={words} />
      </td>
      <td data-label={snapshot.final ? "Forecast" : "Remaining"} title={snapshot.final ? undefined : LEFT_TITLE}>
        {snapshot.final ? (
          <>
            {words.first_forecast && <span title="Duration according to the first forecast that was not a guess">predicted {words.first_forecast}</span>}
            <small title="Difference between the shown and the true progress over all updates">{words.accuracy}</small>
          </>
        ) : <>{words.headline && <small class="name" dir="auto">{words.headline}</small>}<strong>{joined(words.remaining)}</strong>{joined(words.remaining_detail)}</>}
        {snapshot.final && snapshot.message && <small class="name" dir="auto" title={snapshot.message}>{snapshot.message}</small>}
        {words.warnings?.[0] && <small class="warning" dir="auto">{joined(words.warnings[0])}</small>}
      </td>
      <td data-label={snapshot.final ? "Ended" : "Ends"}><span title={end.title}>{end.before === "ends by" ? `by ${end.at}` : end.at}</span></td>
      {isDueShown && <td><Due snapshot={snapshot} words={words} /></td>}
      <td data-label="Started" title="Time of the job's submission or first report">{clock(snapshot.started_at)}</td>
      <td data-label={snapshot.final ? "Took" : "Elapsed"} title="Time since the start, or the duration of an ended job">
        {joined(words.elapsed) || "-"} <Sparkline runs={runsBefore(runs, id, snapshot.started_at)} own={runs.find((run) => run.id === id)} />
      </td>
    </tr>
  );
}

const searched = ({ snapshot, words }: Row) =>
  [words.title, snapshot.job_id, snapshot.info?.user, snapshot.info?.queue].join("\n").toLowerCase();

const EXAMPLES = `tidemark run example synthetic --master HOST:PORT
tidemark run spark --master HOST:PORT -- spark-submit my-application.jar
tidemark run hadoop --master HOST:PORT -- hadoop jar my-job.jar MyJob INPUT OUTPUT`;

// Replaces the table if no jobs are shown.
function Empty({ isLoading, hasJobs, onAll }: { isLoading: boolean; hasJobs: boolean; onAll: () => void }) {
  if (isLoading) return <p class="quiet">Loading the jobs …</p>;
  if (hasJobs) return <p>No jobs match. <button type="button" onClick={onAll}>Show all jobs</button></p>;
  return (
    <>
      <p>No job has reported yet. The list shows each job from its first report on.</p>
      <p>Start a job in a terminal; <code>HOST:PORT</code> is the master's address, which <code>tidemark serve</code> prints:</p>
      <pre tabIndex={0}>{EXAMPLES}</pre>
    </>
  );
}

interface ListProps {
  hash: string; // the address, which contains the query
  onAddress: (address: string) => void;
  onRefused: (liveness: Liveness) => void;
}

export function List({ hash, onAddress, onRefused }: ListProps) {
  const rows = useRef(new Map<string, Row>());
  const [version, setVersion] = useState(0);
  const [synced, setSynced] = useState(false);
  const [liveness, setLiveness] = useState<Liveness>({ state: "connecting" });
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const query = queryOf(hash);
  const { filter, order, descending, search } = query;
  const change = (changed: Partial<ListQuery>) => onAddress(addressOf({ ...query, ...changed }));

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
      (row) => isOf[filter](row) && (wanted === "" || searched(row).includes(wanted)),
    );
    return ordered(found, order, descending);
  }, [version, search, filter, order, descending]);
  const runs = useMemo(() => {
    const byTitle = new Map<string, Run[]>();
    for (const row of rows.current.values()) {
      const run = runOf(row);
      const same = run && byTitle.get(run.title);
      if (same) same.push(run);
      else if (run) byTitle.set(run.title, [run]);
    }
    return byTitle;
  }, [version]);

  const isDueShown = shown.some(({ words }) => words.due_before);
  const heading = (column: Order, text: string) => (
    <th scope="col" class={`${column}-column`} aria-sort={order !== column ? "none" : descending ? "descending" : "ascending"}>
      <button type="button" onClick={() => change({ order: column, descending: order === column && !descending })}>
        {text}
        <span aria-hidden="true">{order !== column ? "" : descending ? " ▼" : " ▲"}</span>
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
            onInput={(event) => change({ search: event.currentTarget.value })} />
        </label>
        <label>
          Show{" "}
          <select value={filter} onChange={(event) => change({ filter: event.currentTarget.value as Filter })}>
            {(Object.keys(FILTERS) as Filter[]).map((each) => (
              <option key={each} value={each}>{FILTERS[each]} ({count([...rows.current.values()].filter(isOf[each]).length)})</option>
            ))}
          </select>
        </label>
        <label class="narrow-only">
          Order{" "}
          <select value={order} onChange={(event) => change({ order: event.currentTarget.value as Order, descending: false })}>
            {Object.entries(ORDERS).map(([each, text]) => <option key={each} value={each}>{text}</option>)}
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <Empty isLoading={!synced} hasJobs={rows.current.size > 0} onAll={() => onAddress("#/")} />
      ) : (
        <table class="jobs">
          <thead>
            <tr>
              {heading("name", "Job")}
              {heading("state", "State")}
              <th scope="col">Progress</th>
              <th scope="col">Forecast</th>
              {heading("end", "Ends at")}
              {isDueShown && heading("due", "Due")}
              {heading("start", "Started")}
              {heading("elapsed", "Elapsed")}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((row) => (
              <JobRow key={row.snapshot.job_id} row={row} runs={runs.get(row.words.title ?? "") ?? []} isDueShown={isDueShown} />
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
