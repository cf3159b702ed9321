import { describe, expect, it } from "vitest";
import { allOrNone, extended, NOTHING, present, toggled } from "./selection";

const LISTED = ["9", "8", "7", "6"];

describe("a selection", () => {
  it("takes one in and out", () => {
    const one = toggled(NOTHING, "8");
    expect([...one.ids]).toEqual(["8"]);
    expect([...toggled(one, "8").ids]).toEqual([]);
  });
  it("extends from the last one, in both directions", () => {
    expect([...extended(toggled(NOTHING, "9"), "7", LISTED).ids]).toEqual(["9", "8", "7"]);
    expect([...extended(toggled(NOTHING, "6"), "8", LISTED).ids].sort()).toEqual(["6", "7", "8"]);
  });
  it("is one where there is no last one", () => {
    expect([...extended(NOTHING, "7", LISTED).ids]).toEqual(["7"]);
  });
  it("is all, then none", () => {
    const all = allOrNone(NOTHING, LISTED);
    expect(all.ids.size).toBe(4);
    expect(allOrNone(all, LISTED)).toBe(NOTHING);
  });
  it("loses what has left the list", () => {
    expect([...present({ ids: new Set(["9", "1"]) }, LISTED).ids]).toEqual(["9"]);
    expect(present({ ids: new Set(["1"]), all: true }, LISTED).all).toBeUndefined();
  });
});
