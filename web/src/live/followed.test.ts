import { expect, test } from "vitest";
import { type Followable, followed } from "./followed";

const job = (jobId: string, state: "waits" | "runs" | "ended"): Followable => ({
  jobId,
  isOpen: state !== "ended",
  isRunning: state === "runs",
});

test("of many, those that run are followed, then those that run next", () => {
  const listed = [job("5", "waits"), job("4", "waits"), job("3", "waits"), job("2", "runs"), job("1", "ended")];
  expect(followed([], listed, 3)).toEqual(["2", "3", "4"]);
});

test("the topics change only for a job that runs, or while there is room", () => {
  const before = ["1", "2"];
  expect(followed(before, [job("3", "waits"), job("2", "runs"), job("1", "ended")], 2)).toBe(before);
  expect(followed(before, [job("3", "runs"), job("2", "runs"), job("1", "ended")], 2)).toEqual(["3", "2"]);
  expect(followed(before, [job("3", "waits"), job("2", "runs"), job("1", "ended")], 3)).toEqual(["2", "3"]);
});
