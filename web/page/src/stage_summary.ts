// Sentences and columns that summarize all stages of a job, or all jobs of a workflow.
import type { Look } from "./timeline";

export interface SummarizedPart {
  look: Look;
  isCritical: boolean;
}

// Returns "2 of 5 stages running", or "5 of 5 stages done" for a job that has ended.
export function summaryOf(parts: SummarizedPart[], what: string, isOver: boolean): string {
  const look = isOver ? "done" : "running";
  return `${parts.filter((part) => part.look === look).length} of ${parts.length} ${what} ${look}`;
}

// Returns false if there is no critical path. The critical path is a forecast, so a job that has
// ended has none.
export const hasCriticalPath = (parts: SummarizedPart[], isOver: boolean) =>
  !isOver && parts.some((part) => part.isCritical && part.look !== "done");

// A finished part cannot delay the job.
export const criticalText = (part: SummarizedPart) => (part.look === "done" ? "–" : part.isCritical ? "yes" : "no");
