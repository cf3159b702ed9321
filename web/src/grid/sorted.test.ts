import { describe, expect, it } from "vitest";
import type { GridPage } from "~/api/grid";
import { compareCells, Sorted } from "./sorted";

const pages: Record<string, [string, string | null][]> = {
  "": [
    ["1", "9"],
    ["2", null],
    ["3", "10"],
  ],
  more: [
    ["4", "-2"],
    ["5", "9"],
  ],
};

function sorted(isDown: boolean) {
  const rows = new Sorted(
    (after) => {
      const found = pages[after ?? ""]!.map(([id, price]) => ({ id, status: "DONE" as const, cells: ["x", price] }));
      return Promise.resolve({ rows: found, next: after ? null : "more" } as unknown as GridPage);
    },
    1,
    "number",
    isDown,
  );
  rows.want();
  return rows;
}

const ids = (rows: Sorted) => Array.from({ length: rows.count }, (_, index) => rows.at(index)?.id);
const turn = () => new Promise<void>((done) => setTimeout(done));

describe("sorted rows", () => {
  it("are there once all are loaded, by number, and the same in the order of the file", async () => {
    const rows = sorted(false);
    expect(rows.count).toBe(0);
    await turn();
    expect(ids(rows)).toEqual(["4", "1", "5", "3", "2"]);
  });

  it("have empty cells last also when they go down", async () => {
    const rows = sorted(true);
    await turn();
    expect(ids(rows)).toEqual(["3", "1", "5", "4", "2"]);
  });

  it("compare texts without their case, and numbers inside them as numbers", () => {
    expect(compareCells("Lamp 10", "lamp 9", "text", false)).toBeGreaterThan(0);
    expect(compareCells("n/a", "12", "number", false)).toBeGreaterThan(0);
    expect(compareCells("", "a", "text", true)).toBeGreaterThan(0);
  });
});
