import { QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppQueryClient } from "./query-client";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A list on a server that answers with what it has when it is asked, a second later. */
function slowList() {
  const server = { list: "without", asked: 0, cancelled: 0 };
  const options = {
    queryKey: ["list"],
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      const { list } = server;
      server.asked++;
      signal.addEventListener("abort", () => server.cancelled++);
      return new Promise<string>((resolve) => setTimeout(() => resolve(list), 1000));
    },
  };
  return { server, options };
}

test("an action while a list is first loaded is in the list, and the first answer is not cancelled", async () => {
  const client = new AppQueryClient();
  const { server, options } = slowList();
  const seen: unknown[] = [];
  const stop = new QueryObserver(client, options).subscribe(({ data }) => seen.push(data));
  await vi.advanceTimersByTimeAsync(500);
  server.list = "with";
  void client.invalidateQueries({ queryKey: ["list"] });
  await vi.advanceTimersByTimeAsync(600);
  expect(seen.at(-1)).toBe("without");
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen.at(-1)).toBe("with");
  expect(server).toEqual({ list: "with", asked: 2, cancelled: 0 });
  stop();
});

test("what is loaded for a page that is not shown yet is old when the page shows it", async () => {
  const client = new AppQueryClient();
  const { server, options } = slowList();
  const loaded = client.fetchQuery(options);
  await vi.advanceTimersByTimeAsync(500);
  server.list = "with";
  void client.invalidateQueries({ queryKey: ["list"] });
  await vi.advanceTimersByTimeAsync(600);
  expect(await loaded).toBe("without");
  expect(client.getQueryState(["list"])?.isInvalidated).toBe(true);
  expect(server.asked).toBe(1);
});

test("other queries, and a list that is there already, are asked for once", async () => {
  const client = new AppQueryClient();
  const { server, options } = slowList();
  const stop = new QueryObserver(client, options).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(500);
  void client.invalidateQueries({ queryKey: ["other"] });
  await vi.advanceTimersByTimeAsync(5000);
  expect(server.asked).toBe(1);
  void client.invalidateQueries({ queryKey: ["list"] });
  await vi.advanceTimersByTimeAsync(5000);
  expect(server.asked).toBe(2);
  stop();
});

test("a list is asked for again as soon as its own first answer has come, not the slowest one", async () => {
  const client = new AppQueryClient();
  const { server, options } = slowList();
  const seen: unknown[] = [];
  const slow = { queryKey: ["list", "slow"], queryFn: () => new Promise((resolve) => setTimeout(resolve, 60_000, "")) };
  const stops = [
    new QueryObserver(client, slow).subscribe(() => {}),
    new QueryObserver(client, options).subscribe(({ data }) => seen.push(data)),
  ];
  await vi.advanceTimersByTimeAsync(500);
  server.list = "with";
  void client.invalidateQueries({ queryKey: ["list"] });
  await vi.advanceTimersByTimeAsync(1600);
  expect(seen.at(-1)).toBe("with");
  expect(server.asked).toBe(2);
  for (const stop of stops) stop();
});
