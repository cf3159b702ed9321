import { expect, test } from "vitest";
import { placeOf, shareOf, WEIGHTS } from "./weights";

test("every weight has a place on the slider", () => {
  expect(WEIGHTS[placeOf(1)]).toBe(1);
  expect(WEIGHTS[placeOf(3.4)]).toBe(5);
  expect(WEIGHTS[placeOf(0.01)]).toBe(0.1);
  expect(WEIGHTS[placeOf(1000)]).toBe(100);
});

test("the share is the weight among all", () => {
  expect(shareOf(1, [1])).toBe(0.5);
  expect(shareOf(3, [1])).toBe(0.75);
  expect(shareOf(2, [])).toBe(1);
});
