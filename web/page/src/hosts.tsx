// Draws tasks on hosts and slots. If there are many tasks, draws a summary per host, and one host
// in detail.
import { useMemo, useRef, useState } from "preact/hooks";
import { ask, jobPath, reasonOf, Refused } from "./api";
import { keyOf, type PartWords, secondsOf } from "./delta";
import type { HostTasks, Snapshot, TaskAttemptId, TaskProgress, TasksAnswer } from "./messages";
import { clock, count } from "./parts";
import { usePoll, useSeen } from "./poll";
import { Legend, type Look, type Row, type Span, Timeline } from "./timeline";

// Returns the name of the stage of a task or attempt.
type StageName = (of: { attempt?: TaskAttemptId }) => string;

const EVERY_MS = 2000;
const STRIP = { width: 240, height: 22 };

const look = (state: TaskProgress["state"]): Look =>
  state === "ATTEMPT_STATE_FINISHED" ? "done"
    : state === "ATTEMPT_STATE_STARTED" || state === "ATTEMPT_STATE_SHUFFLED" ? "running"
      : state === "ATTEMPT_STATE_LOST" ? "waiting" : "failed";
const hostName = (host: string | undefined) => host || "host not reported";

// Fetches the tasks of a job, only once if the job has ended.
function useTasks(id: string, host: string | undefined, isOver: boolean, isSeen: boolean) {
  const [answer, setAnswer] = useState<TasksAnswer>();
  const [problem, setProblem] = useState("");
  usePoll(
    async (isWanted) => {
      if (!isSeen) return true;
      const query = isOver ? "?task_count_max=2000" : host === undefined ? "" : `?host=${encodeURIComponent(host)}&task_count_max=2000`;
      try {
        const newest = await ask<TasksAnswer>("GET", `${jobPath(id)}/tasks${query}`);
        if (!isWanted()) return true;
        setAnswer(newest);
        setProblem("");
        return isOver;
      } catch (error) {
        if (!isWanted()) return true;
        const isAnswer = error instanceof Refused && error.status === 409;
        // The page already shows that a job has just ended.
        if (isOver || !isAnswer) setProblem(reasonOf(error));
        return isOver && isAnswer;
      }
    },
    EVERY_MS,
    [id, host, isOver, isSeen],
  );
  return { answer, problem };
}

function rowsOf(answer: TasksAnswer, stageName: StageName, isOver: boolean): Row[] {
  const now = Date.parse(answer.list?.at ?? "");
  const rows: Row[] = [];
  let host: string | undefined;
  let slots: { until: number; row: Row }[] = [];
  (answer.list?.tasks ?? []).forEach((task, i) => {
    if (host !== (task.host ?? "")) {
      host = task.host ?? "";
      slots = [];
      rows.push({ name: hostName(host), note: "", isHeading: true, spans: [] });
    }
    const start = task.started_at ? Date.parse(task.started_at) : Number.NaN;
    const kind = look(task.state);
    const end = task.ended_at ? Date.parse(task.ended_at) : kind === "running" ? now : Number.NaN;
    if (Number.isNaN(start) || Number.isNaN(end)) return;
    const until = (bound: string | undefined) => (bound === undefined ? end : Math.max(end, now + 1000 * secondsOf(bound)));
    const ghostEnd = kind === "running" ? until(task.remaining?.median) : end;
    const left = answer.remaining?.[i];
    const name = `${stageName(task)} task ${task.attempt?.index ?? 0}`;
    const more = [
      task.attempt?.attempt ? `attempt ${task.attempt.attempt}` : "",
      task.is_speculative ? "speculative" : "",
      `from ${clock(task.started_at)}`,
      task.ended_at ? `to ${clock(task.ended_at)}` : "",
      kind !== "running" ? "" : isOver ? "its end was not reported" : left ? `${left}; not calibrated for single tasks` : "remaining time unknown",
      kind === "failed" ? task.failure || "failed, killed or lost" : "",
    ].filter(Boolean);
    const span: Span = {
      look: kind,
      title: `${name}: ${more.join(", ")}`,
      start,
      end,
      ghostEnd,
      latest: kind === "running" ? Math.max(ghostEnd, until(task.remaining?.upper)) : end,
    };
    // Uses the first free slot, since the actual slot is not reported.
    let slot = slots.find((each) => each.until <= start);
    if (!slot) {
      slot = { until: 0, row: { name: `slot ${slots.length + 1}`, note: "", spans: [] } };
      slots.push(slot);
      rows.push(slot.row);
    }
    slot.until = kind === "running" ? Infinity : end;
    slot.row.spans.push(span);
    if (kind === "running") slot.row.note = name;
  });
  return rows;
}

