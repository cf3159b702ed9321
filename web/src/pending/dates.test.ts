import { expect, it } from "vitest";
import { setZone } from "~/format";
import { timesOf } from "./dates";

it("takes the last day as a whole", () => {
  const { from, to } = timesOf({ from: "2026-05-17", to: "2026-05-17" });
  expect(new Date(from!).toString()).toContain("May 17 2026 00:00:00");
  expect(new Date(to!).toString()).toContain("May 18 2026 00:00:00");
  expect(timesOf({})).toEqual({});
  expect(timesOf({ from: "yesterday", to: "2026" })).toEqual({});
});

it("means days of the chosen time zone, also where the clock changes", () => {
  setZone("America/New_York");
  expect(timesOf({ from: "2026-03-08", to: "2026-03-08" })).toEqual({
    from: "2026-03-08T05:00:00.000Z",
    to: "2026-03-09T04:00:00.000Z",
  });
  setZone("Asia/Kolkata");
  expect(timesOf({ from: "2026-05-17" })).toEqual({ from: "2026-05-16T18:30:00.000Z" });
  setZone(undefined);
});
