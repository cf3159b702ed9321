import { expect, test } from "vitest";
import type { DepthSeries, Overview, OwnerSeriesList, Series } from "~/api/ops";
import { fairnessWords, lastMinutes, riverOwners, riverSteps, sharesAt, stepsAt } from "./flow-data";

const owner = (name: string, ready: number, servedPerS: number, share: number) => ({
  owner: name,
  ready,
  running: 0,
  servedPerS,
  share,
  fairShare: 0.5,
});

test("the sentence names who has the most and who has the least", () => {
  expect(fairnessWords([owner("ben", 3, 5, 0.5), owner("ada", 1_000_000, 5, 0.5)])).toBe(
    "ada has 1,000,000 waiting and gets 50 % of the workers (50 % by weight); " +
      "ben has 3 waiting and gets 50 % of the workers (50 % by weight).",
  );
  expect(fairnessWords([owner("ada", 7, 0, 0)])).toBe("ada has 7 waiting. No attempt has ended in the last seconds.");
  expect(fairnessWords([owner("ada", 0, 0, 0)])).toBe("No owner has work that could run.");
  expect(fairnessWords([owner("ada", 7, 2, 1)], "past")).toBe("ada had 7 waiting and got 100 % of the workers.");
  expect(fairnessWords([owner("ada", 7, 0, 0)], "past")).toBe("ada had 7 waiting. No attempt ended in that minute.");
});

test("more than twelve owners are summed up", () => {
  const many = Array.from({ length: 15 }, (_, n) => owner(`o${n}`, 1, 15 - n, 0.05));
  const found = riverOwners(many);
  expect(found).toHaveLength(13);
  expect(found[12]).toMatchObject({ name: "3 others", waiting: 3, perSecond: 6, fairShare: null });
});

test("steps have the outcomes of the last full minute", () => {
  const step = (name: string, more: object = {}) => ({
    pipeline: "pages",
    step: name,
    queue: `pages.${name}`,
    ready: 0,
    scheduled: 0,
    processing: 0,
    onHold: 0,
    nextAt: null,
    paused: false,
    parked: null,
    controllers: null,
    ...more,
  });
  const overview = { steps: [step("fetch"), step("count", { ready: 2, paused: true }), step("idle")] } as Overview;
  const point = (minute: string) => ({ minute, pipeline: "pages", step: "fetch", outcomes: { DONE: 6 } });
  const series = {
    at: "2026-01-01T10:05:20Z",
    points: [point("2026-01-01T10:04:00Z"), { ...point("2026-01-01T10:05:00Z"), outcomes: { DONE: 99 } }],
  } as unknown as Series;
  expect(riverSteps(overview, series, undefined)).toEqual([
    { name: "pages.fetch", waiting: 0, running: 0, outcomes: { DONE: 6 }, held: undefined },
    { name: "pages.count", waiting: 2, running: 0, outcomes: {}, held: "paused" },
  ]);
  expect(riverSteps(overview, series, "pages").map((each) => each.name)).toEqual(["fetch", "count", "idle"]);
});

const MINUTE = Date.parse("2026-01-01T10:04:00Z");

test("a minute that has passed has the outcomes and the depth of then", () => {
  const point = (minute: string, step: string, outcomes: Record<string, number>) => ({
    minute,
    pipeline: "pages",
    step,
    outcomes,
  });
  const series = {
    at: "2026-01-01T10:30:00Z",
    points: [point("2026-01-01T10:04:00Z", "fetch", { DONE: 6 }), point("2026-01-01T10:05:00Z", "fetch", { DONE: 9 })],
  } as unknown as Series;
  const depth: DepthSeries = {
    everyS: 10,
    at: ["2026-01-01T10:04:50Z", "2026-01-01T10:05:10Z"],
    steps: [{ pipeline: "pages", step: "count", ready: [3, 8], scheduled: [1, 0], processing: [2, 0], onHold: [0, 0] }],
  };
  expect(stepsAt(MINUTE, series, depth, undefined)).toEqual([
    { name: "pages.count", waiting: 4, running: 2, outcomes: {} },
    { name: "pages.fetch", waiting: 0, running: 0, outcomes: { DONE: 6 } },
  ]);
  expect(stepsAt(MINUTE, series, depth, "pages").map((step) => step.name)).toEqual(["count", "fetch"]);
  // The API has run for some minutes only: before that, no depth is known.
  expect(stepsAt(MINUTE - 600_000, series, depth, undefined)).toEqual([]);
});

test("the shares of a minute are parts of what was done in it", () => {
  const series: OwnerSeriesList = {
    minutes: ["2026-01-01T10:03:00Z", "2026-01-01T10:04:00Z"],
    owners: [
      { owner: "ada", ready: [0, 9], running: [0, 1], attemptsPerS: [0, 30], fairShare: [null, 0.5] },
      { owner: "ben", ready: [0, 3], running: [0, 1], attemptsPerS: [0, 10], fairShare: [null, 0.5] },
    ],
  };
  expect(sharesAt(MINUTE, series).map((each) => [each.owner, each.share, each.servedPerS])).toEqual([
    ["ada", 0.75, 30],
    ["ben", 0.25, 10],
  ]);
  expect(sharesAt(MINUTE - 60_000, series)).toEqual([]);
  expect(sharesAt(MINUTE - 600_000, series)).toEqual([]);
});

test("the hour ends with the last full minute", () => {
  const minutes = lastMinutes(MINUTE + 90_000);
  expect([minutes.length, minutes.at(-1)! - minutes[0]!, minutes.at(-1)]).toEqual([60, 59 * 60_000, MINUTE]);
});
