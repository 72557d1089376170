// Small parts that the views share.
import type { JobWords, Snapshot } from "./messages";
import type { Liveness } from "./live";

export const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const digits = new Intl.NumberFormat("en");
export const count = (number: string | number | undefined) => digits.format(Number(number ?? 0));

// As logs have it.
const HOURS = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

export function clock(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  const isToday = at.toDateString() === new Date().toDateString();
  // What is known to the minute has no seconds.
  const second = at.getTime() % 60_000 === 0 ? undefined : ("2-digit" as const);
  const time = at.toLocaleTimeString(undefined, { ...HOURS, second });
  return isToday ? time : `${at.toLocaleDateString()} ${time}`;
}

// With its seconds where it is less than an hour away, as the console has it.
function dueClock({ deadline_at, at: now }: Snapshot): string {
  const at = deadline_at ? Date.parse(deadline_at) : Number.NaN;
  const isNear = Math.abs(at - Date.parse(now ?? "")) < 3_600_000;
  return Number.isNaN(at) ? "" : clock(new Date(at - (at % (isNear ? 1000 : 60_000))).toISOString());
}

// On an axis whose marks are `step` milliseconds apart.
export function shortClock(at: number, step: number): string {
  const date = new Date(at);
  if (step >= 86_400_000) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const second = step < 60_000 ? ("2-digit" as const) : undefined;
  return date.toLocaleTimeString(undefined, { ...HOURS, second });
}

export const STEP_TITLE = "How many of its tasks, stages or jobs are done";
export const LEFT_TITLE = "As likely longer as shorter; in brackets the 90 % interval: in 9 of 10 cases it is within";

export function EndAt({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  if (snapshot.ended_at) return <span title="When it ended">{clock(snapshot.ended_at)}</span>;
  if (!words.ends_at) return <span title="No prediction of its end yet">–</span>;
  const range = words.ends_at_lower
    ? `As likely earlier as later; in 9 of 10 cases between ${clock(words.ends_at_lower)} and ${clock(words.ends_at_upper)}`
    : "As likely earlier as later; how sure is not known";
  return <span title={range}>{clock(words.ends_at)}</span>;
}

const DUE_TITLE =
  "When it has to have ended, as its source, its plan or the settings of the master say; the percentage is the probability that it ends later, provided that it ends well";

export function Due({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  if (!words.due_before) return null;
  return (
    <span class={words.is_likely_late ? "warning" : ""} title={DUE_TITLE}>
      {words.due_before}{dueClock(snapshot)}{words.due_after}
    </span>
  );
}

export function Bar({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  const estimate = snapshot.estimate;
  const shown = 100 * (words.shown_fraction ?? 0);
  const lower = 100 * (estimate?.fraction_done_lower ?? 0);
  const upper = 100 * (estimate?.fraction_done_upper ?? 0);
  const text = `${words.percent ?? "-"}, ${words.remaining ?? ""}${words.remaining_detail ?? ""}`;
  return (
    <div
      class={`bar ${snapshot.state ?? ""} ${words.has_percent ? "" : "vague"}`}
      role="progressbar"
      aria-label={`Progress of ${words.title}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(shown)}
      aria-valuetext={text}
      title="The part of its time that has passed; the shade is its 90 % interval"
    >
      <div class="bar-done" style={{ width: `${shown}%` }} />
      {!snapshot.final && words.has_percent && upper > lower && (
        <div class="bar-range" style={{ left: `${lower}%`, width: `${upper - lower}%` }} />
      )}
    </div>
  );
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
    refused: () => "not live: not let in",
    missing: () => "not live: no such job; trying again",
    broken: () => {
      const { since, why } = liveness as Extract<Liveness, { state: "broken" }>;
      return `not live since ${clock(since.toISOString())}: ${why}; trying again`;
    },
  }[liveness.state]();
  return (
    <p class={`note ${liveness.state}`} role="status">
      {text}
    </p>
  );
}
