import { expect, test } from "vitest";
import type { Lanes, Overview, Series } from "~/api/ops";
import { fairnessWords, riverOwners, riverSteps } from "./flow-data";

const owner = (name: string, ready: number, servedPerS: number, share: number) => ({
  owner: name,
  weight: 1,
  ready,
  running: 0,
  servedPerS,
  share,
  fairShare: 0.5,
});
const lanes = (...owners: ReturnType<typeof owner>[]): Lanes => ({
  at: "2026-01-01T10:00:00Z",
  lanes: [],
  owners,
  ownerCount: owners.length,
  servedPerS: 0,
});

test("the sentence names who has the most and who has the least", () => {
  expect(fairnessWords(lanes(owner("ben", 3, 5, 0.5), owner("ada", 1_000_000, 5, 0.5)))).toBe(
    "ada has 1,000,000 waiting and gets 50 % of the workers (50 % by weight); " +
      "ben has 3 waiting and gets 50 % of the workers (50 % by weight).",
  );
  expect(fairnessWords(lanes(owner("ada", 7, 0, 0)))).toBe(
    "ada has 7 waiting. No attempt has ended in the last seconds.",
  );
  expect(fairnessWords(lanes(owner("ada", 0, 0, 0)))).toBe("No owner has work that could run.");
});

test("more than twelve owners are summed up", () => {
  const many = Array.from({ length: 15 }, (_, n) => owner(`o${n}`, 1, 15 - n, 0.05));
  const found = riverOwners(lanes(...many));
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
