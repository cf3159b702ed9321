import { describe, expect, it } from "vitest";
import { type Span, scaleOf } from "./timeline";

const run = (from: number, to: number): Span => ({ row: "a", kind: "run", from, to, title: "" });

describe("scaleOf", () => {
  it("folds gaps that are longer than three times the longest run", () => {
    const scale = scaleOf([run(0, 1), run(2, 3), run(60, 62)]);
    expect(scale.folds).toEqual([{ from: 3, to: 60 }]);
    expect(scale.place(60)).toBe(5);
    expect(scale.length).toBe(7);
  });
  it("folds nothing when asked, or when there is nothing to fold", () => {
    expect(scaleOf([run(0, 1), run(60, 62)], true).length).toBe(62);
    expect(scaleOf([]).folds).toEqual([]);
  });
  it("folds the wait before the first and after the last run", () => {
    const wait: Span = { row: "b", kind: "line", from: 11, to: 100, title: "" };
    expect(scaleOf([run(10, 11), wait]).folds).toEqual([
      { from: 0, to: 10 },
      { from: 11, to: 100 },
    ]);
  });
  it("never goes back", () => {
    const scale = scaleOf([run(5, 6), run(50, 51), run(400, 402)]);
    let before = -1;
    for (let second = 0; second <= 500; second += 0.5) {
      expect(scale.place(second)).toBeGreaterThanOrEqual(before);
      before = scale.place(second);
    }
  });
  it("leaves a fold room for its words, also beside short runs and waits", () => {
    const wait: Span = { row: "b", kind: "line", from: 0.901, to: 30, title: "" };
    const { folds, length, place } = scaleOf([run(0.9, 0.901), wait]);
    expect(folds).toEqual([{ from: 0.901, to: 30 }]);
    expect((place(30) - place(0.901)) / length).toBeGreaterThan(0.1);
  });
});
