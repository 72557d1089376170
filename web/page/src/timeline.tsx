// A timeline of rows with spans, and predicted times as ghosts. The canvas draws only visible rows,
// so ten thousand rows scroll as fast as ten.
import { useEffect, useRef, useState } from "preact/hooks";
import { color, shortClock } from "./parts";
import { shortened } from "./shortened";

export type Look = "done" | "running" | "waiting" | "failed";
export interface Span {
  look: Look;
  title: string;
  // Times are in milliseconds since 1970.
  start: number;
  end: number;
  ghostEnd: number; // predicted end; equals `end` if there is no forecast
  latest: number; // upper bound of the predicted end
}
export interface Row {
  name: string;
  note: string;
  isCritical?: boolean;
  isHeading?: boolean;
  spans: Span[];
}

const AXIS = 22;
const NARROW = 560;
const SHOWN_MAX = 14;
const LOOKS: Record<Look, string> = { done: "--good", running: "--run", waiting: "--quiet", failed: "--bad" };
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

interface Frame {
  from: number;
  to: number;
  row: number; // height
  names: number; // width; 0 puts names above the bars
  width: number;
}

function frameOf(rows: Row[], now: number, width: number): Frame {
  let from = Infinity;
  let likely = now;
  let latest = now;
  for (const row of rows) {
    for (const span of row.spans) {
      from = Math.min(from, span.start);
      likely = Math.max(likely, span.ghostEnd);
      latest = Math.max(latest, span.latest);
    }
  }
  if (from === Infinity) from = now - 1000;
  // A distant bound would flatten the other bars, so the range ends at the edge of the view.
  const to = Math.min(latest, likely + 0.5 * (likely - from));
  const isNarrow = width < NARROW;
  return { from, to: Math.max(to, from + 1000), row: isNarrow ? 40 : 26, names: isNarrow ? 0 : Math.min(240, width * 0.3), width };
}

const xOf = (frame: Frame, at: number) =>
  frame.names + 4 + ((frame.width - frame.names - 12) * (at - frame.from)) / (frame.to - frame.from);

function drawAxis(pen: CanvasRenderingContext2D, frame: Frame, height: number) {
  const seconds = (frame.to - frame.from) / 1000;
  const most = Math.max(2, Math.floor((frame.width - frame.names) / 90));
  const step = 1000 * (STEPS_S.find((each) => seconds / each <= most) ?? 86400 * Math.ceil(seconds / 86400 / most));
  pen.fillStyle = color("--quiet");
  pen.strokeStyle = color("--line");
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "center";
  for (let at = Math.ceil(frame.from / step) * step; at <= frame.to; at += step) {
    const x = Math.round(xOf(frame, at)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, AXIS - 4);
    pen.lineTo(x, height);
    pen.stroke();
    const half = 28;
    if (x > frame.names + half && x < frame.width - half) pen.fillText(shortClock(at, step), x, AXIS / 2);
  }
  pen.textAlign = "start";
}

// Returns the text, without its middle if it is wider than `width`.
function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  let [least, most] = [0, text.length];
  if (pen.measureText(text).width <= width) return text;
  while (most - least > 1) {
    const middle = (least + most) >> 1;
    if (pen.measureText(shortened(text, middle)).width <= width) least = middle;
    else most = middle;
  }
  return shortened(text, least);
}

function drawSpan(pen: CanvasRenderingContext2D, span: Span, frame: Frame, y: number, height: number) {
  const tint = color(LOOKS[span.look]);
  const [start, end] = [xOf(frame, span.start), xOf(frame, span.end)];
  if (span.latest > span.end) {
    pen.fillStyle = color("--range-fill");
    pen.fillRect(end, y - 2, Math.min(frame.width, xOf(frame, span.latest)) - end, height + 4);
  }
  if (span.ghostEnd > span.end) {
    pen.strokeStyle = tint;
    pen.setLineDash([4, 3]);
    pen.strokeRect(end + 0.5, y + 0.5, Math.max(1, xOf(frame, span.ghostEnd) - end), height - 1);
    pen.setLineDash([]);
  }
  if (span.look === "waiting") return;
  pen.fillStyle = tint;
  const width = Math.max(2, end - start - 1);
  pen.beginPath();
  pen.roundRect(start, y, width, height, Math.min(3, width / 2));
  pen.fill();
}

