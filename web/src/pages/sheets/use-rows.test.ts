import { describe, expect, it } from "vitest";
import { nextSort, readSort } from "./use-rows";

describe("the order of rows", () => {
  it("goes up, down, and back to that of the file", () => {
    expect(nextSort(undefined, "own:Price")).toBe("own:Price");
    expect(nextSort("own:Price", "own:Price")).toBe("-own:Price");
    expect(nextSort("-own:Price", "own:Price")).toBeUndefined();
    expect(nextSort("-own:Price", "own:Name")).toBe("own:Name");
  });

  it("is read from the address", () => {
    expect(readSort("-found:score")).toEqual({ key: "found:score", isDown: true });
    expect(readSort(undefined).key).toBeUndefined();
  });
});
