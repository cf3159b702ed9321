import type { DepthSeries, Series } from "~/api/ops";

/** Lines over common times: `values[line][time]`, null where nothing is known. */
export interface Lines {
  /** Seconds since 1970. */
  times: number[];
  lines: Line[];
}

export interface Line {
  name: string;
  values: (number | null)[];
  isDashed?: boolean;
}

/** A part of the hour, in seconds since 1970; `to` is not in it. */
export interface Range {
  from: number;
  to: number;
}

type Point = Series["points"][number];

const MOST = 6; // more lines than colours help nobody
const MOST_TIMED = 3; // steps with two lines each
const MINUTE_MS = 60_000;

export function byOutcome(series: Series): Lines {
  return summed(series, (point) => Object.entries(point.outcomes));
}

export function byErrorClass(series: Series): Lines {
  return summed(series, (point) => Object.entries(point.errors));
}

/** The time within which half of the successful attempts and 95 of 100 end, of the steps with the most attempts. */
export function durations(series: Series): Lines {
  const weights = new Map<string, number>();
  for (const point of series.points) {
    const tried = Object.values(point.outcomes).reduce((sum, each) => sum + each, 0);
    weights.set(stepOf(point), (weights.get(stepOf(point)) ?? 0) + tried);
  }
  const shown = [...weights].sort(([, one], [, other]) => other - one).slice(0, MOST_TIMED);
  const minutes = minutesOf(series);
  const found = new Map(series.points.map((point) => [`${stepOf(point)} ${Date.parse(point.minute)}`, point]));
  const values = (name: string, value: (point: Point) => number | null) =>
    minutes.map((minute) => {
      const point = found.get(`${name} ${minute}`);
      return point ? value(point) : null;
    });
  return {
    times: minutes.map((minute) => minute / 1000),
    lines: shown.flatMap(([name]) => [
      { name: `${name} p50`, values: values(name, (point) => point.p50S), isDashed: true },
      { name: `${name} p95`, values: values(name, (point) => point.p95S) },
    ]),
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

/** The hour that the attempts are of, as far as there were any. */
export function wholeRange(series: Series): Range | undefined {
  const minutes = minutesOf(series);
  return minutes.length > 0 ? { from: minutes[0]! / 1000, to: minutes.at(-1)! / 1000 + 60 } : undefined;
}

/** The times of a range, and the values at them. */
export function within({ times, lines }: Lines, range: Range | undefined): Lines {
  if (!range) return { times, lines };
  const isIn = (_: unknown, index: number) => times[index]! >= range.from && times[index]! < range.to;
  return { times: times.filter(isIn), lines: lines.map((line) => ({ ...line, values: line.values.filter(isIn) })) };
}

/** One time for each minute, the last in it: enough for a table. */
export function byMinute({ times, lines }: Lines): Lines {
  const isLast = (_: unknown, index: number) =>
    Math.floor(times[index]! / 60) !== Math.floor((times[index + 1] ?? 0) / 60);
  return { times: times.filter(isLast), lines: lines.map((line) => ({ ...line, values: line.values.filter(isLast) })) };
}

/** How many attempts ended in a range: those with an outcome, or all. */
export function attemptsIn(series: Series, range: Range, outcome?: string): number {
  return series.points
    .filter((point) => Date.parse(point.minute) >= range.from * 1000 && Date.parse(point.minute) < range.to * 1000)
    .flatMap((point) => Object.entries(point.outcomes))
    .reduce((sum, [name, count]) => sum + (outcome === undefined || name === outcome ? count : 0), 0);
}

/** A range in whole minutes, from what was drawn or clicked. */
export function minutesIn(from: number, to: number): Range {
  const first = Math.floor(from / 60) * 60;
  return { from: first, to: Math.max(first + 60, Math.ceil(to / 60) * 60) };
}

/** A range as parameters of a URL. */
export function searchOf({ from, to }: Range): { from: string; to: string } {
  const text = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
  return { from: text(from), to: text(to) };
}

/** The range that a URL names; nothing if it is not one. */
export function rangeOf({ from, to }: { from?: string; to?: string }): Range | undefined {
  const found = { from: Date.parse(from ?? "") / 1000, to: Date.parse(to ?? "") / 1000 };
  return found.from < found.to ? found : undefined;
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
