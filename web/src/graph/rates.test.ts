import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { kept, pacesOf, type Sample, sampleOf, usePaced } from "./rates";

const counts = (waiting: number, running: number, done: number, failed = 0) => ({
  name: "fetch",
  after: [],
  waiting,
  running,
  done,
  failed,
  skipped: 0,
});
const sample = (at: number, ...numbers: Parameters<typeof counts>): Sample => sampleOf([counts(...numbers)], at);

describe("pacesOf", () => {
  it("counts what came and what ended", () => {
    const samples = [sample(0, 100, 0, 0), sample(4000, 60, 10, 40, 2), sample(10_000, 50, 10, 85, 5)];
    expect(pacesOf(samples, 10_000).get("fetch")).toEqual({ perSecondIn: 5, perSecond: 9 });
  });
  it("falls while nothing happens, and is 0 after a minute", () => {
    const samples = [sample(0, 30, 0, 0), sample(1000, 0, 0, 30)];
    expect(pacesOf(samples, 30_000).get("fetch")?.perSecond).toBe(1);
    expect(pacesOf(kept(samples, 90_000), 90_000).get("fetch")?.perSecond).toBe(0);
    expect(pacesOf([sample(0, 30, 0, 0)], 1000).get("fetch")).toBeUndefined();
  });
  it("is never below 0: items that run again take numbers back", () => {
    const samples = [sample(0, 0, 0, 30), sample(1000, 30, 0, 0)];
    expect(pacesOf(samples, 2000).get("fetch")).toEqual({ perSecondIn: 0, perSecond: 0 });
  });
});

it("keeps a minute, and what there was before it", () => {
  const samples = [0, 20_000, 50_000, 95_000].map((at) => sample(at, 0, 0, 0));
  expect(kept(samples, 100_000).map(({ at }) => at)).toEqual([20_000, 50_000, 95_000]);
});

describe("usePaced", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it("measures from one answer to the next, and not once the job has ended", () => {
    const { result, rerender } = renderHook(({ steps, at, isOpen }) => usePaced(steps, at, isOpen), {
      initialProps: { steps: [counts(10, 0, 0)], at: 0, isOpen: true },
    });
    expect(result.current![0]).not.toHaveProperty("perSecond");
    vi.setSystemTime(2000);
    rerender({ steps: [counts(6, 0, 4)], at: 2000, isOpen: true });
    expect(result.current![0]).toMatchObject({ perSecondIn: 0, perSecond: 2, isPaced: true });
    rerender({ steps: [counts(0, 0, 10)], at: 3000, isOpen: false });
    expect(result.current![0]).not.toHaveProperty("perSecond");
  });
});
