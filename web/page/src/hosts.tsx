// Tasks on hosts and slots. Few are all drawn; of many each host is a strip, and one is looked into.
import { useMemo, useRef, useState } from "preact/hooks";
import { ask, jobPath, Refused } from "./api";
import { keyOf, type PartWords, secondsOf } from "./delta";
import type { HostTasks, Snapshot, TaskAttemptId, TaskProgress, TasksAnswer } from "./messages";
import { clock, count } from "./parts";
import { usePoll, useSeen } from "./poll";
import { Legend, type Look, type Row, type Span, Timeline } from "./timeline";

// Of what belongs to a task.
type StageName = (of: { attempt?: TaskAttemptId }) => string;

const EVERY_MS = 2000;
const STRIP = { width: 240, height: 22 };

const look = (state: TaskProgress["state"]): Look =>
  state === "ATTEMPT_STATE_FINISHED" ? "done"
    : state === "ATTEMPT_STATE_STARTED" || state === "ATTEMPT_STATE_SHUFFLED" ? "running"
      : state === "ATTEMPT_STATE_LOST" ? "waiting" : "failed";
const hostName = (host: string | undefined) => host || "host not told";

// Of a job that has ended once.
function useTasks(id: string, host: string | undefined, isOver: boolean, isSeen: boolean) {
  const [answer, setAnswer] = useState<TasksAnswer>();
  const [problem, setProblem] = useState("");
  usePoll(
    async (isWanted) => {
      if (!isSeen) return true;
      const query = isOver ? "?task_count_max=2000" : host === undefined ? "" : `?host=${encodeURIComponent(host)}&task_count_max=2000`;
      try {
        const news = await ask<TasksAnswer>("GET", `${jobPath(id)}/tasks${query}`);
        if (!isWanted()) return true;
        setAnswer(news);
        setProblem("");
        return isOver;
      } catch (error) {
        if (!isWanted()) return true;
        const isAnswer = error instanceof Refused && error.status === 409;
        // A job that has just ended says so itself.
        if (isOver || !isAnswer) setProblem(error instanceof Error ? error.message : String(error));
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
      kind !== "running" ? "" : isOver ? "its end was not told" : left ? `${left}; not measured how often that holds` : "what is left is not known",
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
    // The first slot that is free again; which one it really was is not told.
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
            <th scope="col">Host</th><th scope="col">Run</th><th scope="col">Done</th><th scope="col">Failed</th>
            <th scope="col">Tasks at once since {clock(answer.list?.began_at)}, up to {Math.round(most)}</th>
          </tr>
        </thead>
        <tbody>
          {hosts.map((host) => (
            <tr key={host.host ?? ""}>
              <th scope="row" dir="auto">
                {onOpen ? <button type="button" class="link" onClick={() => onOpen(host.host ?? "")}>{hostName(host.host)}</button> : hostName(host.host)}
              </th>
              <td data-label="Run" title="Attempts that run there now">{count(host.running_count)}</td>
              <td data-label="Done" title="Attempts that have ended well there">{count(host.finished_count)}</td>
              <td data-label="Failed" title="Attempts that failed, were killed, or whose output was lost there">{count(host.failed_count)}</td>
              <td><Strip host={host} most={most} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {Number(answer.list?.hosts_left_out ?? 0) > 0 && <p title="Those above run most of its tasks">{count(answer.list?.hosts_left_out)} more hosts run less.</p>}
    </>
  );
}

function RunningTasks({ answer, stageName }: { answer: TasksAnswer; stageName: StageName }) {
  return (
    <table>
      <thead>
        <tr><th scope="col">Task</th><th scope="col">Host</th><th scope="col">Since</th><th scope="col">Left</th></tr>
      </thead>
      <tbody>
        {(answer.list?.tasks ?? []).map((task, i) => look(task.state) === "running" && (
          <tr key={i}>
            <th scope="row">{`${stageName(task)} task ${task.attempt?.index ?? 0}`}</th>
            <td data-label="Host" dir="auto">{hostName(task.host)}</td>
            <td data-label="Since">{clock(task.started_at)}</td>
            <td data-label="Left" title="In brackets, from the 5 % to the 95 % quantile of what was simulated; not measured for single tasks">
              {answer.remaining?.[i] || "not known"}
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
        {!answer && !problem && <p class="quiet">…</p>}
        {answer && (rows.length > 0 ? (
          <>
            <Timeline rows={rows} now={now} label={`${rows.length} rows of hosts and slots along time`} />
            <Legend
              range={isOver ? undefined : "up to the upper bound of what was simulated; of single tasks nobody has measured how often it holds"}
              what=". Which slot a task has is not told: each is drawn in the first free one of its host. Hold the pointer over a task to read about it."
            />
            {left > 0 && <p title="Attempts at tasks, those that began last are drawn">{count(left)} tasks that began earlier are not drawn.</p>}
            {!isOver && (
              <details>
                <summary>Those that run, as a table</summary>
                <RunningTasks answer={answer} stageName={stageName} />
              </details>
            )}
          </>
        ) : (answer.list?.hosts?.length ?? 0) > 0 ? (
          <>
            <p class="quiet" title="Attempts at tasks that have begun">{count(answer.list?.tasks_left_out)} tasks are too many to draw one by one; {isOver ? "this is what each host did" : "choose a host to see its own"}.</p>
            <Hosts answer={answer} onOpen={isOver ? undefined : setHost} />
          </>
        ) : <p class="quiet">{isOver ? "No task was told of." : "No task has begun."}</p>)}
        {!isOver && waiting > 0 && <p title="They have no slot yet, so no host">{count(String(waiting))} tasks wait.</p>}
      </section>
      {groups.length > 0 && (
        <section class="card">
          <h2>Heavy keys</h2>
          <p class="quiet">The key groups that are known, not finished, and expected to take longest.</p>
          <table>
            <thead>
              <tr><th scope="col">Task</th><th scope="col">Size</th><th scope="col">Takes</th><th scope="col">Of its task's rest</th><th scope="col">Now</th></tr>
            </thead>
            <tbody>
              {groups.map((group, i) => (
                <tr key={i}>
                  <th scope="row">{`${stageName(group)} task ${group.attempt?.index ?? 0}`}</th>
                  <td data-label="Size" title="Bytes of its values, as the map tasks told; never more than in truth">{answer?.heavy_groups?.[i]?.size}</td>
                  <td data-label="Takes" title="What its reduce function is expected to take, from key groups that were measured">{answer?.heavy_groups?.[i]?.time}</td>
                  <td data-label="Of its task's rest" title="The part of the time left of its task that this is">{answer?.heavy_groups?.[i]?.share || "not known"}</td>
                  <td data-label="Now">{group.is_running ? "in progress" : "still to come"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
