import { expect, test } from "vitest";
import { flow, parts, stacked } from "./river";

const foot = (band: { y: number; height: number }) => band.y + band.height;

test("bands fill the column by their shares", () => {
  const bands = stacked([3, 1], 100, 20);
  expect(bands).toEqual([
    { y: 0, height: 60 },
    { y: 80, height: 20 },
  ]);
});

test("a small share is drawn, and the column is not longer for it", () => {
  const bands = stacked([1_000_000, 1, 0], 100, 5);
  expect(bands[1]!.height).toBe(3);
  expect(bands[2]!.height).toBe(3);
  expect(foot(bands[2]!)).toBeCloseTo(100);
});

test("without any flow the bands are spread over the column", () => {
  const bands = stacked([0, 0], 100, 10);
  expect(bands.map((band) => band.height)).toEqual([3, 3]);
  expect(bands[1]!.y).toBe(55);
});

test("the parts of a band are the band", () => {
  const found = parts({ y: 10, height: 40 }, [1, 0, 3]);
  expect(found).toEqual([
    { y: 10, height: 10 },
    { y: 20, height: 0 },
    { y: 20, height: 30 },
  ]);
  expect(parts({ y: 0, height: 9 }, [0, 0]).map((part) => part.height)).toEqual([0, 0]);
});

test("a flow is a closed path", () => {
  expect(flow(0, { y: 0, height: 2 }, 10, { y: 4, height: 6 })).toBe("M0 0 C5 0 5 4 10 4 L10 10 C5 10 5 2 0 2Z");
});
