// Shows a job or a workflow of jobs.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, jobPath } from "./api";
import { added, Chart, type Point } from "./chart";
import { DeadlineForm } from "./deadline";
import { applied, type PartWords, remember, secondsOf } from "./delta";
import { Tasks } from "./hosts";
import { Indicators } from "./indicators";
import { follow, type Liveness } from "./live";
import type { ForecastsAnswer, JobUpdate, JobWords, Snapshot, SummaryAnswer } from "./messages";
import { Bar, BarLegend, clock, count, Due, endWords, isWorkflowJob, joined, LEFT_TITLE, LiveNote, Percent, State, STEP_TITLE } from "./parts";
import { PastRuns } from "./past_runs";
import { usePoll } from "./poll";
import { reachOf } from "./reach";
import { Stages } from "./stages";
import { Waits } from "./waits";
import { WhatIf } from "./what_if";

const BASES: Record<string, string> = {
  BASIS_GUESS: "a guess based on other jobs or on its input",
  BASIS_EARLIER_RUNS: "a profile or past runs",
  BASIS_THIS_RUN: "tasks of this run",
};

function LastTasks({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const tasks = snapshot.named_tasks ?? [];
  // The headline contains the sentence about a single task.
  if (tasks.length < 2) return null;
  return (
    <section class="card">
      <h2>Last tasks to end</h2>
      <table class="tasks">
        <thead>
          <tr><th scope="col">Task</th><th scope="col">Host</th><th scope="col">Remaining</th><th scope="col">Reason</th></tr>
        </thead>
        <tbody>
          {tasks.map((task, i) => (
            <tr key={i}>
              <th scope="row" dir="auto">{words.tasks?.[i]?.name}</th>
              <td data-label="Host" dir="auto">{task.host || (task.waits_for_slot ? "none yet" : "unknown")}</td>
              <td data-label="Remaining" title="Median">{words.tasks?.[i]?.remaining || "unknown"}</td>
              <td data-label="Reason" dir="auto">{task.reason || "unknown"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// Shows the tasks by state as one bar.
function TaskCounts({ snapshot }: { snapshot: Snapshot }) {
  const all = Number(snapshot.counts?.task_count ?? 0);
  if (all === 0) return null;
  const done = Number(snapshot.counts?.finished_task_count ?? 0);
  const running = Number(snapshot.counts?.running_task_count ?? 0);
  const failed = Number(snapshot.counts?.failed_attempt_count ?? 0);
  const text = `${count(done)} of ${count(all)} tasks done${running ? `, ${count(running)} running` : ""}${failed ? `, ${count(failed)} ${failed === 1 ? "attempt" : "attempts"} failed` : ""}`;
  return (
    <p class="counts" title="Tasks of all known stages; attempts are counted separately">
      <span class="stack" aria-hidden="true">
        <span class="done" style={{ width: `${(100 * done) / all}%` }} />
        <span class="running" style={{ width: `${(100 * running) / all}%` }} />
      </span>
      {text}
    </p>
  );
}

const seconds = (instant: string | undefined) => (instant ? Date.parse(instant) / 1000 : null);

function pointOf(snapshot: Snapshot, words: JobWords): Point {
  const percent = (fraction: number | undefined) => (words.has_percent ? 100 * (fraction ?? 0) : null);
  const at = Date.parse(snapshot.at ?? "") / 1000;
  const remaining = snapshot.estimate?.remaining;
  const end = (left: string | undefined) => (words.ends_at && left !== undefined ? at + secondsOf(left) : null);
  return {
    at,
    percent: percent(words.shown_fraction),
    lower: percent(words.shown_lower),
    upper: percent(words.shown_upper),
    end: end(remaining?.median),
    endLower: end(remaining?.lower),
    endUpper: end(remaining?.upper),
    shownEnds: [words.ends_at, words.ends_at_lower, words.ends_at_upper],
    others: Object.fromEntries((snapshot.indicators ?? []).flatMap(({ estimate: other }) =>
      other?.remaining ? [[other.indicator || "tidemark", 100 * (other.fraction_done ?? 0)]] : [])),
  };
}

// Returns the forecasts after the given forecast.
async function forecastsAfter(id: string, after: string): Promise<{ points: Point[]; last: string }> {
  const query = after && `?after=${encodeURIComponent(after)}`;
  const answer = await ask<ForecastsAnswer>("GET", `${jobPath(id)}/forecasts${query}`);
  const forecasts = answer.list?.forecasts ?? [];
  const points = forecasts.map((each) => {
    const percent = (fraction: number | undefined) => (each.ends_at ? 100 * (fraction ?? 0) : null);
    return {
      at: seconds(each.at) ?? 0,
      percent: percent(each.fraction_done),
      lower: percent(each.fraction_done_lower),
      upper: percent(each.fraction_done_upper),
      end: seconds(each.ends_at),
      endLower: seconds(each.ends_at_lower),
      endUpper: seconds(each.ends_at_upper),
    };
  });
  return { points, last: forecasts[forecasts.length - 1]?.at ?? after };
}

const HISTORY_EVERY_MS = 3000;

// Returns the forecasts of a job up to the newest snapshot, and that snapshot, so that the chart ends with the numbers of
// the bar.
function useHistory(id: string, run: string, isOver: boolean, live: Point[]): Point[] {
  const [points, setPoints] = useState<Point[]>([]);
  const last = useRef("");
  useEffect(() => {
    last.current = "";
    setPoints([]);
  }, [id, run]);
  usePoll(
    async (isWanted) => {
      if (!run) return true;
      const newest = await forecastsAfter(id, last.current);
      if (!isWanted()) return true;
      if (newest.points.length > 0) {
        last.current = newest.last;
        setPoints((before) => newest.points.reduce(added, before));
      }
      return isOver;
    },
    HISTORY_EVERY_MS,
    [id, run, isOver],
  );
  const newest = live[live.length - 1];
  if (points.length === 0 || isOver || !newest) return points;
  return [...points.filter((point) => point.at < newest.at), newest];
}

function useJob(id: string, onRefused: (liveness: Liveness) => void) {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [words, setWords] = useState<JobWords>({});
  const [points, setPoints] = useState<Point[]>([]);
  const [run, setRun] = useState(1); // counts restarts
  const [liveness, setLiveness] = useState<Liveness>({ state: "connecting" });
  const newest = useRef<Snapshot>();
  const parts = useRef<PartWords>({ stages: new Map(), children: new Map() });
  useEffect(() => {
    newest.current = undefined;
    parts.current = { stages: new Map(), children: new Map() };
    setSnapshot(undefined);
    setPoints([]);
    const stop = follow<JobUpdate>(
      `${jobPath(id)}/watch`,
      { deltas: "true", interval_min: "1s" },
      `${jobPath(id)}?view=VIEW_BASIC`,
      ({ update, words: texts }) => {
        if (!update?.snapshot) return;
        if (update.restarted) {
          setPoints([]);
          setRun((before) => before + 1);
        }
        const whole = applied(newest.current, update.snapshot);
        if (!whole) return;  // The next stream starts with a whole snapshot.
        newest.current = whole;
        remember(texts, parts.current);
        setSnapshot(whole);
        setWords(texts ?? {});
        if (!whole.final) setPoints((before) => added(before, pointOf(whole, texts ?? {})));
      },
      (now) => (now.state === "refused" ? onRefused(now) : setLiveness(now)),
    );
    return stop;
  }, [id]);
  const history = useHistory(
    id,
    snapshot ? `${run} ${snapshot.run_uid ?? ""}` : "",
    snapshot?.final ?? false,
    points,
  );
  return { snapshot, words, points: history, live: points, liveness, parts: parts.current };
}

// Explains ends without a message of the engine.
const UNEXPLAINED: Record<string, string> = {
  JOB_STATE_FAILED: "The job failed, and no reason was reported; see the logs of its engine.",
  JOB_STATE_KILLED: "The job was killed, and no reason was reported.",
  JOB_STATE_ABANDONED: "The job has not reported for a long time, so the master stopped following it; see its engine for the outcome.",
  JOB_STATE_UNKNOWN_END: "The job has ended, and its outcome was not reported; see its engine.",
};

// Returns the paragraph about the costs of a job that has succeeded, or "".
function useSummary(id: string, { state, run_uid }: Snapshot): string {
  const [text, setText] = useState("");
  useEffect(() => {
    setText("");
    if (state !== "JOB_STATE_SUCCEEDED") return;
    let isWanted = true;
    ask<SummaryAnswer>("GET", `${jobPath(id)}/summary`).then((answer) => isWanted && setText(answer.text ?? ""), () => {});
    return () => void (isWanted = false);
  }, [id, state, run_uid]);
  return text;
}

function Headline({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const basis = snapshot.final ? undefined : BASES[snapshot.estimate?.basis ?? ""];
  const workflow = snapshot.info?.workflow_id;
  const end = endWords(snapshot, words);
  const id = snapshot.job_id ?? "";
  const summary = useSummary(id, snapshot);
  return (
    <section class="headline card" data-sequence={snapshot.sequence}>
      {words.headline && <h2 dir="auto" title="The query or action that users wait for; the application may start others">{words.headline}</h2>}
      <div class="numbers">
        <p class="big"><Percent words={words} /></p>
        <p class="remaining" title={LEFT_TITLE}>
          <strong>{joined(words.remaining)}</strong>{joined(words.remaining_detail)}
        </p>
        {end.before && <p class="end">{end.before} <strong title={end.title}>{end.at}</strong></p>}
        {words.due_before && <p class="due"><Due snapshot={snapshot} words={words} /></p>}
      </div>
      <Bar snapshot={snapshot} words={words} />
      {words.percent_bounds && <BarLegend state={snapshot.state} />}
      {words.straggler && (
        <p class="straggler" dir="auto">
          {words.straggler}
          {snapshot.named_tasks?.[0]?.host && <span class="quiet"> · on {snapshot.named_tasks[0].host}</span>}
        </p>
      )}
      {words.accuracy && (
        <p class="straggler" title="Difference between the shown and the true progress over all updates">
          Forecast error: {words.accuracy}
        </p>
      )}
      {summary && <p class="summary" dir="auto">{summary}</p>}
      {(snapshot.message || UNEXPLAINED[snapshot.state ?? ""]) && <p class="bad" dir="auto">{snapshot.message || UNEXPLAINED[snapshot.state ?? ""]}</p>}
      {(words.warnings ?? []).map((warning) => <p key={warning} class="warning" dir="auto">{warning}</p>)}
      {snapshot.silent_since && !snapshot.final && (!snapshot.children?.length || snapshot.children.some((child) => child.state === "CHILD_STATE_RUNNING")) && (
        <p class="quiet">{isWorkflowJob(snapshot) ? "Its jobs" : "The job"} may still run: check the hosts and the network to the master. The interval grows until the next report.</p>
      )}
      {(snapshot.notes ?? []).filter((note) => !words.warnings?.includes(note)).map((note) => <p key={note} dir="auto">{note}</p>)}
      <TaskCounts snapshot={snapshot} />
      <dl>
        {words.step && <div><dt>{snapshot.final ? "Last step" : "Current step"}</dt><dd title={STEP_TITLE}>{words.step}</dd></div>}
        <div><dt>Id</dt><dd dir="auto">{id}</dd></div>
        <div><dt>Started</dt><dd title="Time of the job's submission or first report">{clock(snapshot.started_at)}</dd></div>
        {words.elapsed && <div><dt>{snapshot.final ? "Duration" : "Elapsed"}</dt><dd title="Time since the start, or the duration of an ended job">{words.elapsed}</dd></div>}
        {words.first_forecast && <div><dt>First forecast</dt><dd title="Duration according to the first forecast that was not a guess">{words.first_forecast}</dd></div>}
        {words.throughput && <div><dt>Throughput</dt><dd title="Input of all tasks, divided by the elapsed time">{words.throughput}</dd></div>}
        {basis && <div><dt>Basis of the estimate</dt><dd title="The strongest available evidence">{basis}</dd></div>}
        {words.method && <div><dt>Method</dt><dd title="How the percentage and the end are computed">{words.method}</dd></div>}
        {snapshot.info?.user && <div><dt>User</dt><dd dir="auto">{snapshot.info.user}</dd></div>}
        {snapshot.info?.queue && <div><dt>Queue</dt><dd dir="auto">{snapshot.info.queue}</dd></div>}
        {snapshot.info?.engine && <div><dt>Engine</dt><dd dir="auto">{snapshot.info.engine}</dd></div>}
        {workflow && (
          <div><dt>Part of</dt><dd><a dir="auto" href={`#/jobs/${encodeURIComponent(workflow)}`}>{workflow}</a></dd></div>
        )}
      </dl>
      {!snapshot.final && <DeadlineForm key={id} id={id} deadlineAt={snapshot.deadline_at} />}
    </section>
  );
}

function Charts({ points, snapshot }: { points: Point[]; snapshot: Snapshot }) {
  const known = points.filter((point) => point.end !== null);
  if (known.length < 2) return null;
  const endedAt = seconds(snapshot.ended_at) ?? undefined;
  const dueAt = seconds(snapshot.deadline_at) ?? undefined;
  const reach = reachOf(points, endedAt, dueAt);
  return (
    <div class="pair">
      {known.some((point) => point.percent !== null) && (
        <section class="card" title="Estimated progress at each time, with its 90 % interval">
          <h2>Estimated progress over time</h2>
          <Chart kind="progress" points={points} endedAt={endedAt} label="Progress over time, with its 90 % interval" />
        </section>
      )}
      <section class="card" title="The end predicted at each time; the shaded band is its 90 % interval">
        <h2>{endedAt ? "Predicted and actual end over time" : "Predicted end over time"}</h2>
        <Chart kind="end" points={points} endedAt={endedAt} dueAt={dueAt} label="The predicted end over time, with its 90 % interval" />
        {reach.isCut && <p class="legend">Bounds after {clock(new Date(1000 * reach.high).toISOString())} are cut off.</p>}
      </section>
    </div>
  );
}

export function Job({ id, onRefused }: { id: string; onRefused: (liveness: Liveness) => void }) {
  const { snapshot, words, points, live, liveness, parts } = useJob(id, onRefused);
  useEffect(() => {
    document.title = words.title ? `${words.percent} ${words.title} - Tidemark` : "Tidemark";
    return () => void (document.title = "Tidemark");
  }, [words]);
  if (!snapshot) {
    return (
      <>
        <div class="title">
          <h1 class="name" dir="auto">{id}</h1>
          <LiveNote liveness={liveness} what="the job" />
        </div>
        {liveness.state === "connecting" && <p class="quiet">Loading the job …</p>}
        {liveness.state === "missing" && (
          <p>
            There is no such job on this master: it has not reported yet, or it was removed. <a href="#/">See all jobs</a>
          </p>
        )}
      </>
    );
  }
  const isWorkflow = isWorkflowJob(snapshot);
  return (
    <>
      <div class="title">
        <h1 class="name" dir="auto" title={words.title}>{words.title}</h1>
        <State snapshot={snapshot} words={words} />
        <LiveNote liveness={liveness} what={isWorkflow ? "the workflow" : "the job"} />
      </div>
      {liveness.state === "missing" && (
        <p class="warning">The master no longer has this job: it was removed, or the master has restarted without a data directory. The page shows its last state. <a href="#/">See all jobs</a></p>
      )}
      <Headline snapshot={snapshot} words={words} />
      {!words.headline && <Charts points={points} snapshot={snapshot} />}
      <LastTasks snapshot={snapshot} words={words} />
      <PastRuns key={snapshot.run_uid} job={{ snapshot, words }} />
      {!isWorkflow && <Waits id={id} isOver={snapshot.final ?? false} />}
      {isWorkflow && <Stages snapshot={snapshot} words={parts} />}
      {!snapshot.final && <WhatIf id={id} snapshot={snapshot} now={words} isWorkflow={isWorkflow} />}
      {!isWorkflow && <Tasks id={id} snapshot={snapshot} words={parts} />}
      {!isWorkflow && <Stages snapshot={snapshot} words={parts} />}
      <Indicators snapshot={snapshot} words={words} live={live} />
    </>
  );
}