function Strip({ host, most }: { host: HostTasks; most: number }) {
  const busy = host.busy ?? [];
  const step = STRIP.width / Math.max(1, busy.length);
  const y = (value: number) => STRIP.height - (STRIP.height - 2) * (value / Math.max(1, most));
  const points = busy.map((value, i) => `${(i * step).toFixed(1)},${y(value).toFixed(1)} ${((i + 1) * step).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg class="strip" viewBox={`0 0 ${STRIP.width} ${STRIP.height}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${STRIP.height} ${points.join(" ")} ${STRIP.width},${STRIP.height}`} />
    </svg>
  );
}

function Hosts({ answer, onOpen }: { answer: TasksAnswer; onOpen?: (host: string) => void }) {
  const hosts = answer.list?.hosts ?? [];
  const most = Math.max(1, ...hosts.flatMap((host) => host.busy ?? []));
  return (
    <>
      <table class="hosts">
        <thead>
          <tr>
            <th scope="col">Host</th><th scope="col">Running</th><th scope="col">Done</th><th scope="col">Failed</th>
            <th scope="col">Concurrent tasks since {clock(answer.list?.began_at)}, up to {Math.round(most)}</th>
          </tr>
        </thead>
        <tbody>
          {hosts.map((host) => (
            <tr key={host.host ?? ""}>
              <th scope="row" dir="auto">
                {onOpen ? <button type="button" class="link" onClick={() => onOpen(host.host ?? "")}>{hostName(host.host)}</button> : hostName(host.host)}
              </th>
              <td data-label="Running" title="Attempts that are running on this host">{count(host.running_count)}</td>
              <td data-label="Done" title="Attempts that succeeded on this host">{count(host.finished_count)}</td>
              <td data-label="Failed" title="Attempts that failed, were killed or lost their output on this host">{count(host.failed_count)}</td>
              <td><Strip host={host} most={most} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {Number(answer.list?.hosts_left_out ?? 0) > 0 && <p title="Hosts with the most running tasks come first">{count(answer.list?.hosts_left_out)} more hosts run fewer tasks.</p>}
    </>
  );
}

function RunningTasks({ answer, stageName }: { answer: TasksAnswer; stageName: StageName }) {
  return (
    <table>
      <thead>
        <tr><th scope="col">Task</th><th scope="col">Host</th><th scope="col">Since</th><th scope="col">Remaining</th></tr>
      </thead>
      <tbody>
        {(answer.list?.tasks ?? []).map((task, i) => look(task.state) === "running" && (
          <tr key={i}>
            <th scope="row">{`${stageName(task)} task ${task.attempt?.index ?? 0}`}</th>
            <td data-label="Host" dir="auto">{hostName(task.host)}</td>
            <td data-label="Since" title="Start of the attempt">{clock(task.started_at)}</td>
            <td data-label="Remaining" title="In parentheses: the 5 % and 95 % quantiles of the simulation; not calibrated for single tasks">
              {answer.remaining?.[i] || "unknown"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Tasks({ id, snapshot, words }: { id: string; snapshot: Snapshot; words: PartWords }) {
  const [host, setHost] = useState<string>();
  const place = useRef<HTMLElement>(null);
  const isSeen = useSeen(place);
  const isOver = snapshot.final ?? false;
  const { answer, problem } = useTasks(id, host, isOver, isSeen);
  const stageName: StageName = (task) => words.stages.get(keyOf({ stage: task.attempt?.stage }))?.name ?? `stage ${task.attempt?.stage ?? 0}`;
  const rows = useMemo(() => (answer ? rowsOf(answer, stageName, isOver) : []), [answer, isOver]);
  const all = Number(snapshot.counts?.task_count ?? 0);
  const waiting = all - Number(snapshot.counts?.finished_task_count ?? 0) - Number(snapshot.counts?.running_task_count ?? 0);
  const now = Date.parse(answer?.list?.at ?? "");
  const groups = isOver ? [] : (answer?.list?.heavy_groups ?? []);
  const left = Number(answer?.list?.tasks_left_out ?? 0);
  return (
    <>
      <section class="card" ref={place}>
        <h2>Tasks on hosts</h2>
        {host !== undefined && !isOver && (
          <p><button type="button" onClick={() => setHost(undefined)}>All hosts</button> <strong dir="auto">{hostName(host)}</strong></p>
        )}
        {problem && (isOver ? <p class="quiet" dir="auto">{problem}</p> : <p class="bad" role="alert" dir="auto">{problem}</p>)}
        {!answer && !problem && <p class="quiet">Loading the tasks …</p>}
        {answer && (rows.length > 0 ? (
          <>
            <Timeline rows={rows} now={now} label={`${rows.length} rows of hosts and slots over time`} />
            <Legend
              range={isOver ? undefined : "up to the simulated upper bound, which is not calibrated for single tasks"}
              what=". Slots of tasks are not reported: each task is drawn in the first free slot of its host. Hold the pointer over a task for its details."
            />
            {left > 0 && <p title="Task attempts; the newest are drawn">{count(left)} earlier tasks are not drawn.</p>}
            {!isOver && (
              <details>
                <summary>Running tasks as a table</summary>
                <RunningTasks answer={answer} stageName={stageName} />
              </details>
            )}
          </>
        ) : (answer.list?.hosts?.length ?? 0) > 0 ? (
          <>
            <p class="quiet" title="Task attempts that have started">There are too many tasks to draw ({count(answer.list?.tasks_left_out)}); {isOver ? "the table has a summary per host" : "choose a host to see its tasks"}.</p>
            <Hosts answer={answer} onOpen={isOver ? undefined : setHost} />
          </>
        ) : <p class="quiet">{isOver ? "No tasks were reported." : "No task has started."}</p>)}
        {!isOver && waiting > 0 && <p title="A task has no host until it gets a slot">{count(String(waiting))} tasks are waiting.</p>}
      </section>
      {groups.length > 0 && (
        <section class="card">
          <h2>Heavy keys</h2>
          <p class="quiet">The unfinished key groups with the longest predicted time.</p>
          <table>
            <thead>
              <tr><th scope="col">Task</th><th scope="col">Size</th><th scope="col">Time</th><th scope="col">Share of its task</th><th scope="col">State</th></tr>
            </thead>
            <tbody>
              {groups.map((group, i) => (
                <tr key={i}>
                  <th scope="row">{`${stageName(group)} task ${group.attempt?.index ?? 0}`}</th>
                  <td data-label="Size" title="Size of the values, as reported by map tasks; a lower bound">{answer?.heavy_groups?.[i]?.size}</td>
                  <td data-label="Time" title="Predicted time of the reduce function, from measured key groups">{answer?.heavy_groups?.[i]?.time}</td>
                  <td data-label="Share of its task" title="Share of the remaining time of its task">{answer?.heavy_groups?.[i]?.share || "unknown"}</td>
                  <td data-label="State">{group.is_running ? "in progress" : "pending"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
