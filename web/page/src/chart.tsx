// How progress went, with its interval as a band: what this page has seen of it.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Point {
  at: number; // seconds since 1970
  percent: number;
  lower: number;
  upper: number;
}

const POINTS_MAX = 2000;
const HEIGHT = 220;

// Every second one goes when there are too many: the form stays.
export function added(points: Point[], point: Point): Point[] {
  const all = points.length > 0 && points[points.length - 1].at >= point.at ? points : [...points, point];
  return all.length <= POINTS_MAX ? all : all.filter((_, i) => i % 2 === 0 || i === all.length - 1);
}

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({ points }: { points: Point[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  useEffect(() => {
    const element = place.current!;
    const axis = { stroke: color("--quiet"), grid: { stroke: color("--line") }, ticks: { stroke: color("--line") } };
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        {
          width: Math.max(200, element.clientWidth),
          height: HEIGHT,
          cursor: { drag: { x: false, y: false } },
          scales: { y: { range: [0, 100] } },
          axes: [axis, { ...axis, values: (_, values) => values.map((value) => `${value} %`), size: 60 }],
          series: [
            {},
            { label: "progress, %", stroke: color("--good"), width: 2 },
            { label: "lower, %", stroke: color("--range"), width: 0.5 },
            { label: "upper, %", stroke: color("--range"), width: 0.5 },
          ],
          bands: [{ series: [3, 2], fill: color("--range-fill") }],
        },
        [[], [], [], []],
        element,
      );
    };
    make();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    const watcher = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    );
    watcher.observe(element);
    return () => {
      dark.removeEventListener("change", make);
      watcher.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData([
      points.map((point) => point.at),
      points.map((point) => point.percent),
      points.map((point) => point.lower),
      points.map((point) => point.upper),
    ]);
  }, [points]);
  return <div class="chart" ref={place} role="img" aria-label="Progress over time, with its 90 % interval" />;
}
