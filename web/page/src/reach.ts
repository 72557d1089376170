import type { Point } from "./chart";

// Returns the range of the axis of predicted ends. It contains all medians. Far bounds are cut off, since they would
// flatten the medians.
export function reachOf(points: Point[], endedAt?: number, dueAt?: number): { low: number; high: number; isCut: boolean } {
  const ends = points.flatMap((point) => [point.end, point.endLower, point.endUpper]).filter((end) => end !== null);
  const begin = points[0]?.at ?? 0;
  const now = points[points.length - 1]?.at ?? begin;
  const near = points.reduce((most, { end }) => Math.max(most, end ?? most), Math.max(now, endedAt ?? now));
  const far = ends.reduce((most, end) => Math.max(most, end), near);
  const limit = near + 0.5 * Math.max(1, near - begin);
  const due = dueAt !== undefined && dueAt <= limit ? dueAt : near;
  return {
    low: endedAt === undefined ? begin : ends.reduce((least, end) => Math.min(least, end), endedAt),
    high: Math.max(Math.min(far, limit), due),
    isCut: far > limit,
  };
}
