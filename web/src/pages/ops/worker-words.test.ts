import { expect, test } from "vitest";
import { whyLess, workerState } from "./worker-words";

test("the state of a worker has a word", () => {
  const worker = { isRunning: true, stuck: false, inFlight: 0 };
  expect(workerState(worker).word).toBe("Idle");
  expect(workerState({ ...worker, inFlight: 2 }).word).toBe("Works");
  expect(workerState({ ...worker, stuck: true }).word).toBe("Stuck");
  expect(workerState({ ...worker, isRunning: false, stuck: true }).word).toBe("Vanished");
});

test("a worker that claims less says why", () => {
  expect(whyLess({ share: 1, load: 9 })).toBeUndefined();
  expect(whyLess({})).toBeUndefined();
  expect(whyLess({ share: 0.25, load: 3.2, freeMemory: 0.05, lagMs: 400 })).toBe(
    "Claims 25 % of what it could: 3.2 processes wait for each core, 5 % of memory is free, its loop is 400 ms late.",
  );
});
