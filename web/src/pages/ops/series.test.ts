import { expect, test } from "vitest";
import type { DepthSeries, Series } from "~/api/ops";
import { byErrorClass, byOutcome, depths, slowest } from "./series";

const point = (minute: string, step: string, outcomes: Record<string, number>, p95S: number | null = null) => ({
  minute: `2026-01-01T10:${minute}:00Z`,
  pipeline: "pages",
  step,
  outcomes,
  errors: (outcomes.ERROR ? { data: outcomes.ERROR } : {}) as Record<string, number>,
  items: 0,
  meanS: null,
  p50S: null,
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
  expect(slowest(series).lines).toEqual([
    { name: "pages.fetch", values: [0.5, null, 0.7, null] },
    { name: "pages.count", values: [0.1, null, null, null] },
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

test("nothing is nothing", () => {
  expect(byOutcome({ at: series.at, points: [] })).toEqual({ times: [], lines: [] });
});
