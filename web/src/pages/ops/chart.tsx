import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock } from "~/format";
import css from "./ops.module.css";
import { type Lines, minutesIn, type Range } from "./series";

const TOGETHER = uPlot.sync("operations"); // one crosshair over all charts
const HEIGHT = 180;
const LEAST_S = 300; // times are shown in minutes

export interface ChartProps {
  data: Lines;
  /** The custom property of each line's colour. */
  colours: string[];
  names: string[];
  shown: (value: number) => string;
  /** The part of the hour that was chosen: a long one fills the chart, a short one is marked. */
  range: Range | undefined;
  onRange: (range: Range | undefined) => void;
}

/** Lines over time. Dragging chooses a time, a click chooses a minute, a double click shows all. */
export default function Chart({ data, colours, names, shown, range, onRange }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const theme = useTheme();
  const shape = `${theme} ${colours.join()} ${data.lines.map((line) => line.isDashed ?? false).join()}`;
  const latest = useRef({ data, range, onRange });
  latest.current = { data, range, onRange };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data change without a new plot
  useEffect(() => {
    const box = place.current!;
    const made = new uPlot(
      options(box.clientWidth, { colours: colours.map(colourOf), lines: data.lines, shown, latest, setAt }),
      aligned(latest.current.data),
      box,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [shape]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a range is a new object each time
  useEffect(() => plot.current?.setData(aligned(data)), [data, range?.from, range?.to]);
  const chosen = range ? data.times.findIndex((time) => time >= range.from) : -1;
  const resting = chosen >= 0 ? chosen : data.times.length - 1;
  const index = at !== null && at < data.times.length ? at : resting;
  return (
    <>
      <div ref={place} className={css.plot} aria-hidden="true" />
      <div className={css.legend}>
        {data.lines.map((line, each) => {
          const value = line.values[index];
          return (
            <span key={line.name}>
              <i style={{ background: `var(${colours[each]})` }} />
              {names[each]} <b>{value === null || value === undefined ? "none" : shown(value)}</b>
            </span>
          );
        })}
        <span>at {clock(new Date(data.times[index]! * 1000))}</span>
      </div>
    </>
  );
}

interface Given {
  colours: string[];
  lines: Lines["lines"];
  shown: (value: number) => string;
  latest: { current: Pick<ChartProps, "range" | "onRange"> };
  setAt: (index: number | null) => void;
}

function options(width: number, { colours, lines, shown, latest, setAt }: Given): uPlot.Options {
  const mark = colourOf("--accent");
  const axis = { stroke: colourOf("--muted"), font: "12px system-ui", ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      // The others follow the pointer; what is chosen comes to them by the URL.
      sync: { key: TOGETHER.key, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: {
        dblclick: () => () => {
          latest.current.onRange(undefined);
          return null;
        },
      },
    },
    scales: {
      x: {
        range: (_, least, most) => {
          const { range } = latest.current;
          return range && isLong(range) ? [range.from, range.to] : [Math.min(least, most - LEAST_S), most];
        },
      },
      y: { range: (_, __, most) => [0, Math.max(1e-3, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        space: 64,
        incrs: [60, 300, 600, 900, 1800, 3600],
        values: (_, splits) => splits.map((time) => clock(new Date(time * 1000))),
      },
      {
        ...axis,
        size: 60,
        grid: { stroke: colourOf("--line"), width: 1 },
        values: (_, splits) => splits.map(shown),
      },
    ],
    series: [
      {},
      ...colours.map(
        (stroke, index): uPlot.Series => ({
          stroke,
          width: lines[index]?.isDashed ? 1.5 : 2,
          points: { size: 5 },
          spanGaps: true,
          ...(lines[index]?.isDashed && { dash: [5, 4] }),
        }),
      ),
    ],
    hooks: {
      ready: [
        (self) =>
          self.over.addEventListener("click", () => {
            const time = self.data[0][self.cursor.idx ?? -1];
            if (time !== undefined) latest.current.onRange(minutesIn(time, time));
          }),
      ],
      setCursor: [(self) => setAt(self.cursor.idx ?? null)],
      setSelect: [
        (self) => {
          const { left, width: wide } = self.select;
          if (wide <= 0) return;
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onRange(minutesIn(self.posToVal(left, "x"), self.posToVal(left + wide, "x")));
        },
      ],
      drawClear: [(self) => markChosen(self, latest.current.range, mark)],
    },
  };
}

/** A range that is too short to fill a chart is marked in it. */
function isLong(range: Range): boolean {
  return range.to - range.from >= LEAST_S;
}

function markChosen(plot: uPlot, range: Range | undefined, colour: string): void {
  if (!range || isLong(range)) return;
  const left = plot.valToPos(range.from, "x", true);
  const right = plot.valToPos(range.to, "x", true);
  plot.ctx.save();
  plot.ctx.globalAlpha = 0.18;
  plot.ctx.fillStyle = colour;
  plot.ctx.fillRect(left, plot.bbox.top, Math.max(3, right - left), plot.bbox.height);
  plot.ctx.restore();
}

function aligned({ times, lines }: Lines): uPlot.AlignedData {
  return [times, ...lines.map((line) => line.values)];
}

/** A canvas needs the colour itself: a custom property with light-dark() is resolved by an element. */
function colourOf(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Changes when the colours do: by the choice of the person or of the system. */
function useTheme(): string {
  const [theme, setTheme] = useState(themeNow);
  useEffect(() => {
    const change = () => setTheme(themeNow());
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", change);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      dark.removeEventListener("change", change);
      observer.disconnect();
    };
  }, []);
  return theme;
}

function themeNow(): string {
  return (
    document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")
  );
}
