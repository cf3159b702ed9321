import { expect, test, vi } from "vitest";
import { type LiveEvent, Merge } from "./merge";

test("however events are cut into batches, the last of each thing counts", () => {
  vi.useFakeTimers();
  const events = Array.from({ length: 60 }, (_, index): LiveEvent => {
    const late = index % 7 === 0 ? -30 : 0; // committed after changes that began later
    return { kind: "job", data: { id: String(index % 5), updatedAt: String(100 + index + late), index } };
  });
  for (let every = 1; every <= 20; every++) {
    const found = new Map<string, number>();
    const merge = new Merge((batch) => {
      for (const job of batch.get("job") as { id: string; index: number }[]) found.set(job.id, job.index);
    });
    events.forEach((event, index) => {
      merge.add(event);
      if (index % every === 0) merge.flush();
    });
    merge.flush();
    expect([...found].sort()).toEqual([0, 1, 2, 3, 4].map((id) => [String(id), 55 + id]));
  }
  vi.useRealTimers();
});

test("the first event is passed on at once, what follows a quarter of a second later, merged", () => {
  vi.useFakeTimers();
  const batches: unknown[][] = [];
  const merge = new Merge((batch) => batches.push(batch.get("item") ?? []));
  const item = (id: number, n: number) => merge.add({ kind: "item", data: { jobId: "1", id: String(id), n } });
  item(0, 0);
  vi.advanceTimersByTime(1);
  expect(batches).toEqual([[{ jobId: "1", id: "0", n: 0 }]]);
  for (let n = 0; n < 10_000; n++) item(n % 100, n);
  vi.advanceTimersByTime(248);
  expect(batches.length).toBe(1);
  vi.advanceTimersByTime(2);
  expect(batches[1]?.length).toBe(100);
  vi.advanceTimersByTime(1000);
  item(1, 1);
  vi.advanceTimersByTime(1);
  expect(batches.length).toBe(3);
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
