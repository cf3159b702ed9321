import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock } from "~/format";
import css from "./ops.module.css";
import type { Lines } from "./series";

const TOGETHER = uPlot.sync("operations"); // one crosshair over all charts
const HEIGHT = 180;
const LEAST_S = 300; // times are shown in minutes

export interface ChartProps {
  data: Lines;
  /** The custom property of each line's colour. */
  colours: string[];
  names: string[];
  shown: (value: number) => string;
}

/** Lines over time. Dragging zooms into a time, a double click shows all. */
export default function Chart({ data, colours, names, shown }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const theme = useTheme();
  const shape = `${theme} ${colours.join()} ${data.lines.length}`;
  const latest = useRef(data);
  latest.current = data;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data change without a new plot
  useEffect(() => {
    const box = place.current!;
    const made = new uPlot(
      options(box.clientWidth, colours.map(colourOf), shown, (index) => setAt(index ?? null)),
      aligned(latest.current),
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
  useEffect(() => plot.current?.setData(aligned(data)), [data]);
  const index = at !== null && at < data.times.length ? at : data.times.length - 1;
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

function options(
  width: number,
  colours: string[],
  shown: (value: number) => string,
  onMove: (index: number | null | undefined) => void,
): uPlot.Options {
  const axis = { stroke: colourOf("--muted"), font: "12px system-ui", ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: TOGETHER.key }, drag: { x: true, y: false } },
    scales: {
      x: { range: (_, least, most) => [Math.min(least, most - LEAST_S), most] },
      y: { range: (_, __, most) => [0, Math.max(1e-3, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
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
    series: [{}, ...colours.map((stroke): uPlot.Series => ({ stroke, width: 2, points: { size: 5 }, spanGaps: true }))],
    hooks: { setCursor: [(self) => onMove(self.cursor.idx)] },
  };
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
