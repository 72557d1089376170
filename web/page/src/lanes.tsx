// A lane for each stage or job of a workflow, along time: what has passed, and as a ghost what is
// predicted. On a canvas that draws only what is in sight, so that ten thousand scroll like ten.
import { useEffect, useRef, useState } from "preact/hooks";
import { secondsOf } from "./delta";
import type { Range } from "./messages";

export interface Lane {
  name: string;
  state: string;
  look: "done" | "running" | "waiting" | "failed";
  isCritical: boolean;
  fraction: number;
  startedAt?: string;
  endedAt?: string;
  startsIn?: Range;
  endsIn?: Range;
}

const LANE = 26;
const SHOWN_MAX = 14;

interface Span {
  lane: Lane;
  start: number;
  end: number;
  ghostEnd: number;
  latest: number;
}

// In milliseconds. What is neither begun nor predicted has no place in time.
function spanOf(lane: Lane, now: number): Span {
  const start = lane.startedAt
    ? Date.parse(lane.startedAt)
    : lane.startsIn?.median !== undefined ? now + 1000 * secondsOf(lane.startsIn.median) : Number.NaN;
  const end = lane.endedAt ? Date.parse(lane.endedAt) : lane.startedAt ? now : start;
  const isOver = lane.endedAt !== undefined;
  const until = (bound: string | undefined) => (isOver || bound === undefined ? end : now + 1000 * secondsOf(bound));
  const ghostEnd = until(lane.endsIn?.median);
  return { lane, start, end, ghostEnd, latest: Math.max(ghostEnd, until(lane.endsIn?.upper)) };
}

function draw(canvas: HTMLCanvasElement, spans: Span[], top: number, now: number) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== width * scale || canvas.height !== height * scale) {
    canvas.width = width * scale;
    canvas.height = height * scale;
  }
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const pen = canvas.getContext("2d")!;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  let from = Infinity;
  let to = now;
  for (const span of spans) {
    if (Number.isNaN(span.start)) continue;
    from = Math.min(from, span.start);
    to = Math.max(to, span.latest);
  }
  const names = Math.min(220, width * 0.45);
  const x = (at: number) => names + ((width - names - 8) * (at - from)) / Math.max(1, to - from);
  const looks = { done: "--good", running: "--run", waiting: "--quiet", failed: "--bad" };
  pen.font = "13px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const first = Math.max(0, Math.floor(top / LANE));
  for (let i = first; i < Math.min(spans.length, first + Math.ceil(height / LANE) + 1); ++i) {
    const { lane, start, end, ghostEnd, latest } = spans[i];
    const y = i * LANE - top;
    pen.fillStyle = color("--text");
    pen.save();
    pen.beginPath();
    pen.rect(0, y, names - 6, LANE);
    pen.clip();
    pen.fillText(`${lane.isCritical ? "! " : ""}${lane.name} · ${lane.state}`, 2, y + LANE / 2);
    pen.restore();
    if (Number.isNaN(start)) continue;
    pen.fillStyle = color("--range-fill");
    pen.fillRect(x(end), y + 5, Math.max(0, x(latest) - x(end)), LANE - 10);
    pen.strokeStyle = color(looks[lane.look]);
    if (ghostEnd > end) {
      pen.setLineDash([3, 3]);
      pen.strokeRect(x(end), y + 6, x(ghostEnd) - x(end), LANE - 12);
      pen.setLineDash([]);
    }
    if (lane.look !== "waiting") {
      pen.fillStyle = color(looks[lane.look]);
      pen.fillRect(x(start), y + 6, Math.max(2, x(end) - x(start)), LANE - 12);
    }
  }
  pen.strokeStyle = color("--text");
  pen.beginPath();
  pen.moveTo(x(now), 0);
  pen.lineTo(x(now), height);
  pen.stroke();
}

export function Lanes({ lanes, at, what }: { lanes: Lane[]; at: string | undefined; what: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const now = Date.parse(at ?? "");
  const redraw = useRef(() => {});
  const spans = lanes.map((lane) => spanOf(lane, now));
  redraw.current = () => {
    if (canvas.current && scroller.current) draw(canvas.current, spans, scroller.current.scrollTop, now);
  };
  useEffect(() => redraw.current(), [lanes, at, width]);
  // What runs is what one came for.
  useEffect(() => {
    const first = lanes.findIndex((lane) => lane.look === "running");
    if (first > 2 && scroller.current) scroller.current.scrollTop = LANE * (first - 2);
  }, []);
  useEffect(() => {
    const watcher = new ResizeObserver(() => setWidth(scroller.current?.clientWidth ?? 0));
    watcher.observe(scroller.current!);
    return () => watcher.disconnect();
  }, []);
  const height = LANE * Math.min(SHOWN_MAX, Math.max(1, lanes.length));
  const running = lanes.filter((lane) => lane.look === "running");
  return (
    <>
      <div
        class="lanes"
        ref={scroller}
        style={{ height: `${height}px` }}
        tabIndex={0}
        role="region"
        aria-label={`${lanes.length} ${what} along time; a table below says the same`}
        onScroll={() => requestAnimationFrame(() => redraw.current())}
      >
        <div class="lanes-all" style={{ height: `${LANE * lanes.length}px` }}>
          <canvas ref={canvas} style={{ height: `${height}px` }} aria-hidden="true" />
        </div>
      </div>
      <p class="legend">
        Filled: what has passed. Dashed: predicted, its shade up to the upper bound of the 90 % interval. !: a delay
        there delays the whole.
      </p>
      <details>
        <summary>
          As a table ({running.length} of {lanes.length} {what} run)
        </summary>
        <table>
          <thead>
            <tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Critical</th></tr>
          </thead>
          <tbody>
            {[...running, ...lanes.filter((lane) => lane.look !== "running")].slice(0, 200).map((lane, i) => (
              <tr key={i}>
                <th scope="row" dir="auto">{lane.name}</th>
                <td>{lane.state}</td>
                <td>{lane.isCritical ? "yes" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {lanes.length > 200 && <p>The first 200 of {lanes.length}, those that run before others.</p>}
      </details>
    </>
  );
}
