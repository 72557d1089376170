// Charts of the progress and of the predicted end over time, with their intervals as bands, and of the progress that
// several estimators report.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock, color, shortClock } from "./parts";
import { reachOf } from "./reach";

// Times are in seconds since 1970. Null values are unknown.
export interface Point {
  at: number;
  percent: number | null;
  lower: number | null;
  upper: number | null;
  end: number | null;
  endLower: number | null;
  endUpper: number | null;
  others?: Record<string, number>; // percentages of other estimators, by name
  shownEnds?: (string | undefined)[]; // the end and its bounds as the headline shows them
}

const POINTS_MAX = 2000;
const HEIGHT = 210;
const MINUTES_FROM = 300;  // seconds; like console/deadline_wording.cc
const SECONDS_APART = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800];

// Returns the points, followed by `point` if it is newer. Drops every second point of a list that
// is too long, which preserves the shape.
export function added(points: Point[], point: Point): Point[] {
  const all = points.length > 0 && points[points.length - 1].at >= point.at ? points : [...points, point];
  return all.length <= POINTS_MAX ? all : all.filter((_, i) => i % 2 === 0 || i === all.length - 1);
}

type Kind = "progress" | "end" | "estimators";
const OTHER_COLORS = ["--good", "--warn", "--bad", "--range", "--quiet"];
const DASHED = [5, 4];
const DOTTED = [2, 3];

// Returns the style of a border that looks like a line with these dashes.
function markerStyle(dash?: number[]): string {
  if (!dash) return "solid";
  return dash[0] === DOTTED[0] ? "dotted" : "dashed";
}
const last = <Element,>(all: Element[]) => all[all.length - 1];

const namesIn = (points: Point[]) => [...new Set(points.flatMap((point) => Object.keys(point.others ?? {})))];

function seriesOf(kind: Kind, points: Point[], endedAt: number | undefined, dueAt: number | undefined): uPlot.AlignedData {
  const at = points.map((point) => point.at);
  if (kind === "estimators") {
    return [at, points.map((p) => p.percent), ...namesIn(points).map((name) => points.map((p) => p.others?.[name] ?? null))];
  }
  if (kind === "progress") {
    return [at, points.map((p) => p.percent), points.map((p) => p.lower), points.map((p) => p.upper)];
  }
  return [
    at,
    points.map((p) => p.end),
    points.map((p) => p.endLower),
    points.map((p) => p.endUpper),
    points.map((p) => endedAt ?? p.at),
    ...(dueAt === undefined ? [] : [points.map(() => dueAt)]),
  ];
}

// The numbers below a chart belong to the point under the pointer, or otherwise to the newest
// point. After the end, only the pointer selects a point, since the last forecast is outdated.
function showValues(plot: uPlot, isOver: boolean) {
  const isIdle = (plot.cursor.left ?? -1) < 0;
  plot.root.classList.toggle("without-values", isOver && isIdle);
  if (isIdle && !isOver) plot.setLegend({ idx: plot.data[0].length - 1 });
}

function optionsOf(kind: Kind, width: number, isOver: boolean, isDue: boolean, names: string[], reach: () => [number, number], newest: () => Point | undefined): uPlot.Options {
  const isEnd = kind === "end";
  const axis: uPlot.Axis = {
    stroke: color("--quiet"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const time: uPlot.Axis = {
    ...axis,
    space: 70,
    size: 32,
    incrs: SECONDS_APART,
    values: (_, values, __, ___, step) => values.map((value) => shortClock(1000 * value, 1000 * step)),
  };
  // Percentages are rounded down, as in the bar. Distant ends and ends with wide intervals have no
  // seconds. The newest end is the headline's.
  const format = (value: number | null | undefined, [at, , lower, upper]: uPlot.AlignedData, series: number, i: number | null) => {
    if (value === null || value === undefined) return "-";
    if (!isEnd) return `${Math.floor(value + 1e-6)} %`;
    const shown = i === at.length - 1 ? newest()?.shownEnds?.[series - 1] : undefined;
    if (shown) return clock(shown);
    const length = i === null ? 0 : Math.max(value - at[i], (upper?.[i] ?? 0) - (lower?.[i] ?? 0));
    return shortClock(1000 * value, length >= MINUTES_FROM ? 60_000 : 1000);
  };
  const line = (label: string, name: string, lineWidth: number, dash?: number[]): uPlot.Series => ({
    label, stroke: color(name), width: lineWidth, dash, points: { show: false }, value: (plot, value, index, i) => format(value, plot.data, index, i),
  });
  const at: uPlot.Series = { label: "at", value: (_, value) => (value === null || value === undefined ? "-" : shortClock(1000 * value, 1000)) };
  const exact = (label: string, name: string, dash: number[]): uPlot.Series => ({ ...line(label, name, 1.5, dash), value: at.value });
  const bounds = isEnd
    ? [line("ends after", "--range", 1, DOTTED), line("ends by", "--range", 1, DASHED)]
    : [line("lower bound", "--range", 1, DOTTED), line("upper bound", "--range", 1, DASHED)];
  const series = {
    progress: () => [at, line("done", "--run", 2), ...bounds],
    end: () => [at, line("ends about", "--run", 2), ...bounds, exact(isOver ? "actual" : "now", isOver ? "--good" : "--quiet", DASHED),
      ...(isDue ? [exact("due", "--bad", DOTTED)] : [])],
    estimators: () => [at, line("tidemark", "--run", 2), ...names.map((name, i) => line(name, OTHER_COLORS[i % OTHER_COLORS.length], 1.5, [6, 2 + i]))],
  };
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false } },
    hooks: { setCursor: [(plot) => showValues(plot, isOver)] },
    scales: { x: { time: true }, y: { range: isEnd ? reach : [0, 100] } },
    axes: [
      time,
      isEnd
        ? { ...axis, size: 64, incrs: SECONDS_APART, values: (_, values, __, ___, step) => values.map((value) => shortClock(1000 * value, 1000 * step)) }
        : { ...axis, size: 48, values: (_, values) => values.map((value) => `${value} %`) },
    ],
    series: series[kind](),
    legend: { markers: { dash: (plot, i) => markerStyle(plot.series[i].dash) } },
    bands: kind === "estimators" ? [] : [{ series: [3, 2], fill: color("--range-fill") }],
  };
}

export function Chart({ kind, points, endedAt, dueAt, label }: { kind: Kind; points: Point[]; endedAt?: number; dueAt?: number; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = seriesOf(kind, points, endedAt, dueAt);
  const newest = useRef<Point>();
  newest.current = last(points);
  const reach = useRef<[number, number]>([0, 1]);
  const { low, high } = reachOf(points, endedAt, dueAt);
  const room = 0.05 * Math.max(1, high - low);
  reach.current = [low - room, high + room];
  const isOver = endedAt !== undefined;
  const isDue = dueAt !== undefined;
  const names = namesIn(points);
  useEffect(() => {
    const element = place.current!;
    const width = () => Math.max(200, element.clientWidth);
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(kind, width(), isOver, isDue, names, () => reach.current, () => newest.current), data.current, element);
      showValues(plot.current, isOver);
    };
    make();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    const watcher = new ResizeObserver(() => plot.current?.setSize({ width: width(), height: HEIGHT }));
    watcher.observe(element);
    return () => {
      dark.removeEventListener("change", make);
      watcher.disconnect();
      plot.current?.destroy();
    };
  }, [kind, isOver, isDue, names.join(" ")]);
  useEffect(() => {
    if (!plot.current) return;
    plot.current.setData(data.current);
    showValues(plot.current, isOver);
  }, [points, endedAt, dueAt]);
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}
