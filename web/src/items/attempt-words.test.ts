import { describe, expect, it } from "vitest";
import type { Attempt, Item, ItemStep } from "~/api/items";
import { attemptWords, nextWords } from "./attempt-words";

const at = (second: number) => new Date(Date.UTC(2026, 4, 4, 14, 0, second)).toISOString();

function attempt(step: string, from: number, to: number, outcome: Attempt["outcome"]): Attempt {
  return { step, startedAt: at(from), claimedAt: at(from), endedAt: at(to), outcome, attempt: 1 } as Attempt;
}

function item(state: ItemStep["state"], more: Partial<ItemStep> = {}): Item {
  const step = { name: "fetch", after: [], optional: false, state, worker: "w1", nextAt: null, ...more };
  return { steps: [step, { ...step, name: "count", after: ["fetch"], state: "BLOCKED" }] } as unknown as Item;
}

describe("nextWords", () => {
  const failed = attempt("fetch", 1, 2, "ERROR");

  it("says when it was tried again, and what does not count", () => {
    const later = attempt("fetch", 14, 15, "DONE");
    expect(nextWords(item("DONE"), failed, later)).toBe("Tried again after 12 s.");
    expect(nextWords(item("DONE"), attempt("fetch", 1, 14, "THROTTLED"), later)).toBe(
      "Tried again at once. This one did not count.",
    );
  });
  it.each<[ItemStep["state"], Partial<ItemStep>, string]>([
    ["SCHEDULED", { nextAt: at(40) }, "Tried again at its time:"],
    ["SCHEDULED", {}, "Waits for a signal."],
    ["WAITING", {}, "In line for the next attempt."],
    ["RUNNING", {}, "Tried again: it runs on w1."],
    ["HELD", {}, "Paused: it is tried again when the item is resumed."],
    ["FAILED", {}, "No further attempt: the item has failed."],
    ["FAILED", { optional: true }, "No further attempt: the step is optional, and the item goes on."],
    ["NOT_FOUND", {}, "No further attempt: the item ended as not found."],
    ["DONE", {}, "Then count."],
  ])("says what comes next while the step is %s", (state, more, words) => {
    expect(nextWords(item(state, more), failed, undefined)).toBe(words);
  });
  it("knows the last step", () => {
    const whole = item("DONE");
    whole.steps[1]!.state = "DONE";
    expect(nextWords(whole, attempt("count", 3, 4, "DONE"), undefined)).toBe("It was the last step.");
  });
});

it("names the number of an attempt", () => {
  expect([attemptWords(2, 4), attemptWords(2, undefined), attemptWords(5, 4)]).toEqual([
    "attempt 2 of 4",
    "attempt 2",
    "attempt 5",
  ]);
});
