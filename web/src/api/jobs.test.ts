import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apply } from "~/live/apply";
import type { Job } from "./jobs";
import "./jobs";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const counters = { total: 1, pending: 1, done: 0, skipped: 0, notFound: 0, error: 0 };
const running = { id: "7", owner: "ann", state: "RUNNING", updatedAt: "1", parentId: null, counters } as Job;
const ended: Job = { ...running, state: "DONE", updatedAt: "2" };

/** What is seen of a query whose answers take a second, if its job ends while the given answer is under way. */
async function seen<T>(
  queryKey: readonly unknown[],
  answer: (job: Job) => T,
  duringAnswer: number,
): Promise<T | undefined> {
  const client = new QueryClient();
  let present = running;
  const observer = new QueryObserver(client, {
    queryKey,
    queryFn: () => {
      const read = answer(present);
      return new Promise<T>((resolve) => setTimeout(() => resolve(read), 1000));
    },
  });
  const stop = observer.subscribe(() => {});
  for (let n = 1; n < duringAnswer; n++) {
    await vi.advanceTimersByTimeAsync(1000);
    void observer.refetch();
  }
  await vi.advanceTimersByTimeAsync(500);
  present = ended;
  apply(client, { kind: "job", values: [ended] });
  await vi.advanceTimersByTimeAsync(60_000);
  stop();
  return observer.getCurrentResult().data;
}

test.each([1, 2])("the end of a job is seen although answer %i, which is older, comes later", async (duringAnswer) => {
  expect(await seen(["job", "7"], (job) => job, duringAnswer)).toEqual(ended);
  const listed = await seen(["jobs", { userId: "all" }], (job) => ({ jobs: [job], next: null }), duringAnswer);
  expect(listed?.jobs).toEqual([ended]);
});
