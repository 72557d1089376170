// The zones of a bar.
import type { JobWords } from "./messages";

// The meaning of the end of each zone, in the words of the console.
export const LEGEND = { sure: "to the lower bound", likely: "to the estimate", possible: "to the upper bound (90 % interval)" };

export interface Zone {
  name: keyof typeof LEGEND;
  left: number;
  width: number;
}

// Returns the zones of a bar in percent of its width: up to the lower bound, to the number, and to the
// upper bound. Empty zones are omitted.
export function zonesOf({ shown_lower: lower = 0, shown_fraction: number = 0, shown_upper: upper = 0 }: JobWords): Zone[] {
  const ends = [0, lower, number, upper];
  return (Object.keys(LEGEND) as Zone["name"][])
    .map((name, i) => ({ name, left: 100 * ends[i], width: 100 * (ends[i + 1] - ends[i]) }))
    .filter((zone) => zone.width > 0);
}
