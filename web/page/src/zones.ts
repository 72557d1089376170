// The zones of a bar.
import type { JobWords } from "./messages";

export interface Zone {
  name: "sure" | "likely" | "possible";
  left: number;
  width: number;
}

// Returns the zones of a bar in percent of its width: up to the lower bound, to the number, and to the upper bound.
// Empty zones are omitted.
export function zonesOf({ shown_lower: lower = 0, shown_fraction: number = 0, shown_upper: upper = 0 }: JobWords): Zone[] {
  const ends = [0, lower, number, upper];
  return (["sure", "likely", "possible"] as const)
    .map((name, i) => ({ name, left: 100 * ends[i], width: 100 * (ends[i + 1] - ends[i]) }))
    .filter((zone) => zone.width > 0);
}
