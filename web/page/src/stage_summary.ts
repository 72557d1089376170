// Sentences and columns about all stages of a job, or all jobs of a workflow.
import type { Look } from "./timeline";

export interface SummarizedPart {
  look: Look;
  isCritical: boolean;
}

// "2 of 5 stages running", or of a job that is over "5 of 5 stages done".
export function summaryOf(parts: SummarizedPart[], what: string, isOver: boolean): string {
  const look = isOver ? "done" : "running";
  return `${parts.filter((part) => part.look === look).length} of ${parts.length} ${what} ${look}`;
}

// Returns false where the critical path is unknown: it is predicted, so a job that is over has none.
export const hasCriticalPath = (parts: SummarizedPart[], isOver: boolean) =>
  !isOver && parts.some((part) => part.isCritical && part.look !== "done");

// A part that is done delays nothing any more.
export const criticalText = (part: SummarizedPart) => (part.look === "done" ? "–" : part.isCritical ? "yes" : "no");
