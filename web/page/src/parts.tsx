// Small parts that the views share.
import type { JobWords, Snapshot } from "./messages";
import type { Liveness } from "./live";

export function clock(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  const isToday = at.toDateString() === new Date().toDateString();
  // What is known to the minute has no seconds.
  const second = at.getTime() % 60_000 === 0 ? undefined : ("2-digit" as const);
  const time = at.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second });
  return isToday ? time : `${at.toLocaleDateString()} ${time}`;
}

export function EndAt({ snapshot, words }: { snapshot: Snapshot; words: JobWords }) {
  if (snapshot.ended_at) return <span title="When it ended">{clock(snapshot.ended_at)}</span>;
  if (!words.ends_at) return <span title="No prediction of its end yet">–</span>;
  const range = words.ends_at_lower
    ? `Between ${clock(words.ends_at_lower)} and ${clock(words.ends_at_upper)} in 9 of 10 cases`
    : "As likely earlier as later; how sure is not known";
  return <span title={range}>{clock(words.ends_at)}</span>;
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
      {!snapshot.final && upper > lower && (
        <div class="bar-range" style={{ left: `${lower}%`, width: `${upper - lower}%` }} />
      )}
    </div>
  );
}

export function LiveNote({ liveness }: { liveness: Liveness }) {
  const text = {
    connecting: () => "connecting …",
    live: () => "live",
    ended: () => "the job has ended",
    refused: () => "not live: not let in",
    broken: () => {
      const { since, why } = liveness as Extract<Liveness, { state: "broken" }>;
      return `not live since ${clock(since.toISOString())}: ${why}; trying again`;
    },
  }[liveness.state]();
  return (
    <p class={`live ${liveness.state}`} role="status">
      {text}
    </p>
  );
}
