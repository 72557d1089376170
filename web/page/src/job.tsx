// One job, or a workflow of jobs.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { jobPath } from "./api";
import { added, Chart, type Point } from "./chart";
import { Dag, type Node } from "./dag";
import { applied, keyOf, type PartWords, remember } from "./delta";
import { type Lane, Lanes } from "./lanes";
import { follow, type Liveness } from "./live";
import type { Child, JobUpdate, JobWords, Snapshot, StageProgress } from "./messages";
import { Bar, EndAt, LiveNote } from "./parts";
import { WhatIf } from "./what_if";

const stageLook = (state: StageProgress["state"]): Lane["look"] =>
  state === "STAGE_STATE_RUNNING" ? "running"
    : state === "STAGE_STATE_DONE" || state === "STAGE_STATE_SKIPPED" ? "done"
      : state === "STAGE_STATE_FAILED" ? "failed" : "waiting";
const childLook = (state: Child["state"]): Lane["look"] =>
  state === "CHILD_STATE_RUNNING" ? "running"
    : state === "CHILD_STATE_SUCCEEDED" ? "done"
      : state === "CHILD_STATE_FAILED" || state === "CHILD_STATE_RETRYABLE" ? "failed" : "waiting";

function Tasks({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const tasks = snapshot.named_tasks ?? [];
  if (tasks.length === 0) return null;
  return (
    <section>
      <h2>What ends last</h2>
      <table class="tasks">
        <thead>
          <tr><th scope="col">Task</th><th scope="col">Host</th><th scope="col">Left</th><th scope="col">Why</th></tr>
        </thead>
        <tbody>
          {tasks.map((task, i) => (
            <tr key={i}>
              <th scope="row" dir="auto">{words.tasks?.[i]?.name}</th>
              <td data-label="Host" dir="auto">{task.host || "not known"}</td>
              <td data-label="Left">{words.tasks?.[i]?.remaining || "not known"}</td>
              <td data-label="Why" dir="auto">{task.reason || "not known"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// Tasks by state: thousands are one bar.
function TaskCounts({ snapshot }: { snapshot: Snapshot }) {
  const all = Number(snapshot.counts?.task_count ?? 0);
  if (all === 0) return null;
  const done = Number(snapshot.counts?.finished_task_count ?? 0);
  const running = Number(snapshot.counts?.running_task_count ?? 0);
  const failed = Number(snapshot.counts?.failed_attempt_count ?? 0);
  const text = `${done} of ${all} tasks done, ${running} run${failed ? `, ${failed} attempts failed` : ""}`;
  return (
    <p class="counts">
      <span class="stack" aria-hidden="true">
        <span class="done" style={{ width: `${(100 * done) / all}%` }} />
        <span class="running" style={{ width: `${(100 * running) / all}%` }} />
      </span>
      {text}
    </p>
  );
}

export function Job({ id, onRefused }: { id: string; onRefused: (liveness: Liveness) => void }) {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [words, setWords] = useState<JobWords>({});
  const [points, setPoints] = useState<Point[]>([]);
  const [liveness, setLiveness] = useState<Liveness>({ state: "connecting" });
  const newest = useRef<Snapshot>();
  const parts = useRef<PartWords>({ stages: new Map(), children: new Map() });

  useEffect(() => {
    newest.current = undefined;
    parts.current = { stages: new Map(), children: new Map() };
    setSnapshot(undefined);
    setPoints([]);
    return follow<JobUpdate>(
      `${jobPath(id)}/watch`,
      { deltas: "true", interval_min: "0.5s", wait_for_job: "true" },
      ({ update, words: said }) => {
        if (!update?.snapshot) return;
        if (update.restarted) setPoints([]);
        const whole = applied(newest.current, update.snapshot);
        if (!whole) return; // the next stream begins with a whole one
        newest.current = whole;
        remember(said, parts.current);
        setSnapshot(whole);
        setWords(said ?? {});
        const estimate = whole.estimate;
        if (!said?.has_percent) return;
        setPoints((before) =>
          added(before, {
            at: Date.parse(whole.at ?? "") / 1000,
            percent: 100 * (estimate?.fraction_done ?? 0),
            lower: 100 * (estimate?.fraction_done_lower ?? 0),
            upper: 100 * (estimate?.fraction_done_upper ?? 0),
          }),
        );
      },
      (now) => (now.state === "refused" ? onRefused(now) : setLiveness(now)),
    );
  }, [id]);
  useEffect(() => {
    document.title = words.title ? `${words.percent} ${words.title} - Tidemark` : "Tidemark";
    return () => void (document.title = "Tidemark");
  }, [words]);

  const isWorkflow = (snapshot?.children?.length ?? 0) > 0;
  const [lanes, nodes] = useMemo((): [Lane[], Node[]] => {
    if (!snapshot) return [[], []];
    if (isWorkflow) {
      const children = snapshot.children ?? [];
      const said = (child: Child) => parts.current.children.get(child.number ?? 0);
      return [
        children.map((child) => ({
          name: said(child)?.name ?? "",
          state: said(child)?.state ?? "",
          look: childLook(child.state),
          isCritical: child.is_critical ?? false,
          fraction: child.estimate?.fraction_done ?? 0,
          startedAt: child.started_at,
          endedAt: child.ended_at,
          startsIn: child.starts_in,
          endsIn: child.estimate?.remaining,
        })),
        children.map((child) => ({
          key: String(child.number),
          name: said(child)?.name ?? "",
          state: said(child)?.state ?? "",
          look: childLook(child.state),
          isCritical: child.is_critical ?? false,
          after: (child.after ?? []).map(String),
        })),
      ];
    }
    const said = (key: string) => parts.current.stages.get(key);
    const infos = new Map((snapshot.stage_infos ?? []).map((info) => [keyOf(info.id), info]));
    const stages = snapshot.stages ?? [];
    return [
      stages.map((stage) => ({
        name: said(keyOf(stage.id))?.name ?? "",
        state: said(keyOf(stage.id))?.state ?? "",
        look: stageLook(stage.state),
        isCritical: stage.is_critical ?? false,
        fraction: stage.fraction_done ?? 0,
        startedAt: stage.started_at,
        endedAt: stage.ended_at,
        startsIn: stage.starts_in,
        endsIn: stage.ends_in,
      })),
      stages.map((stage) => ({
        key: keyOf(stage.id),
        name: said(keyOf(stage.id))?.name ?? "",
        state: said(keyOf(stage.id))?.state ?? "",
        look: stageLook(stage.state),
        isCritical: stage.is_critical ?? false,
        after: (infos.get(keyOf(stage.id))?.parents ?? []).map((parent) => `${stage.id?.child ?? 0}.${parent}`),
      })),
    ];
  }, [snapshot]);

  if (!snapshot) {
    return (
      <>
        <h1 dir="auto">{id}</h1>
        <LiveNote liveness={liveness} />
        <p>Waiting for news of this job.</p>
      </>
    );
  }
  const what = isWorkflow ? "jobs" : "stages";
  return (
    <>
      <h1 class="name" dir="auto" title={words.title}>{words.title}</h1>
      <LiveNote liveness={liveness} />
      <div class="headline">
        <Bar snapshot={snapshot} words={words} />
        <p class="remaining">
          <strong>{words.percent}</strong>{" "}
          <span title="As likely longer as shorter; the 90 % interval is in brackets">
            {words.remaining}{words.remaining_detail}
          </span>
        </p>
        <dl>
          <div><dt>State</dt><dd>{words.state}</dd></div>
          <div><dt>{snapshot.ended_at ? "Ended at" : "Ends at"}</dt><dd><EndAt snapshot={snapshot} words={words} /></dd></div>
          {words.step && <div><dt>Where it is</dt><dd>{words.step}</dd></div>}
          {words.accuracy && <div><dt>How right it was</dt><dd>{words.accuracy}</dd></div>}
        </dl>
      </div>
      {words.straggler && <p class="straggler" dir="auto">{words.straggler}</p>}
      {snapshot.message && <p class="bad" dir="auto">{snapshot.message}</p>}
      {(words.warnings ?? []).map((warning) => <p key={warning} class="warning" dir="auto">{warning}</p>)}
      {(snapshot.notes ?? []).filter((note) => !words.warnings?.includes(note)).map((note) => <p key={note} dir="auto">{note}</p>)}
      <TaskCounts snapshot={snapshot} />
      {points.length > 1 && (
        <section>
          <h2>Progress since this page was opened</h2>
          <Chart points={points} />
        </section>
      )}
      <Tasks snapshot={snapshot} words={words} />
      {lanes.length > 0 && (
        <section>
          <h2>{isWorkflow ? "Jobs" : "Stages"}</h2>
          <Dag nodes={nodes} what={what} />
          <Lanes lanes={lanes} at={snapshot.at} what={what} />
        </section>
      )}
      {isWorkflow && !snapshot.final && (
        <section>
          <h2>What if</h2>
          <WhatIf id={id} />
        </section>
      )}
    </>
  );
}
