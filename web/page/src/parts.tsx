// Components shared by the views.
import type { JobWords, Snapshot } from "./messages";
import type { Liveness } from "./live";
import { LEGEND, zonesOf } from "./zones";

export const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const digits = new Intl.NumberFormat("en");
export const count = (number: string | number | undefined) => digits.format(Number(number ?? 0));

// A workflow may have no jobs yet.
export const isWorkflowJob = ({ info, children }: Snapshot) => info?.kind === "JOB_KIND_WORKFLOW" || (children?.length ?? 0) > 0;

// Returns the text without line breaks between numbers and their units.
export const joined = (text: string | undefined) => text?.replace(/(≈|\d) (?=\d|%|(ms|s|min|h|d)\b)/g, "$1\u00a0");

// Times of day, as logs show them.
const HOURS = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

export function clock(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  const isToday = at.toDateString() === new Date().toDateString();
  // Times on a full minute have no seconds.
  const second = at.getTime() % 60_000 === 0 ? undefined : ("2-digit" as const);
  const time = at.toLocaleTimeString(undefined, { ...HOURS, second });
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : ("numeric" as const);
  if (isToday) return time;
  const day = at.toLocaleDateString(undefined, { day: "numeric", month: "short", year });
  return `${day.replaceAll(" ", "\u00a0")} ${time}`;
}

// Returns the deadline, with seconds within an hour of it, like the console.
function dueClock({ deadline_at, at: now }: Snapshot): string {
  const at = deadline_at ? Date.parse(deadline_at) : Number.NaN;
  const isNear = Math.abs(at - Date.parse(now ?? "")) < 3_600_000;
  return Number.isNaN(at) ? "" : clock(new Date(at - (at % (isNear ? 1000 : 60_000))).toISOString());
}

// Returns the label of a mark on an axis with a mark every `step` milliseconds.
export function shortClock(at: number, step: number): string {
  const date = new Date(at);
  if (step >= 86_400_000) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const second = step < 60_000 ? ("2-digit" as const) : undefined;
  return date.toLocaleTimeString(undefined, { ...HOURS, second });
}

const BAR_TITLE = "Elapsed share of the duration; 9 of 10 intervals contain the true value";
export const STEP_TITLE = "Number of finished tasks, stages or jobs";
export const LEFT_TITLE = "Median, with the 90 % interval in parentheses; 9 of 10 intervals contain the true value";

// The end with the words before it: "ended at 09:51:57", "ends about 09:52", "ends by 10:01".
export function endWords(snapshot: Snapshot, words: JobWords): { before: string; at: string; title: string } {
  if (snapshot.ended_at) return { before: "ended at", at: clock(snapshot.ended_at), title: "Actual end" };
  if (!words.ends_at) return { before: "", at: "-", title: "No forecast of the end yet" };
  const range = `in 9 of 10 cases between ${clock(words.ends_at_lower)} and ${clock(words.ends_at_upper)}`;
  if (words.is_end_wide) return { before: "ends by", at: clock(words.ends_at_upper), title: `Upper bound; ${range}` };
  return { before: "ends about", at: clock(words.ends_at), title: words.ends_at_lower ? `Median; ${range}` : "Median; its interval is unknown" };
}

const DUE_TITLE =
  "Deadline set by the job, its plan or the master's settings; the percentage is the probability that the job misses it, if the job succeeds";

export function Due({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  if (!words.due_before) return null;
  return (
    <span class={words.is_likely_late ? "warning" : ""} title={DUE_TITLE}>
      {words.due_before}{dueClock(snapshot)}{joined(words.due_after)}
    </span>
  );
}

export function Bar({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const text = `${words.percent ?? "-"} ${words.percent_bounds ?? ""}, ${words.remaining ?? ""}${words.remaining_detail ?? ""}`;
  return (
    <div
      class={`bar ${snapshot.state ?? ""}`}
      role="progressbar"
      aria-label={`Progress of ${words.title}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(100 * (words.shown_fraction ?? 0))}
      aria-valuetext={text}
      title={BAR_TITLE}
    >
      {zonesOf(words).map(({ name, left, width }) => <div key={name} class={`zone ${name}`} style={{ left: `${left}%`, width: `${width}%` }} />)}
    </div>
  );
}

// Explains the zones of bars, in the colors of the state.
export function BarLegend({ state }: { state?: string }) {
  return (
    <p class={`legend bar-legend ${state ?? ""}`} title={BAR_TITLE}>
      {Object.entries(LEGEND).map(([name, text]) => <span key={name}><span class={`zone ${name}`} /> {text} </span>)}
    </p>
  );
}

// The percentage and its bounds.
export function Percent({ words }: { words: JobWords }) {
  return <span title={BAR_TITLE}><span class="number">{words.percent}</span>{words.percent_bounds && <small> {words.percent_bounds}</small>}</span>;
}

const TONES: Record<string, string> = {
  JOB_STATE_SUCCEEDED: "good",
  JOB_STATE_FAILED: "bad",
  JOB_STATE_KILLED: "bad",
  JOB_STATE_ABANDONED: "bad",
  JOB_STATE_UNKNOWN_END: "warn",
  JOB_STATE_RUNNING: "run",
};
export function State({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const isLate = snapshot.estimate?.state === "ESTIMATE_STATE_OVERDUE" || snapshot.silent_since !== undefined;
  return <span class={`state ${isLate ? "warn" : (TONES[snapshot.state ?? ""] ?? "")}`}>{words.state}</span>;
}

export function LiveNote({ liveness, what }: { liveness: Liveness; what: string }) {
  const text = {
    connecting: () => "connecting …",
    live: () => "live",
    ended: () => `${what} has ended`,
    refused: () => "not live: access denied",
    missing: () => "not live: no such job; retrying",
    broken: () => {
      const { since, why } = liveness as Extract<Liveness, { state: "broken" }>;
      return `not live since ${clock(since.toISOString())}: ${why}; retrying`;
    },
  }[liveness.state]();
  return (
    <p class={`note ${liveness.state}`} role="status">
      {text}
    </p>
  );
}
