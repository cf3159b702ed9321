import { expect, test } from "vitest";
import type { Letter } from "~/api/home";
import { day, masked, troubles } from "./group";

const letter = (itemId: string, reason: string | null, step = "fetch"): Letter => ({
  at: "2026-11-16T12:00:00Z",
  jobId: "1",
  itemId,
  pipeline: "pages",
  step,
  owner: "ann",
  outcome: "ERROR",
  errorClass: "data",
  reason,
  attempt: 1,
});

test("reasons that differ in numbers, addresses and names are one group", () => {
  const found = troubles([
    letter("1", "https://a.example/x answered 503 after 12.5 s"),
    letter("2", "https://b.example/y answered 502 after 3 s"),
    letter("3", "'x.csv' has no header"),
    letter("4", null, "store"),
  ]);
  expect(found.map((each) => [each.reason, each.letters.length])).toEqual([
    ["… answered … after … s", 2],
    ["'x.csv' has no header", 1],
    ["no reason was given", 1],
  ]);
  expect(masked("token 0123456789abcdef is unknown")).toBe("token … is unknown");
});

test("days have names", () => {
  const now = new Date(2026, 10, 16, 9, 30);
  const at = (...parts: [number, number, number, number]) => day(new Date(...parts).toISOString(), now);
  expect([at(2026, 10, 16, 0), at(2026, 10, 15, 23), at(2026, 10, 12, 8)]).toEqual([
    "Today",
    "Yesterday",
    "Thursday, November 12",
  ]);
});
