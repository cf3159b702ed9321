import { expect, test } from "vitest";
import { compared, unifiedLines } from "./lines";

test("what was added and removed stands between what stayed", () => {
  expect(unifiedLines("a\nb\nc", "a\nx\nc")).toBe(" a\n-b\n+x\n c");
  expect(unifiedLines("same", "same")).toBe("");
});

test("lines far from a change are left out", () => {
  const many = Array.from({ length: 20 }, (_, n) => String(n));
  expect(unifiedLines(many.join("\n"), many.with(10, "ten").join("\n"))).toBe(
    " …\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n …",
  );
});

test("both texts can be read from the lines, whatever they are, and no line is changed without need", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 300; round += 1) {
    const text = () => Array.from({ length: random(12) }, () => String.fromCharCode(97 + random(4)));
    const [before, after] = [text(), text()];
    const lines = compared(before, after);
    expect(lines.filter(([sign]) => sign !== "+").map(([, line]) => line)).toEqual(before);
    expect(lines.filter(([sign]) => sign !== "-").map(([, line]) => line)).toEqual(after);
    expect(lines.filter(([sign]) => sign === " ").length).toBe(longestCommon(before, after));
  }
});

test("texts that have nothing in common are compared at once", () => {
  const all = (mark: string) => Array.from({ length: 5000 }, (_, n) => `${mark}${n}`);
  expect(compared(all("a"), all("b")).length).toBe(10_000);
});

function longestCommon(one: string[], other: string[]): number {
  let row = new Array<number>(other.length + 1).fill(0);
  for (const line of one) {
    const next = [0];
    for (const [at, each] of other.entries())
      next.push(line === each ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!));
    row = next;
  }
  return row.at(-1)!;
}
