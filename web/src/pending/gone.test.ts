import { describe, expect, it } from "vitest";
import type { ItemRow } from "~/api/items";
import { keyOf, withGone } from "./gone";

const row = (jobId: number, id: number) => ({ jobId: String(jobId), id: String(id) }) as ItemRow;
const keys = (rows: ItemRow[]) => rows.map(keyOf);

describe("pending rows", () => {
  it("are shown once, also when an item is on two pages", () => {
    expect(keys(withGone([row(1, 1), row(1, 2), row(1, 1)], [], new Set()))).toEqual(["1 1", "1 2"]);
  });

  it("of deleted jobs stay for a while, at their place; those that ended go", () => {
    const before = [row(1, 1), row(2, 1), row(2, 2), row(10, 1)];
    expect(keys(withGone([row(10, 1)], before, new Set(["2"])))).toEqual(["2 1", "2 2", "10 1"]);
    expect(keys(withGone([row(10, 1)], before, new Set()))).toEqual(["10 1"]);
  });
});
