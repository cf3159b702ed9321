import { describe, expect, it } from "vitest";
import type { Attempt, ItemRow } from "~/api/items";
import type { Job } from "~/api/jobs";
import { spansOfItems } from "./item-spans";

const at = (second: number) => new Date(Date.UTC(2026, 4, 4, 14, 0, second)).toISOString();
const job = { createdAt: at(0) } as Job;

function attempt(itemId: string, from: number, to: number, outcome: Attempt["outcome"]): Attempt {
  return { itemId, step: "fetch", startedAt: at(from), endedAt: at(to), claimedAt: at(from), outcome } as Attempt;
}

const drawn = (items: Partial<ItemRow>[], attempts: Attempt[]) =>
  spansOfItems(job, items as ItemRow[], attempts, new Date(at(20))).map(({ row, kind, from, to, outcome }) =>
    [row, kind, from, to, ...(outcome ? [outcome] : [])].join(" "),
  );

describe("spansOfItems", () => {
  it("draws attempts, the waits between them, and what is open up to now", () => {
    const items = [
      { id: "1", status: "DONE" as const },
      { id: "2", status: "PROCESSING" as const, lockedAt: at(15) },
      { id: "3", status: "PENDING" as const },
    ];
    const attempts = [attempt("1", 8, 9, "DONE"), attempt("1", 2, 3, "ERROR")]; // the newest first
    expect(drawn(items, attempts)).toEqual([
      "1 line 0 2",
      "1 run 2 3 ERROR",
      "1 backoff 3 8",
      "1 run 8 9 DONE",
      "2 line 0 15",
      "2 run 15 20 RUNNING",
      "3 line 0 20",
    ]);
  });
  it("begins with the first attempt where the items are not known", () => {
    expect(drawn([], [attempt("900", 12, 13, "DONE"), attempt("7", 10, 11, "DONE")])).toEqual([
      "900 run 2 3 DONE",
      "7 run 0 1 DONE",
    ]);
  });
});
