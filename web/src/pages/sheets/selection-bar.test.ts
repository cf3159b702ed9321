import { describe, expect, it } from "vitest";
import { rangesOf } from "./selection-bar";

describe("selected rows", () => {
  it("are numbers and ranges for an export", () => {
    expect(rangesOf(new Set(["9", "3", "8", "7", "12"]))).toBe("3,7-9,12");
    expect(rangesOf(new Set())).toBe("");
  });
});
