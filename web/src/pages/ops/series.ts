import type { DepthSeries, Series } from "~/api/ops";

/** Lines over common times: `values[line][time]`, null where nothing is known. */
export interface Lines {
  /** Seconds since 1970. */
  times: number[];
  lines: { name: string; values: (number | null)[] }[];
}

type Point = Series["points"][number];

const MOST = 6; // more lines than colours help nobody
const MINUTE_MS = 60_000;

export function byOutcome(series: Series): Lines {
  return summed(series, (point) => Object.entries(point.outcomes));
}

export function byErrorClass(series: Series): Lines {
  return summed(series, (point) => Object.entries(point.errors));
}

/** The time that 95 of 100 attempts need, of the steps with the most attempts. */
export function slowest(series: Series): Lines {
  const weights = new Map<string, number>();
  for (const point of series.points) {
    const tried = Object.values(point.outcomes).reduce((sum, each) => sum + each, 0);
    weights.set(stepOf(point), (weights.get(stepOf(point)) ?? 0) + tried);
  }
  const shown = [...weights].sort(([, one], [, other]) => other - one).slice(0, MOST);
  const minutes = minutesOf(series);
  const found = new Map(series.points.map((point) => [`${stepOf(point)} ${Date.parse(point.minute)}`, point.p95S]));
  return {
    times: minutes.map((minute) => minute / 1000),
    lines: shown.map(([name]) => ({ name, values: minutes.map((minute) => found.get(`${name} ${minute}`) ?? null) })),
  };
}

/** Tasks that wait, of the steps where the most do. */
export function depths(series: DepthSeries): Lines {
  const steps = series.steps
    .map((step) => ({
      name: stepOf(step),
      values: step.ready.map((ready, index) => ready + (step.scheduled[index] ?? 0)),
    }))
    .filter(({ values }) => values.some((value) => value > 0))
    .sort((one, other) => Math.max(...other.values) - Math.max(...one.values));
  return { times: series.at.map((at) => Date.parse(at) / 1000), lines: steps.slice(0, MOST) };
}

function summed(series: Series, counts: (point: Point) => [string, number][]): Lines {
  const minutes = minutesOf(series);
  const place = new Map(minutes.map((minute, index) => [minute, index]));
  const lines = new Map<string, number[]>();
  for (const point of series.points) {
    const at = place.get(Date.parse(point.minute));
    if (at === undefined) continue;
    for (const [name, count] of counts(point)) {
      const values = lines.get(name) ?? minutes.map(() => 0);
      values[at]! += count;
      lines.set(name, values);
    }
  }
  const total = (values: number[]) => values.reduce((sum, each) => sum + each, 0);
  const sorted = [...lines].sort(([, one], [, other]) => total(other) - total(one)).slice(0, MOST);
  return { times: minutes.map((minute) => minute / 1000), lines: sorted.map(([name, values]) => ({ name, values })) };
}

/** Every minute from the first with an attempt until now; a minute without attempts is a zero, not a gap. */
function minutesOf(series: Series): number[] {
  if (series.points.length === 0) return [];
  const first = Math.min(...series.points.map((point) => Date.parse(point.minute)));
  const last = Math.max(
    Math.floor(Date.parse(series.at) / MINUTE_MS) * MINUTE_MS,
    ...series.points.map((point) => Date.parse(point.minute)),
  );
  return Array.from({ length: (last - first) / MINUTE_MS + 1 }, (_, index) => first + index * MINUTE_MS);
}

function stepOf({ pipeline, step }: { pipeline: string; step: string }): string {
  return `${pipeline}.${step}`;
}
