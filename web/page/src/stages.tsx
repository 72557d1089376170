// Shows the dependencies and times of a job's stages, or of a workflow's jobs.
import { useMemo } from "preact/hooks";
import { Dag, type Node } from "./dag";
import { keyOf, type PartWords, secondsOf } from "./delta";
import type { Child, Range, Snapshot, StageProgress } from "./messages";
import { clock, count, isWorkflowJob } from "./parts";
import { criticalText, hasCriticalPath, summaryOf } from "./stage_summary";
import { Legend, type Look, type Row, type Span, Timeline } from "./timeline";

const ROWS_IN_TABLE = 200;

const stageLook = (state: StageProgress["state"]): Look =>
  state === "STAGE_STATE_RUNNING" ? "running"
    : state === "STAGE_STATE_DONE" || state === "STAGE_STATE_SKIPPED" ? "done"
      : state === "STAGE_STATE_FAILED" ? "failed" : "waiting";
const childLook = (state: Child["state"]): Look =>
  state === "CHILD_STATE_RUNNING" ? "running"
    : state === "CHILD_STATE_SUCCEEDED" ? "done"
      : state === "CHILD_STATE_FAILED" || state === "CHILD_STATE_RETRYABLE" ? "failed" : "waiting";

interface Part {
  key: string;
  name: string;
  href?: string; // page of the part's job
  state: string;
  look: Look;
  isCritical: boolean;
  after: string[];
  tasks: string;
  bottleneck: string;
  startedAt?: string;
  endedAt?: string;
  startsIn?: Range;
  endsIn?: Range;
}

// A part with neither a start nor a forecast does not appear on the timeline.
function spansOf(part: Part, now: number): Span[] {
  const start = part.startedAt
    ? Date.parse(part.startedAt)
    : part.startsIn?.median !== undefined ? now + 1000 * secondsOf(part.startsIn.median) : undefined;
  if (start === undefined) return [];
  const end = part.endedAt ? Date.parse(part.endedAt) : part.startedAt ? now : start;
  const until = (bound: string | undefined) =>
    part.endedAt || bound === undefined ? end : Math.max(end, now + 1000 * secondsOf(bound));
  const ghostEnd = until(part.endsIn?.median);
  const times = part.startedAt
    ? `, ${clock(part.startedAt)}${part.endedAt ? ` to ${clock(part.endedAt)}` : ""}`
    : "";
  const title = `${part.name}: ${part.state}${times}`;
  return [{ look: part.look, title, start, end, ghostEnd, latest: Math.max(ghostEnd, until(part.endsIn?.upper)) }];
}

function partsOf(snapshot: Snapshot, words: PartWords): Part[] {
  if (snapshot.children?.length) {
    return snapshot.children.map((child) => {
      const texts = words.children.get(child.number ?? 0);
      return {
        key: String(child.number),
        name: texts?.name ?? "",
        href: child.job_id && child.state !== "CHILD_STATE_PENDING" && child.state !== "CHILD_STATE_AWAITED" ? `#/jobs/${encodeURIComponent(child.job_id)}` : undefined,
        state: texts?.state ?? "",
        look: childLook(child.state),
        isCritical: child.is_critical ?? false,
        after: (child.after ?? []).map(String),
        tasks: texts?.percent ?? "",
        bottleneck: "",
        startedAt: child.started_at,
        endedAt: child.ended_at,
        startsIn: child.starts_in,
        endsIn: child.estimate?.remaining,
      };
    });
  }
  const infos = new Map((snapshot.stage_infos ?? []).map((info) => [keyOf(info.id), info]));
  return (snapshot.stages ?? []).map((stage) => {
    const key = keyOf(stage.id);
    const texts = words.stages.get(key);
    return {
      key,
      name: texts?.name ?? "",
      state: texts?.state ?? "",
      look: snapshot.final && stage.state === "STAGE_STATE_UNKNOWN_END" ? "running" : stageLook(stage.state),
      isCritical: stage.is_critical ?? false,
      after: (infos.get(key)?.parents ?? []).map((parent) => `${stage.id?.child ?? 0}.${parent}`),
      tasks: `${count(stage.finished_task_count)} / ${count(stage.task_count)}`,
      bottleneck: stage.bottleneck ?? "",
      startedAt: stage.started_at,
      endedAt: stage.ended_at,
      startsIn: stage.starts_in,
      endsIn: stage.ends_in,
    };
  });
}

export function Stages({ snapshot, words }: { snapshot: Snapshot; words: PartWords }) {
  const isWorkflow = isWorkflowJob(snapshot);
  const what = isWorkflow ? "jobs" : "stages";
  const now = Date.parse(snapshot.at ?? "");
  const [parts, rows, nodes] = useMemo((): [Part[], Row[], Node[]] => {
    const all = partsOf(snapshot, words);
    return [
      all,
      all.map((part) => ({ name: part.name, note: part.state, isCritical: part.isCritical, spans: spansOf(part, now) })),
      all.map(({ key, name, href, state, look, isCritical, after }) => ({ key, name, href, state, look, isCritical, after })),
    ];
  }, [snapshot]);
  const title = isWorkflow ? "Jobs of the workflow" : "Stages";
  if (parts.length === 0) {
    return isWorkflow ? <section class="card"><h2>{title}</h2><p class="quiet">No job has joined the workflow.</p></section> : null;
  }
  const running = parts.filter((part) => part.look === "running");
  const isOver = snapshot.final ?? false;
  const hasCritical = hasCriticalPath(parts, isOver);
  const critical = parts.filter((part) => hasCritical && part.isCritical && part.look !== "done");
  const hasBottleneck = parts.some((part) => part.bottleneck);
  const listed = [...running, ...parts.filter((part) => part.look !== "running")].slice(0, ROWS_IN_TABLE);
  return (
    <section class="card">
      <h2>{title}</h2>
      {hasCritical && (
        <p title={`A delay in any of these ${what} delays the end`}>
          Critical path: {critical.slice(0, 6).map((part) => part.name).join(" → ")}
          {critical.length > 6 && ` → ${critical.length - 6} more`}
        </p>
      )}
      <Dag nodes={nodes} what={what} />
      <Timeline rows={rows} now={now} label={`${parts.length} ${what} over time, also in the table below`} />
      <Legend range={snapshot.final ? undefined : "up to its upper bound"} what={hasCritical ? "; ● on the critical path" : ""} />
      <details>
        <summary>Table ({summaryOf(parts, what, isOver)})</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">{isWorkflow ? "Progress" : "Tasks done"}</th>
              {hasBottleneck && <th scope="col">Bottleneck</th>}
              {hasCritical && <th scope="col">On the critical path</th>}
            </tr>
          </thead>
          <tbody>
            {listed.map((part) => (
              <tr key={part.key}>
                <th scope="row" dir="auto">{part.href ? <a href={part.href}>{part.name}</a> : part.name}</th>
                <td data-label="State" title="Remaining times are medians">{part.state}</td>
                <td data-label={isWorkflow ? "Progress" : "Tasks done"}
                  title={isWorkflow ? "Elapsed share of the duration" : "Tasks that have succeeded, out of all tasks"}>
                  {part.tasks}
                </td>
                {hasBottleneck && (
                  <td data-label="Bottleneck" title="The resource that limits the tasks">{part.bottleneck || "unknown"}</td>
                )}
                {hasCritical && <td data-label="On the critical path">{criticalText(part)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
        {parts.length > ROWS_IN_TABLE && (
          <p title="The timeline shows all">The first {ROWS_IN_TABLE} of {parts.length} {what}; running {what} come first.</p>
        )}
      </details>
    </section>
  );
}
