import { describe, expect, it } from "vitest";
import type { GridRow } from "~/api/grid";
import type { ShownColumn } from "./columns";
import { changedCells } from "./flash";

const row = (id: string, status: GridRow["status"], ...cells: string[]): GridRow => ({ id, status, cells });
const columns = [2, 0].map((place) => ({ place }) as ShownColumn);

describe("changed cells", () => {
  it("are those that are shown and differ, and the status", () => {
    expect(changedCells(row("1", "PENDING", "a", "b", "c"), row("1", "DONE", "A", "B", "c"), columns)).toEqual([0, 2]);
    expect(changedCells(row("1", "DONE", "a", "b", "c"), row("1", "DONE", "a", "B", "c"), columns)).toEqual([]);
  });

  it("are none when another row has come to the place, or the first", () => {
    expect(changedCells(row("1", "DONE", "a"), row("2", "DONE", "b"), columns)).toEqual([]);
    expect(changedCells(undefined, row("1", "DONE", "a"), columns)).toEqual([]);
  });
});
