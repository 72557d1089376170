// A stream of the master that goes on after breaks, from where it was.
import { ask, Refused } from "./api";
import type { Problem } from "./messages";

export type Liveness =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "broken"; since: Date; why: string }
  | { state: "refused"; why: Refused }
  | { state: "ended" };

const RETRY_MS = 2000;

export function follow<Update>(
  path: string,
  query: Record<string, string>,
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
  // Browsers give up for good where the answer is not a stream, and do not say what it was.
  async function explain() {
    source?.close();
    try {
      await ask("GET", "/api/session");
    } catch (error) {
      if (stopped) return;
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
        return onLiveness({ state: "refused", why: error });
      }
    }
    if (!stopped) timer = window.setTimeout(connect, RETRY_MS);
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
      void explain();
    });
    source.addEventListener("error", () => {
      broken("the master does not answer");
      if (source?.readyState === EventSource.CLOSED) void explain();
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
