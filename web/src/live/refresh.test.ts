import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { refreshRarely, refreshSoon } from "./refresh";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a slow answer arrives although events come faster, and what has changed meanwhile is asked for after it", async () => {
  const client = new QueryClient();
  let state = 0;
  let cancelled = 0;
  const seen: unknown[] = [];
  const observer = new QueryObserver(client, {
    queryKey: ["slow"],
    queryFn: ({ signal }) => {
      const answer = state;
      signal.addEventListener("abort", () => cancelled++);
      return new Promise((resolve) => setTimeout(() => resolve(answer), 3000));
    },
  });
  const stop = observer.subscribe(({ data }) => seen.push(data));
  await vi.advanceTimersByTimeAsync(3000);
  for (state = 1; state <= 40; state++) {
    refreshSoon(client, ["slow"]);
    await vi.advanceTimersByTimeAsync(250);
  }
  expect(new Set(seen).size).toBeGreaterThan(3);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.at(-1)).toBe(41);
  expect(cancelled).toBe(0);
  stop();
});

test("what changes before the first answer has come is asked for after it", async () => {
  for (const ask of [refreshSoon, refreshRarely]) {
    const client = new QueryClient();
    let state = "old";
    const seen: unknown[] = [];
    const observer = new QueryObserver(client, {
      queryKey: ["first"],
      queryFn: () => {
        const answer = state;
        return new Promise((resolve) => setTimeout(() => resolve(answer), 3000));
      },
    });
    const stop = observer.subscribe(({ data }) => seen.push(data));
    await vi.advanceTimersByTimeAsync(500);
    state = "new";
    ask(client, ["first"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.at(-1)).toBe("new");
    stop();
  }
});

test("a burst is asked for at once and once more", async () => {
  const client = new QueryClient();
  const asked = vi.spyOn(client, "invalidateQueries");
  for (let n = 0; n < 100; n++) refreshSoon(client, ["list"], ["one"]);
  await vi.advanceTimersByTimeAsync(10);
  expect(asked).toHaveBeenCalledTimes(2); // what comes together is one reason
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveBeenCalledTimes(2);
  for (let n = 0; n < 10; n++) {
    refreshSoon(client, ["list"]);
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(asked).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveBeenCalledTimes(4);
});

test("what is asked for rarely is asked for with growing pauses, and soon again after a quiet time", async () => {
  const client = new QueryClient();
  const asked = vi.spyOn(client, "invalidateQueries");
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const during = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      refreshRarely(client, ["list"]);
      await vi.advanceTimersByTimeAsync(1000);
    }
    return asked.mock.calls.length;
  };
  expect(await during(1)).toBe(1);
  expect(await during(59)).toBe(5); // after 2, 4, 8 and 16 seconds
  expect(await during(120)).toBe(9);
  await vi.advanceTimersByTimeAsync(60_000);
  asked.mockClear();
  expect(await during(3)).toBe(2);
  vi.mocked(Math.random).mockRestore();
});

test("a hidden page does not ask, but knows that it is old", async () => {
  const client = new QueryClient();
  let answers = 0;
  const observer = new QueryObserver(client, { queryKey: ["seen"], queryFn: async () => ++answers });
  const stop = observer.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  refreshSoon(client, ["seen"]);
  await vi.advanceTimersByTimeAsync(5000);
  expect([answers, observer.getCurrentResult().isStale]).toEqual([1, true]);
  hidden.mockRestore();
  stop();
});
