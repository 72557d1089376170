// A snapshot from the one before it and what has changed (Snapshot.base_sequence in job.proto).
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
  news: Element[] | undefined,
  key: (element: Element) => string,
  age: (element: Element) => Element = (element) => element,
): Map<string, Element> {
  const all = new Map<string, Element>();
  for (const element of old ?? []) all.set(key(element), age(element));
  for (const element of news ?? []) all.set(key(element), element);
  return all;
}

// Undefined: the delta is of another snapshot.
export function applied(base: Snapshot | undefined, news: Snapshot): Snapshot | undefined {
  if (Number(news.base_sequence ?? 0) === 0) return news;
  if (!base || base.sequence !== news.base_sequence || base.run_uid !== news.run_uid) return undefined;
  const seconds = (Date.parse(news.at ?? "") - Date.parse(base.at ?? "")) / 1000;
  const stages = merged(base.stages, news.stages, (stage) => keyOf(stage.id), (stage) => ({
    ...stage,
    starts_in: shorter(stage.starts_in, seconds),
    ends_in: shorter(stage.ends_in, seconds),
  }));
  const infos = merged(base.stage_infos, news.stage_infos, (info) => keyOf(info.id));
  for (const id of news.removed_stages ?? []) {
    stages.delete(keyOf(id));
    infos.delete(keyOf(id));
  }
  const byId = (a: { id?: StageId }, b: { id?: StageId }) => orderOf(a.id) - orderOf(b.id);
  const children = merged(base.children, news.children, (child) => String(child.number), (child) => ({
    ...child,
    starts_in: shorter(child.starts_in, seconds),
    estimate: child.estimate && {
      ...child.estimate,
      remaining: shorter(child.estimate.remaining, seconds),
    },
  }));
  const groups = merged(base.groups, news.groups, (group) => group.group ?? "", (group) => ({
    ...group,
    ends_in: shorter(group.ends_in, seconds),
  }));
  return {
    ...news,
    base_sequence: undefined,
    removed_stages: undefined,
    info: news.info ?? base.info,
    coverage: news.coverage ?? base.coverage,
    stages: [...stages.values()].sort(byId),
    stage_infos: [...infos.values()].sort(byId),
    children: [...children.values()].sort((a, b) => (a.number ?? 0) - (b.number ?? 0)),
    groups: [...groups.values()],
  };
}

// Words of stages and of jobs of a workflow come when they have changed.
export interface PartWords {
  stages: Map<string, StageWords>;
  children: Map<number, ChildWords>;
}
export function remember(words: JobWords | undefined, parts: PartWords) {
  for (const stage of words?.stages ?? []) parts.stages.set(keyOf(stage.id), stage);
  for (const child of words?.children ?? []) parts.children.set(child.number ?? 0, child);
}
