// Reads a stream of the master and resumes it after each interruption.
import { ask, Refused } from "./api";
import type { Problem } from "./messages";

export type Liveness =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "broken"; since: Date; why: string }
  | { state: "refused"; why: Refused }
  | { state: "missing"; why: string }
  | { state: "ended" };

const RETRY_MS = 2000;

// Follows a stream and returns a function that stops it. `probe` is an address that explains why a
// stream does not start.
export function follow<Update>(
  path: string,
  query: Record<string, string>,
  probe: string,
  onUpdate: (update: Update) => void,
  onLiveness: (liveness: Liveness) => void,
): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  let token = "";
  let brokenSince: Date | undefined;
  let stopped = false;

  function broken(why: string) {
    brokenSince ??= new Date();
    onLiveness({ state: "broken", since: brokenSince, why });
  }
  // Browsers close a source that returns no stream, and do not report its answer.
  async function explain(otherwise: string) {
    source?.close();
    let liveness: Liveness | undefined;
    let why = otherwise;
    try {
      await ask("GET", probe);
    } catch (error) {
      if (error instanceof Refused) {
        why = error.message;
        if (error.status === 401 || error.status === 403) liveness = { state: "refused", why: error };
        if (error.status === 404) liveness = { state: "missing", why };
      }
    }
    if (stopped) return;
    if (liveness) {
      brokenSince = undefined;
      onLiveness(liveness);
    } else {
      broken(why);
    }
    if (liveness?.state !== "refused") timer = window.setTimeout(connect, RETRY_MS);
  }
  function connect() {
    const words = new URLSearchParams(query);
    if (token) words.set("resume_token", token);
    source = new EventSource(`${path}?${words}`);
    source.addEventListener("open", () => {
      brokenSince = undefined;
      onLiveness({ state: "live" });
    });
    source.addEventListener("update", (event) => {
      token = event.lastEventId;
      onUpdate(JSON.parse(event.data) as Update);
    });
    source.addEventListener("end", () => {
      stop();
      onLiveness({ state: "ended" });
    });
    source.addEventListener("problem", (event) => {
      const problem = JSON.parse((event as MessageEvent).data) as Problem;
      broken(problem.message ?? "");
      void explain(problem.message ?? "");
    });
    source.addEventListener("error", () => {
      const why = "the master does not answer";
      if (source?.readyState === EventSource.CLOSED) void explain(why);
      else broken(why);
    });
  }
  function stop() {
    stopped = true;
    source?.close();
    window.clearTimeout(timer);
  }
  connect();
  return stop;
}
