import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Draft, DraftContent } from "~/api/articles";
import { DraftKeeper, type DraftState } from "./draft-keeper";

let sent: string[] = [];
let said: DraftState["is"][] = [];
let answers: (() => Promise<void>)[] = [];

async function send({ content }: DraftContent): Promise<Draft> {
  sent.push(content ?? "");
  await answers.shift()?.();
  return { key: "k", articleId: null, baseVersion: null, title: "", content: "", updatedAt: "2026-01-01T00:00:00Z" };
}

const keeper = () => new DraftKeeper(send, ({ is }) => said.push(is));

beforeEach(() => {
  [sent, said, answers] = [[], [], []];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test("a draft is kept when nobody has typed for a moment", async () => {
  const kept = keeper();
  for (const content of ["a", "ab", "abc"]) kept.change({ content });
  await vi.advanceTimersByTimeAsync(700);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(sent).toEqual(["abc"]);
  expect(said).toEqual(["typing", "typing", "typing", "kept"]);
});

test("somebody who never pauses does not lose more than some seconds", async () => {
  const kept = keeper();
  for (let n = 0; n < 12; n += 1) {
    kept.change({ content: String(n) });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(sent.length).toBe(1);
});

test("one request at a time: what was typed meanwhile follows", async () => {
  let answer = () => {};
  answers.push(() => new Promise((resolve) => (answer = resolve)));
  const kept = keeper();
  kept.change({ content: "a" });
  kept.flush();
  kept.change({ content: "ab" });
  await vi.advanceTimersByTimeAsync(2000);
  expect(sent).toEqual(["a"]);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual(["a", "ab"]);
});

test("what could not be kept is tried again", async () => {
  answers.push(() => Promise.reject(new Error("no")));
  const kept = keeper();
  kept.change({ content: "a" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(said.at(-1)).toBe("failed");
  await vi.advanceTimersByTimeAsync(5000);
  expect(sent).toEqual(["a", "a"]);
  expect(said.at(-1)).toBe("kept");
});

test("after the end nothing is kept, and what is under way is waited for", async () => {
  let answer = () => {};
  answers.push(() => new Promise((resolve) => (answer = resolve)));
  const kept = keeper();
  kept.change({ content: "a" });
  kept.flush();
  let isOver = false;
  void kept.stop().then(() => {
    isOver = true;
  });
  kept.change({ content: "b" });
  await vi.advanceTimersByTimeAsync(9000);
  expect(isOver).toBe(false);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect([isOver, sent]).toEqual([true, ["a"]]);
});
