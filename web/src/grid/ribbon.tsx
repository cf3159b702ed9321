import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import type { Slice } from "~/api/grid";
import css from "./grid.module.css";
import { runs, sliceWords } from "./slices";
import colourCss from "./slices.module.css";

interface RibbonProps {
  slices: Slice[];
  count: number;
  /** The rows that are seen, from 0. */
  seen: [number, number];
  onGo: (row: number) => void;
}

/** All rows beside the scrollbar: each slice has the colour of its worst status, and a window shows what is seen. */
export function Ribbon({ slices, count, seen, onGo }: RibbonProps) {
  const [hovered, setHovered] = useState<{ slice: Slice; y: number }>();
  const colours = useMemo(() => runs(slices), [slices]);
  const now = slices.find((slice) => slice.to > seen[0]) ?? slices.at(-1)!;
  const rowAt = (event: PointerEvent<HTMLElement>) => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    return Math.floor(Math.max(0, Math.min(0.999999, (event.clientY - top) / height)) * count);
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const row = rowAt(event);
    const slice = slices.find((each) => each.to > row);
    if (slice) setHovered({ slice, y: event.clientY - event.currentTarget.getBoundingClientRect().top });
    if (event.buttons === 1) onGo(row);
  };
  const press = (event: KeyboardEvent) => {
    const index = slices.indexOf(now);
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: slices.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const slice = slices[Math.max(0, Math.min(slices.length - 1, to))];
    if (slice) onGo(slice.from - 1);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label="Place in the sheet"
      aria-orientation="vertical"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, count)}
      aria-valuenow={Math.min(count, seen[0] + 1)}
      aria-valuetext={sliceWords(now)}
      className={css.ribbon}
      onPointerDown={(event) => onGo(rowAt(event))}
      onPointerMove={move}
      onPointerLeave={() => setHovered(undefined)}
      onKeyDown={press}
    >
      <svg viewBox={`0 0 1 ${Math.max(1, count)}`} preserveAspectRatio="none" aria-hidden="true">
        {colours.map(({ from, to, worst }) => (
          <rect key={from} x={0} width={1} y={from - 1} height={to - from + 1} className={colourCss[worst]} />
        ))}
      </svg>
      <span
        className={css.window}
        style={{
          top: `${(seen[0] / Math.max(1, count)) * 100}%`,
          height: `${((seen[1] - seen[0]) / Math.max(1, count)) * 100}%`,
        }}
      />
      {hovered && (
        <span className={css.tip} style={{ top: hovered.y }}>
          {sliceWords(hovered.slice)}
        </span>
      )}
    </div>
  );
}
