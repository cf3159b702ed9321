import { expect, test } from "vitest";
import type { StepController } from "~/api/ops";
import { boundsWords, inputsWords, whole } from "./controller-words";

const step = (inputs: Partial<StepController["inputs"]>, running = 3): StepController => ({
  pipeline: "pages",
  step: "fetch",
  workers: 1,
  running,
  concurrency: { value: 12, least: 1, most: 64 },
  claimSize: { value: 24, least: 1, most: 2000 },
  leaseS: { value: 30, least: 30, most: 300 },
  inputs: {
    latencyMs: 40,
    itemMs: 40,
    failureShare: 0,
    retrySpacing: 1,
    machineShare: 1,
    heartbeatGapS: null,
    ...inputs,
  },
  history: { running: [], concurrency: [], claimSize: [], itemMs: [], leaseS: [] },
});

test("bounds say whether the value is at one of them", () => {
  expect(boundsWords({ value: 12, least: 1, most: 64 }, whole)).toBe("of 1 to 64");
  expect(boundsWords({ value: 64, least: 1, most: 64 }, whole)).toBe("of 1 to 64, the most");
  expect(boundsWords({ value: 1, least: 1, most: 64 }, whole)).toBe("of 1 to 64, the least");
  expect(boundsWords({ value: 4, least: 4, most: 4 }, whole)).toBe("fixed");
  expect(boundsWords({ value: 4, least: null, most: null }, whole)).toBe("");
});

test("inputs are sentences, and only those that have an effect", () => {
  expect(inputsWords(step({}))).toEqual([
    "Successful attempts take 40 ms; slower ones lower the concurrency.",
    "An item takes 40 ms: a claim is what the places do in a moment.",
  ]);
  expect(inputsWords(step({ latencyMs: null, itemMs: null, machineShare: 0.4 }))).toEqual([
    "No attempt has succeeded yet: the first values are guesses.",
    "The busiest machine claims 40 % of the usual.",
  ]);
  expect(inputsWords(step({ failureShare: 0.8, retrySpacing: 2.8, heartbeatGapS: 7.5 }, 12))).toEqual([
    "Successful attempts take 40 ms; slower ones lower the concurrency, and all places are in use.",
    "An item takes 40 ms: a claim is what the places do in a moment.",
    "80 % of the last attempts failed: pauses before retries are 2.8 times as long.",
    "Heartbeats came at most 7.5 s apart: a lease lasts at least twice that.",
  ]);
});
