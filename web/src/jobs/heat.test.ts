import { describe, expect, it } from "vitest";
import type { Series } from "~/api/ops";
import { minutesOf, mostOf, wordsOf, worstOf } from "./heat";

const series = {
  at: "2026-05-04T14:00:30Z",
  points: [
    { minute: "2026-05-04T13:58:00Z", pipeline: "pages", step: "fetch", outcomes: { DONE: 1200, ERROR: 1 } },
    { minute: "2026-05-04T13:58:00Z", pipeline: "other", step: "fetch", outcomes: { DONE: 9000 } },
  ],
} as unknown as Series;

describe("the last hour of a step", () => {
  it("has sixty minutes up to the present one, of its pipeline only", () => {
    const minutes = minutesOf(series, "pages", "fetch");
    expect(minutes).toHaveLength(60);
    expect(minutes.at(-1)).toEqual([new Date("2026-05-04T14:00:00Z"), {}]);
    expect(minutes.at(-3)).toEqual([new Date("2026-05-04T13:58:00Z"), { DONE: 1200, ERROR: 1 }]);
    expect(mostOf(series, "pages")).toBe(1201);
  });
  it("has the colour of the worst outcome, and words", () => {
    expect(worstOf({ DONE: 1200, ERROR: 1 })).toBe("ERROR");
    expect(worstOf({})).toBeUndefined();
    expect(wordsOf({ DONE: 1200, ERROR: 1 })).toBe("1,200 done, 1 error");
    expect(wordsOf({})).toBe("no attempts");
  });
});
