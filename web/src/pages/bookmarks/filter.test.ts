import { describe, expect, it } from "vitest";
import { bulkFilterOf, completions, filterOf, isNarrowed } from "./filter";

const KNOWN = { tags: ["news", "two words"], sites: ["example.org"], categories: ["Rivers"] };
const labels = (query: string) => completions(query, KNOWN).map((each) => each.label);

describe("filters", () => {
  it("have the names of the API", () => {
    expect(filterOf({ q: "weir", tag: ["news"], category: "4" })).toEqual({
      q: "weir",
      tag: ["news"],
      categoryId: "4",
    });
    expect(bulkFilterOf({ tag: ["news"], archived: true })).toEqual({ tags: ["news"], archived: true });
    expect(bulkFilterOf({})).toEqual({ archived: false });
  });
  it("narrow, unless they are the archive as a whole", () => {
    expect(isNarrowed({ archived: true })).toBe(false);
    expect(isNarrowed({ archived: true, q: "weir" })).toBe(true);
  });
});

describe("completions", () => {
  it("offer operators, then their values", () => {
    expect(labels("weir ta")).toEqual(["tag:"]);
    expect(labels("tag:")).toEqual(["tag:news", 'tag:"two words"']);
    expect(labels("is:a")).toEqual(["is:archived"]);
    expect(labels("-ta")).toEqual(["-tag:"]);
    expect(labels("-c")).toEqual([]);
    expect(labels("https://example.org")).toEqual([]);
  });
  it("keep what stands before", () => {
    expect(completions('"old mill" site:ex', KNOWN)[0]?.query).toBe('"old mill" site:example.org ');
    expect(completions('tag:"two w', KNOWN)[0]?.query).toBe('tag:"two words" ');
  });
});
