import { describe, expect, it } from "vitest";
import type { LetterGroup } from "~/api/dead-letters";
import { groupKey, resultWords, startedWords, withoutMasks, withRetried } from "./retries";

const group = (reason: string, count: number) =>
  ({ pipeline: "pages", step: "fetch", errorClass: "data", reason, count }) as LetterGroup;

describe("a retry of dead letters", () => {
  it("is told by its results", () => {
    expect(resultWords({ done: 296, skipped: 0, failed: 16, open: 0 })).toBe("296 done, 16 failed again");
    expect(resultWords({ done: 0, skipped: 1, failed: 0, open: 2 })).toBe("0 done, 1 skipped, 2 still open");
  });

  it("says what was started, and what was not", () => {
    const started = { jobs: 1, byJob: [], searched: 4, complete: true };
    expect(startedWords({ ...started, items: 1, leftOut: 0, refused: [] }, "link")).toBe("1 link runs again.");
    expect(startedWords({ ...started, items: 3, leftOut: 2, refused: [{ jobId: "7", reason: "it is paused" }] })).toBe(
      "3 items run again. 2 are left out: they are done without the step that failed. 1 job cannot run again: it is paused.",
    );
  });

  it("says the reason of its group without what differs", () => {
    expect(withoutMasks("<url> answered # Not Found, asked by <name> for <b>")).toBe(
      "… answered … Not Found, asked by … for <b>",
    );
  });

  it("keeps its group in the list when nothing of it is left", () => {
    const empty = group("no answer", 312);
    const retried = new Map([[groupKey(empty), { group: empty, items: 312, jobs: [] }]]);
    expect(withRetried([group("other", 2)], retried).map(({ reason, count }) => [reason, count])).toEqual([
      ["other", 2],
      ["no answer", 0],
    ]);
    expect(withRetried([group("no answer", 16)], retried)).toHaveLength(1);
  });
});