function draw(canvas: HTMLCanvasElement, rows: Row[], frame: Frame, top: number, now: number) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d")!;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = "middle";
  drawAxis(pen, frame, height);
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS, width, height - AXIS);
  pen.clip();
  const first = Math.max(0, Math.floor(top / frame.row));
  const last = Math.min(rows.length, first + Math.ceil(height / frame.row) + 1);
  for (let i = first; i < last; ++i) {
    const row = rows[i];
    const y = AXIS + i * frame.row - top;
    if (row.isHeading) {
      pen.fillStyle = color("--raised");
      pen.fillRect(0, y, width, frame.row);
    }
    pen.font = `${row.isHeading || row.isCritical ? "600 " : ""}13px system-ui, sans-serif`;
    pen.fillStyle = color("--text");
    const text = `${row.isCritical ? "● " : ""}${row.name}`;
    const isNarrow = frame.names === 0;
    const middle = isNarrow ? y + 11 : y + frame.row / 2;
    const room = isNarrow || row.isHeading ? width - 12 : frame.names - 8;
    const name = fitting(pen, text, room);
    pen.fillText(name, 6, middle);
    const used = pen.measureText(name).width + 8;
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = color("--quiet");
    if (room - used > 60) pen.fillText(fitting(pen, row.note, room - used), 6 + used, middle);
    const bar = isNarrow ? { y: y + 22, height: 12 } : { y: y + 6, height: frame.row - 12 };
    for (const span of row.spans) drawSpan(pen, span, frame, bar.y, bar.height);
  }
  pen.restore();
  const x = Math.round(xOf(frame, now)) + 0.5;
  pen.strokeStyle = color("--text");
  pen.beginPath();
  pen.moveTo(x, AXIS - 4);
  pen.lineTo(x, height);
  pen.stroke();
}

interface Tip {
  x: number;
  y: number;
  text: string;
}

export function Timeline({ rows, now, label }: { rows: Row[]; now: number; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<Tip>();
  const frame = frameOf(rows, now, width);
  const redraw = useRef(() => {});
  redraw.current = () => {
    if (canvas.current && scroller.current && width > 0) {
      draw(canvas.current, rows, frame, scroller.current.scrollTop, now);
    }
  };
  useEffect(() => redraw.current(), [rows, now, width]);
  // Scroll to the first running row.
  useEffect(() => {
    const first = rows.findIndex((row) => row.spans.some((span) => span.look === "running"));
    if (first > 2 && scroller.current) scroller.current.scrollTop = frame.row * (first - 2);
  }, []);
  useEffect(() => {
    const watcher = new ResizeObserver(() => setWidth(scroller.current?.clientWidth ?? 0));
    watcher.observe(scroller.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolor = () => redraw.current();
    dark.addEventListener("change", recolor);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", recolor);
    };
  }, []);
  const height = AXIS + frame.row * Math.min(SHOWN_MAX, Math.max(1, rows.length));
  const point = (event: MouseEvent) => {
    const box = scroller.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = rows[Math.floor((y - AXIS + scroller.current!.scrollTop) / frame.row)];
    const at = row?.spans.find((span) => {
      const end = Math.max(xOf(frame, span.latest), xOf(frame, span.end));
      return x >= xOf(frame, span.start) - 2 && x <= end + 2;
    });
    const name = row && x < frame.names ? [row.name, row.note].filter(Boolean).join(": ") : "";
    const text = at?.title ?? name;
    setTip(text && y > AXIS ? { x: Math.min(x + 12, box.width - 180), y: y + 14, text } : undefined);
  };
  return (
    <div class="timeline">
      <div
        class="lanes"
        ref={scroller}
        style={{ height: `${height}px` }}
        tabIndex={0}
        role="region"
        aria-label={label}
        onScroll={() => requestAnimationFrame(() => redraw.current())}
        onMouseMove={point}
        onMouseLeave={() => setTip(undefined)}
      >
        <div class="lanes-all" style={{ height: `${AXIS + frame.row * rows.length}px` }}>
          <canvas ref={canvas} style={{ height: `${height}px` }} aria-hidden="true" />
        </div>
      </div>
      {tip && <div class="tip" aria-hidden="true" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>{tip.text}</div>}
    </div>
  );
}

// `range` describes the shaded range, and is undefined if there are no forecasts. `what` is appended to the legend, such as
// "; ● on the critical path".
export function Legend({ range, what }: { range?: string; what: string }) {
  return (
    <p class="legend">
      <span class="swatch done" /> done <span class="swatch running" /> running <span class="swatch failed" /> failed or killed
      {range && <> <span class="swatch ghost" /> predicted <span class="swatch range" /> {range}</>}{what}
    </p>
  );
}
