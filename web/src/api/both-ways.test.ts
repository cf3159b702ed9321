import { expect, test } from "vitest";
import { bothWays } from "./both-ways";

test("where pages began is remembered for the newest ones only", () => {
  const ways = bothWays<{ next: string | null }>(["items", "pending"]);
  const ask = (begin: string, next: string) => ways.getNextPageParam({ next }, [], begin);
  ask("", "first");
  expect(ways.getPreviousPageParam({ next: null }, [], "first")).toBe("");
  for (let n = 0; n < 20_000; n++) ask(String(n), String(n + 1)); // a list that is asked for again and again
  expect(ways.getPreviousPageParam({ next: null }, [], "20000")).toBe("19999");
  expect(ways.getPreviousPageParam({ next: null }, [], "first")).toBeUndefined();
});

test("a page that is looked at again is not forgotten before others", () => {
  const ways = bothWays<{ next: string | null }>(["items", "12"]);
  for (let n = 0; n < 20_000; n++) {
    ways.getNextPageParam({ next: "kept" }, [], "begin");
    ways.getNextPageParam({ next: `other ${n}` }, [], "begin");
  }
  expect(ways.getPreviousPageParam({ next: null }, [], "kept")).toBe("begin");
});
