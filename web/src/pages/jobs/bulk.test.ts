import { expect, it } from "vitest";
import type { Job } from "~/api/jobs";
import { legal, onEach } from "./bulk";

const job = (state: Job["state"], error = 0) => ({ state, counters: { error } }) as Job;

it("offers what is possible with a job", () => {
  const acts = (of: Job) => (["pause", "resume", "cancel", "retry"] as const).filter((act) => legal[act](of)).join(" ");
  expect(acts(job("RUNNING"))).toBe("pause cancel");
  expect(acts(job("PAUSED", 2))).toBe("resume cancel retry");
  expect(acts(job("FAILED", 1))).toBe("retry");
  expect(acts(job("DONE"))).toBe("");
});

it("goes on after a failure, and says how many failed", async () => {
  const done: number[] = [];
  const act = async (one: number) => {
    if (one % 2 === 0) throw new Error(`no ${one}`);
    done.push(one);
  };
  await expect(onEach([1, 2, 3, 4], act)).rejects.toThrow("no 2 (2 jobs of 4)");
  expect(done).toEqual([1, 3]);
  expect(await onEach([1, 3], act)).toBe(2);
});

it("begins with all at once where nothing may be left for later", async () => {
  const begun: number[] = [];
  const act = (one: number) => {
    begun.push(one);
    return one === 2 ? Promise.reject(new Error("no")) : new Promise(() => {});
  };
  void onEach([1, 2, 3], act, { atOnce: true });
  expect(begun).toEqual([1, 2, 3]);
});
