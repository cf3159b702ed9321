import { expect, test } from "vitest";
import { withPlace } from "./reading-place";

test("the place of a text is that of its last reading, and a text at its begin has none", () => {
  expect(withPlace([["1", 3]], "2", 5)).toEqual([
    ["1", 3],
    ["2", 5],
  ]);
  expect(withPlace([["1", 3]], "1", 8)).toEqual([["1", 8]]);
  expect(withPlace([["1", 3]], "1", 0)).toEqual([]);
  const many = Array.from({ length: 100 }, (_, n): [string, number] => [String(n), 1]);
  expect(withPlace(many, "new", 2).map(([id]) => id)).toEqual([...many.slice(1).map(([id]) => id), "new"]);
});
