import { describe, expect, it } from "vitest";
import type { LetterGroup } from "~/api/dead-letters";
import { filterOf, isOneGroup, searchOf } from "./filter";

const group = { pipeline: "pages", step: "fetch", errorClass: "data", reason: "row # is empty" } as LetterGroup;

describe("the letters of a group", () => {
  it("are those of its pipeline, step, class and reason", () => {
    expect(filterOf(searchOf(group, {}))).toEqual({
      pipeline: "pages",
      step: "fetch",
      errorClass: "data",
      reason: "row # is empty",
    });
  });
  it("are those without a class or reason, if it has none", () => {
    const search = searchOf({ ...group, errorClass: null, reason: null }, { owner: "all" });
    expect(filterOf(search)).toEqual({ pipeline: "pages", step: "fetch", errorClass: "", reason: "", userId: "all" });
    expect(isOneGroup(search)).toBe(true);
  });
  it("are of all reasons, if the groups are steps or classes", () => {
    const bare = { ...group, errorClass: null, reason: null };
    expect(searchOf(bare, { by: "step" })).toEqual({ by: "step", pipeline: "pages", step: "fetch" });
    expect(searchOf({ ...bare, step: null }, { by: "class" })).toEqual({ by: "class", pipeline: "pages", class: "" });
  });
});
