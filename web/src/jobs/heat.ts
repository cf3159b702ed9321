import type { Series } from "~/api/ops";
import { exact } from "~/format";
import { statusWord } from "~/words";

export type Outcomes = Record<string, number>;

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** The worst first: a minute has the colour of the worst of its attempts. */
const WORST = ["ERROR", "EXPIRED", "THROTTLED", "NOT_FOUND", "DONE"] as const;

export function worstOf(outcomes: Outcomes): (typeof WORST)[number] | undefined {
  return WORST.find((name) => outcomes[name]);
}

/** The last hour of a step by minute, the oldest first; a minute without attempts has no outcomes. */
export function minutesOf(series: Series, pipeline: string, step: string): [Date, Outcomes][] {
  const known = new Map(
    series.points
      .filter((point) => point.pipeline === pipeline && point.step === step)
      .map((point) => [Date.parse(point.minute), point.outcomes as Outcomes]),
  );
  const last = Math.floor(Date.parse(series.at) / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = last - (MINUTES - 1 - index) * MINUTE_MS;
    return [new Date(minute), known.get(minute) ?? {}];
  });
}

export function mostOf(series: Series, pipeline: string): number {
  const counts = series.points.filter((point) => point.pipeline === pipeline).map((point) => sumOf(point.outcomes));
  return Math.max(1, ...counts);
}

export function sumOf(outcomes: Outcomes): number {
  return Object.values(outcomes).reduce((sum, count) => sum + count, 0);
}

export function wordsOf(outcomes: Outcomes): string {
  const said = Object.entries(outcomes).filter(([, count]) => count > 0);
  return said.map(([name, count]) => `${exact(count)} ${statusWord(name).toLowerCase()}`).join(", ") || "no attempts";
}
