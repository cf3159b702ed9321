import css from "./trend.module.css";

const WIDTH = 240;
const HEIGHT = 40;

interface TrendProps {
  /** One value for each time, the oldest first; null: unknown. */
  values: (number | null)[];
  /** What it is, as the begin of a sentence. */
  label: string;
  shown: (value: number) => string;
}

/** A small line without axes: how a value changed. Its words are in the name. */
export function Trend({ values, label, shown }: TrendProps) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <p className={css.none}>No sample yet: one is taken every minute.</p>;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const room = most - least || 1;
  const x = (index: number) => (values.length === 1 ? WIDTH : (index / (values.length - 1)) * WIDTH);
  const y = (value: number) => (most === least ? HEIGHT / 2 : HEIGHT - 2 - ((value - least) / room) * (HEIGHT - 4));
  return (
    <figure className={css.trend}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${shown(known.at(-1)!)} now, ${shown(least)} to ${shown(most)} in the last hour`}
      >
        {stretches(values).map((stretch) => (
          <path
            key={stretch[0]!.index}
            className={css.line}
            d={stretch
              .map(
                ({ index, value }, place) => `${place === 0 ? "M" : "L"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`,
              )
              .join("")
              .concat(stretch.length === 1 ? "h1" : "")}
          />
        ))}
      </svg>
      <figcaption className={css.words}>
        {most === least ? `${shown(least)} all the time` : `${shown(least)} to ${shown(most)}`}
      </figcaption>
    </figure>
  );
}

/** The runs of known values: a line is not drawn over what is unknown. */
function stretches(values: (number | null)[]): { index: number; value: number }[][] {
  const found: { index: number; value: number }[][] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last && last.at(-1)!.index === index - 1) last.push({ index, value });
    else found.push([{ index, value }]);
  });
  return found;
}
