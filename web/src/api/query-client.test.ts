import { QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppQueryClient } from "./query-client";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A list on a server that answers with what it has when it is asked, a second later. */
function slowList(key = "list", takes = 1000) {
  const server = { list: "without", asked: 0, cancelled: 0 };
  const options = {
    queryKey: [key],
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      const { list } = server;
      server.asked++;
      signal.addEventListener("abort", () => server.cancelled++);
      return new Promise<string>((resolve) => setTimeout(() => resolve(list), takes));
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

test("a list is asked for again after its own first answer, and does not wait for a slower one", async () => {
  const client = new AppQueryClient();
  const lists = [slowList(), slowList("slow", 10_000), slowList("known", 10_000)] as const;
  const [{ server }, slow, known] = lists;
  client.setQueryData(known.options.queryKey, "without");
  const stops = lists.map(({ options }) => new QueryObserver(client, options).subscribe(() => {}));
  await vi.advanceTimersByTimeAsync(500);
  for (const list of lists) list.server.list = "with";
  const invalidated = client.invalidateQueries();
  await vi.advanceTimersByTimeAsync(1600);
  expect(client.getQueryData(["list"])).toBe("with");
  await vi.advanceTimersByTimeAsync(20_000);
  expect([client.getQueryData(["slow"]), client.getQueryData(["known"])]).toEqual(["with", "with"]);
  expect([server.asked, slow.server.asked]).toEqual([2, 2]);
  await invalidated;
  for (const stop of stops) stop();
});
