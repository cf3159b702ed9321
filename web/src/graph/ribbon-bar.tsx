import type { Slice } from "~/api/grid";
import { runs, sliceWords } from "~/grid/slices";
import colourCss from "~/grid/slices.module.css";
import { countWords } from "~/ui/bar";
import css from "./ribbon-bar.module.css";

interface RibbonBarProps {
  label: string;
  slices: Slice[];
  counts: Parameters<typeof countWords>[0];
}

/** The items of a large job in the order of their numbers: each slice has the colour of its worst status. */
export function RibbonBar({ label, slices, counts }: RibbonBarProps) {
  const last = slices.at(-1)!.to;
  const wordsOf = new Map(slices.map((slice) => [slice.from, slice]));
  return (
    <svg
      className={css.bar}
      viewBox={`0 0 ${last} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${countWords(counts)}`}
    >
      {runs(slices).map(({ from, to, worst }) => (
        <rect key={from} y={0} height={1} x={from - 1} width={to - from + 1} className={colourCss[worst]}>
          <title>{to === wordsOf.get(from)?.to ? sliceWords(wordsOf.get(from)!) : `Items ${from} to ${to}`}</title>
        </rect>
      ))}
    </svg>
  );
}
