// Sets or changes the deadline of a running job, for readers who may report the job.
import { useEffect, useState } from "preact/hooks";
import { ask, jobPath, reasonOf } from "./api";
import type { JobAnswer } from "./messages";

// Returns an instant as the local time of an input, "2026-01-31T12:00".
function localTime(instant: string): string {
  const at = new Date(instant);
  return new Date(at.getTime() - 60_000 * at.getTimezoneOffset()).toISOString().slice(0, 16);
}

export function DeadlineForm({ id, deadlineAt }: { id: string; deadlineAt?: string }) {
  const [may, setMay] = useState(false);
  const [answer, setAnswer] = useState<{ text: string; isBad: boolean }>();
  useEffect(() => {
    ask<JobAnswer>("GET", `${jobPath(id)}?view=VIEW_BASIC`).then((job) => setMay(job.may_report ?? false), () => {});
  }, [id]);
  if (!may) return null;
  const set = async (event: Event) => {
    event.preventDefault();
    const at = new Date(String(new FormData(event.target as HTMLFormElement).get("deadline")));
    if (Number.isNaN(at.getTime())) return setAnswer({ text: "Enter a date and a time, such as 2026-01-31T12:00.", isBad: true });
    try {
      await ask("POST", `${jobPath(id)}/deadline`, { deadline_at: at.toISOString() });
      setAnswer({ text: "The deadline is set.", isBad: false });
    } catch (error) {
      setAnswer({ text: reasonOf(error), isBad: true });
    }
  };
  return (
    <details class="deadline">
      <summary>{deadlineAt ? "Change the deadline" : "Set a deadline"}</summary>
      <form onSubmit={set}>
        <label>Must succeed by <input type="datetime-local" name="deadline" required defaultValue={deadlineAt && localTime(deadlineAt)} /></label>{" "}
        <button type="submit">Set</button>
        {answer && <p role="alert" class={answer.isBad ? "bad" : "quiet"}>{answer.text}</p>}
      </form>
    </details>
  );
}
