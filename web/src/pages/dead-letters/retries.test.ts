import { describe, expect, it } from "vitest";
import type { LetterGroup } from "~/api/dead-letters";
import { groupKey, resultWords, withRetried } from "./retries";

const group = (reason: string, count: number) =>
  ({ pipeline: "pages", step: "fetch", errorClass: "data", reason, count }) as LetterGroup;

describe("a retry of dead letters", () => {
  it("is told by its results", () => {
    expect(resultWords({ done: 296, skipped: 0, failed: 16, open: 0 })).toBe("296 done, 16 failed again");
    expect(resultWords({ done: 0, skipped: 1, failed: 0, open: 2 })).toBe("0 done, 1 skipped, 2 still open");
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
