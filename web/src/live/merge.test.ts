import { expect, test, vi } from "vitest";
import { type LiveEvent, Merge } from "./merge";

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** The last state of each thing, however its events arrive. */
function mergedFrom(events: LiveEvent[], everyBatch: number): Map<string, unknown> {
  const found = new Map<string, { updatedAt: string }>();
  const merge = new Merge((batch) => {
    for (const value of batch.get("job") ?? []) {
      const job = value as { id: string; updatedAt: string };
      const before = found.get(job.id);
      if (!before || before.updatedAt <= job.updatedAt) found.set(job.id, job);
    }
  });
  events.forEach((event, index) => {
    merge.add(event);
    if (index % everyBatch === 0) merge.flush();
  });
  merge.flush();
  return found;
}

test("any order and any repetition of events gives the same state", () => {
  vi.useFakeTimers();
  for (let seed = 1; seed <= 50; seed++) {
    const random = seeded(seed);
    const events = Array.from({ length: 60 }, (_, index): LiveEvent => {
      const id = String(Math.floor(random() * 5));
      return { kind: "job", data: { id, updatedAt: new Date(1e12 + index * 1000).toISOString(), index } };
    });
    const expected = mergedFrom(events, 1);
    const shuffled = [...events, ...events.slice(0, 20)].sort(() => random() - 0.5);
    expect(mergedFrom(shuffled, 1 + Math.floor(random() * 9))).toEqual(expected);
  }
  vi.useRealTimers();
});

test("a burst is passed on once, a quarter of a second later", () => {
  vi.useFakeTimers();
  const batches: Map<string, unknown[]>[] = [];
  const merge = new Merge((batch) => batches.push(batch));
  for (let n = 0; n < 10_000; n++)
    merge.add({ kind: "item", data: { jobId: "1", id: String(n % 100), updatedAt: String(n) } });
  expect(batches).toEqual([]);
  vi.advanceTimersByTime(250);
  expect(batches.map((batch) => batch.get("item")?.length)).toEqual([100]);
  vi.useRealTimers();
});

test("events without an id all count", () => {
  const batches: Map<string, unknown[]>[] = [];
  const merge = new Merge((batch) => batches.push(batch));
  merge.add({ kind: "overview", data: { waiting: 1 } });
  merge.add({ kind: "overview", data: { waiting: 2 } });
  merge.flush();
  expect(batches[0]?.get("overview")).toEqual([{ waiting: 1 }, { waiting: 2 }]);
});
