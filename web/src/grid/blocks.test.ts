import { describe, expect, it, vi } from "vitest";
import { Blocks } from "./blocks";

interface Asked {
  first: number;
  signal: AbortSignal;
  answer: (rows?: number[]) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

/** Blocks of 10 of 1,000 rows, answered when the test says so. */
function blocks() {
  const asked: Asked[] = [];
  const made = new Blocks<number>(
    1000,
    (first, size, signal) =>
      new Promise((resolve, reject) => {
        const turn = () => new Promise<void>((done) => setTimeout(done));
        asked.push({
          first,
          signal,
          answer: (rows = Array.from({ length: size }, (_, index) => first + index)) => {
            resolve({ rows, total: 1000 });
            return turn();
          },
          fail: (error) => {
            reject(error);
            return turn();
          },
        });
      }),
    10,
  );
  return { made, asked };
}

describe("blocks", () => {
  it("load what is seen, and then the next in the direction of travel", async () => {
    const { made, asked } = blocks();
    made.want(95, 105, 1);
    expect(asked.map((each) => each.first)).toEqual([90, 100]);
    await asked[0]!.answer();
    expect(asked.map((each) => each.first)).toEqual([90, 100, 110]);
    expect(made.at(95)).toBe(95);
    expect(made.at(105)).toBeUndefined();
  });

  it("load nothing while nothing is seen", () => {
    const { made, asked } = blocks();
    made.want(0, 0);
    expect(asked).toEqual([]);
  });

  it("abort what is no longer wanted", () => {
    const { made, asked } = blocks();
    made.want(0, 10);
    made.want(500, 510, -1);
    expect(asked.map((each) => [each.first, each.signal.aborted])).toEqual([
      [0, true],
      [10, true],
      [500, false],
      [490, false],
    ]);
  });

  it("keep 40, those that were used last", async () => {
    const { made, asked } = blocks();
    for (let block = 0; block < 60; block++) {
      made.want(block * 10, block * 10 + 10, -1);
      await asked.at(-1)!.answer();
      made.want(0, 10, -1);
      if (block === 0) expect(made.at(0)).toBe(0);
    }
    expect(made.at(0)).toBe(0);
    expect(made.at(590)).toBe(590);
    expect(made.at(100)).toBeUndefined();
    expect(
      Array.from({ length: 60 }, (_, block) => made.at(block * 10)).filter((row) => row !== undefined),
    ).toHaveLength(40);
  });

  it("are told about, and keep the error of a request until the next one succeeds", async () => {
    const { made, asked } = blocks();
    const heard = vi.fn();
    made.subscribe(heard);
    made.want(990, 1000);
    await asked[0]!.fail(new Error("no"));
    expect(made.error).toEqual(new Error("no"));
    made.want(990, 1000);
    await asked[1]!.answer();
    expect(made.error).toBeUndefined();
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it("load again what may have changed, without dropping it", async () => {
    const { made, asked } = blocks();
    made.want(0, 10, -1);
    await asked[0]!.answer();
    made.refresh(0, 10);
    expect(made.at(3)).toBe(3);
    await asked[1]!.answer(Array.from({ length: 10 }, () => 7));
    expect(made.at(3)).toBe(7);
  });

  it("load again once more when a request was on its way, and forget what is not seen", async () => {
    const { made, asked } = blocks();
    made.want(0, 10, -1);
    await asked[0]!.answer();
    made.want(10, 20, -1);
    made.refresh(10, 20);
    expect(made.at(0)).toBeUndefined();
    expect(asked).toHaveLength(2);
    await asked[1]!.answer();
    expect(asked.map((each) => each.first)).toEqual([0, 10, 10]);
    await asked[2]!.answer(Array.from({ length: 10 }, () => 7));
    expect(made.at(15)).toBe(7);
    expect(asked).toHaveLength(3);
  });
});
