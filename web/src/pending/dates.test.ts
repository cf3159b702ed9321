import { expect, it } from "vitest";
import { timesOf } from "./dates";

it("takes the last day as a whole", () => {
  const { from, to } = timesOf({ from: "2026-05-17", to: "2026-05-17" });
  expect(new Date(from!).toString()).toContain("May 17 2026 00:00:00");
  expect(new Date(to!).toString()).toContain("May 18 2026 00:00:00");
  expect(timesOf({})).toEqual({});
});
