import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apply } from "~/live/apply";
import "./items";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How often each of these is asked for when an event tells of job 7. */
async function askedAgain(
  total: number,
  keys: unknown[][],
  events = [{ state: "PAUSED", pending: 1 }],
): Promise<number[]> {
  const client = new QueryClient();
  const asked = keys.map(() => 0);
  const stops = keys.map((queryKey, place) => {
    const queryFn = async () => ++asked[place]!;
    return new QueryObserver(client, { queryKey, queryFn }).subscribe(() => {});
  });
  await vi.advanceTimersByTimeAsync(0);
  for (const { state, pending } of events) {
    apply(client, { kind: "job", values: [{ id: "7", state, counters: { total, pending } }] });
    await vi.advanceTimersByTimeAsync(5000);
  }
  for (const stop of stops) stop();
  return asked.map((times) => times - 1);
}

const OF_JOB = [
  ["items", "7", []],
  ["item", "7", "1"],
  ["graph", "7"],
  ["why", "7", ""],
];

test("a job that is paused changes what its items wait for, although no item has changed", async () => {
  expect(await askedAgain(3, [...OF_JOB, ["graph", "8"]])).toEqual([1, 1, 1, 1, 0]);
});

test("of a large job, a digest tells that", async () => {
  expect(await askedAgain(1_000_000, OF_JOB)).toEqual([0, 0, 0, 0]);
});

test("events that tell nothing new of a job, or the end of an item, ask for nothing", async () => {
  const event = { state: "RUNNING", pending: 3 };
  expect(await askedAgain(3, OF_JOB, [event, event, { ...event, pending: 2 }])).toEqual([1, 1, 1, 1]);
  expect(await askedAgain(3, OF_JOB, [{ ...event, pending: 3 }])).toEqual([1, 1, 1, 1]); // run again
});
