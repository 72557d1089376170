// Applies a delta to the snapshot before it (Snapshot.base_sequence in job.proto).
import type { ChildWords, JobWords, Range, Snapshot, StageId, StageWords } from "./messages";

export const keyOf = (id: StageId | undefined) => `${id?.child ?? 0}.${id?.stage ?? 0}`;
const orderOf = (id: StageId | undefined) => (id?.child ?? 0) * 2 ** 32 + (id?.stage ?? 0);

export const secondsOf = (duration: string | undefined) => Number.parseFloat(duration ?? "0");

function shorter(range: Range | undefined, seconds: number): Range | undefined {
  if (!range) return range;
  const less = (bound: string | undefined) =>
    bound === undefined ? undefined : `${Math.max(0, secondsOf(bound) - seconds)}s`;
  return { median: less(range.median), lower: less(range.lower), upper: less(range.upper) };
}

function merged<Element>(
  old: Element[] | undefined,
  delta: Element[] | undefined,
  key: (element: Element) => string,
  age: (element: Element) => Element = (element) => element,
): Map<string, Element> {
  const all = new Map<string, Element>();
  for (const element of old ?? []) all.set(key(element), age(element));
  for (const element of delta ?? []) all.set(key(element), element);
  return all;
}

// Returns undefined if the delta belongs to another snapshot.
export function applied(base: Snapshot | undefined, delta: Snapshot): Snapshot | undefined {
  if (Number(delta.base_sequence ?? 0) === 0) return delta;
  if (!base || base.sequence !== delta.base_sequence || base.run_uid !== delta.run_uid) return undefined;
  const seconds = (Date.parse(delta.at ?? "") - Date.parse(base.at ?? "")) / 1000;
  const stages = merged(base.stages, delta.stages, (stage) => keyOf(stage.id), (stage) => ({
    ...stage,
    starts_in: shorter(stage.starts_in, seconds),
    ends_in: shorter(stage.ends_in, seconds),
  }));
  const infos = merged(base.stage_infos, delta.stage_infos, (info) => keyOf(info.id));
  for (const id of delta.removed_stages ?? []) {
    stages.delete(keyOf(id));
    infos.delete(keyOf(id));
  }
  const byId = (a: { id?: StageId }, b: { id?: StageId }) => orderOf(a.id) - orderOf(b.id);
  const children = merged(base.children, delta.children, (child) => String(child.number), (child) => ({
    ...child,
    starts_in: shorter(child.starts_in, seconds),
    estimate: child.estimate && {
      ...child.estimate,
      remaining: shorter(child.estimate.remaining, seconds),
    },
  }));
  const groups = merged(base.groups, delta.groups, (group) => group.group ?? "", (group) => ({
    ...group,
    ends_in: shorter(group.ends_in, seconds),
  }));
  return {
    ...delta,
    base_sequence: undefined,
    removed_stages: undefined,
    info: delta.info ?? base.info,
    coverage: delta.coverage ?? base.coverage,
    stages: [...stages.values()].sort(byId),
    stage_infos: [...infos.values()].sort(byId),
    children: [...children.values()].sort((a, b) => (a.number ?? 0) - (b.number ?? 0)),
    groups: [...groups.values()],
  };
}

// The texts of stages and of a workflow's jobs are sent only after a change.
export interface PartWords {
  stages: Map<string, StageWords>;
  children: Map<number, ChildWords>;
}
export function remember(words: JobWords | undefined, parts: PartWords) {
  for (const stage of words?.stages ?? []) parts.stages.set(keyOf(stage.id), stage);
  for (const child of words?.children ?? []) parts.children.set(child.number ?? 0, child);
}
