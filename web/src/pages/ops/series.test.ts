import { expect, test } from "vitest";
import type { DepthSeries, Series } from "~/api/ops";
import {
  attemptsIn,
  byErrorClass,
  byMinute,
  byOutcome,
  depths,
  durations,
  minutesIn,
  rangeOf,
  searchOf,
  wholeRange,
  within,
} from "./series";

const point = (minute: string, step: string, outcomes: Record<string, number>, p95S: number | null = null) => ({
  minute: `2026-01-01T10:${minute}:00Z`,
  pipeline: "pages",
  step,
  outcomes,
  errors: (outcomes.ERROR ? { data: outcomes.ERROR } : {}) as Record<string, number>,
  items: 0,
  meanS: null,
  p50S: p95S === null ? null : p95S / 2,
  p95S,
});
const series: Series = {
  at: "2026-01-01T10:04:30Z",
  points: [
    point("01", "fetch", { DONE: 5, ERROR: 1 }, 0.5),
    point("01", "count", { DONE: 2 }, 0.1),
    point("03", "fetch", { DONE: 7 }, 0.7),
  ],
};

test("attempts are summed over steps, and minutes without any are zero", () => {
  const { times, lines } = byOutcome(series);
  expect(times).toHaveLength(4);
  expect(times[1]! - times[0]!).toBe(60);
  expect(lines).toEqual([
    { name: "DONE", values: [7, 0, 7, 0] },
    { name: "ERROR", values: [1, 0, 0, 0] },
  ]);
  expect(byErrorClass(series).lines).toEqual([{ name: "data", values: [1, 0, 0, 0] }]);
});

test("a duration is unknown in a minute without attempts", () => {
  expect(durations(series).lines).toEqual([
    { name: "pages.fetch p50", values: [0.25, null, 0.35, null], isDashed: true },
    { name: "pages.fetch p95", values: [0.5, null, 0.7, null] },
    { name: "pages.count p50", values: [0.05, null, null, null], isDashed: true },
    { name: "pages.count p95", values: [0.1, null, null, null] },
  ]);
});

test("of the depth, the fullest steps are shown and empty ones are not", () => {
  const step = (name: string, ready: number[]) => ({
    pipeline: "pages",
    step: name,
    ready,
    scheduled: ready.map(() => 1),
    processing: ready,
    onHold: ready,
  });
  const given: DepthSeries = {
    everyS: 10,
    at: ["2026-01-01T10:00:00Z", "2026-01-01T10:00:10Z"],
    steps: [step("a", [1, 2]), step("b", [9, 0]), { ...step("c", [0, 0]), scheduled: [0, 0] }],
  };
  expect(depths(given).lines).toEqual([
    { name: "pages.b", values: [10, 1] },
    { name: "pages.a", values: [2, 3] },
  ]);
});

test("a range has the attempts that ended in its minutes", () => {
  const all = wholeRange(series)!;
  expect([attemptsIn(series, all), attemptsIn(series, all, "ERROR")]).toEqual([15, 1]);
  const last = minutesIn(all.from + 130, all.from + 131);
  expect(last).toEqual({ from: all.from + 120, to: all.from + 180 });
  expect([attemptsIn(series, last), attemptsIn(series, last, "ERROR")]).toEqual([7, 0]);
  expect(within(byOutcome(series), last)).toEqual({
    times: [last.from],
    lines: [
      { name: "DONE", values: [7] },
      { name: "ERROR", values: [0] },
    ],
  });
});

test("a table has one row for each minute", () => {
  const lines = { times: [60, 70, 110, 120, 150], lines: [{ name: "a", values: [1, 2, 3, 4, 5] }] };
  expect(byMinute(lines)).toEqual({ times: [110, 150], lines: [{ name: "a", values: [3, 5] }] });
});

test("a range survives the URL", () => {
  const range = minutesIn(1_767_261_690, 1_767_262_000);
  expect(searchOf(range)).toEqual({ from: "2026-01-01T10:01:00Z", to: "2026-01-01T10:07:00Z" });
  expect(rangeOf(searchOf(range))).toEqual(range);
  expect([rangeOf({}), rangeOf({ from: "now", to: "then" })]).toEqual([undefined, undefined]);
});

test("nothing is nothing", () => {
  expect(byOutcome({ at: series.at, points: [] })).toEqual({ times: [], lines: [] });
});
