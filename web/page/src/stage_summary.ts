// Sentences and columns that summarize all stages of a job, or all jobs of a workflow.
import type { Look } from "./timeline";

export interface SummarizedPart {
  look: Look;
  isCritical: boolean;
  state?: string;
}

const NOT_FINISHED = "not finished"; // a stage of a job that was killed; like console/job_wording.cc

// Returns "2 of 5 stages running", or "4 of 7 stages done, 1 failed, 1 not finished, 1 not run" for a job that has ended.
export function summaryOf(parts: SummarizedPart[], what: string, isOver: boolean): string {
  const unfinished = parts.filter((part) => part.state === NOT_FINISHED).length;
  const of = (look: Look) => parts.filter((part) => part.look === look && part.state !== NOT_FINISHED).length;
  if (!isOver) return `${of("running")} of ${parts.length} ${what} running`;
  const rest = ([["failed", "failed"], ["waiting", "not run"], ["running", "without a reported end"]] as [Look, string][])
    .filter(([look]) => of(look) > 0).map(([look, text]) => `, ${of(look)} ${text}`);
  return `${of("done")} of ${parts.length} ${what} done${unfinished > 0 ? `, ${unfinished} ${NOT_FINISHED}` : ""}${rest.join("")}`;
}

// Returns false if there is no critical path. The critical path is a forecast, so a job that has
// ended has none.
export const hasCriticalPath = (parts: SummarizedPart[], isOver: boolean) =>
  !isOver && parts.some((part) => part.isCritical && part.look !== "done");

// A finished part cannot delay the job.
export const criticalText = (part: SummarizedPart) => (part.look === "done" ? "-" : part.isCritical ? "yes" : "no");
