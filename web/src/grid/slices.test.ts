import { describe, expect, it } from "vitest";
import type { Slice } from "~/api/grid";
import { runs, sliceWords, worstOf } from "./slices";

const slice = (from: number, to: number, counts: Partial<Slice>): Slice => ({
  from,
  to,
  pending: 0,
  processing: 0,
  done: 0,
  skipped: 0,
  notFound: 0,
  error: 0,
  exact: true,
  ...counts,
});

describe("the ribbon", () => {
  it("has the colour of the worst status of each slice", () => {
    expect(worstOf(slice(1, 10, { done: 9, error: 1 }))).toBe("error");
    expect(worstOf(slice(1, 10, { done: 5, pending: 4, notFound: 1 }))).toBe("notFound");
    expect(worstOf(slice(1, 10, { done: 5, pending: 5 }))).toBe("pending");
    expect(worstOf(slice(1, 10, { done: 10 }))).toBe("done");
  });

  it("draws slices of one colour as one", () => {
    const drawn = runs([slice(1, 10, { done: 10 }), slice(11, 20, { done: 10 }), slice(21, 30, { error: 10 })]);
    expect(drawn).toEqual([
      { from: 1, to: 20, worst: "done" },
      { from: 21, to: 30, worst: "error" },
    ]);
  });

  it("says what is in a slice, and when it is not exact", () => {
    expect(sliceWords(slice(412_001, 414_500, { done: 2467, notFound: 31, error: 2 }))).toBe(
      "Rows 412,001 to 414,500: 2,467 done, 31 not found, 2 failed",
    );
    expect(sliceWords(slice(1, 10, { done: 10, exact: false }))).toBe("Rows 1 to 10: about 10 done");
  });
});
