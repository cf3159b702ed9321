import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { GridColumn } from "~/api/grid";
import { keep, kept } from "~/shell/kept";
import { arrange, useColumns } from "./columns";

const column = (key: string, type: GridColumn["type"] = "text"): GridColumn => ({ key, title: key, kind: "own", type });
const ALL = [column("a"), column("b", "number"), column("c"), column("d")];

describe("columns", () => {
  it("are in the order of the file, with the widths of their types", () => {
    const shown = arrange(ALL, { widths: {}, hidden: [], order: [], pinned: [] });
    expect(shown.map((each) => [each.key, each.place])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
      ["d", 3],
    ]);
    expect(shown[1]!.width).toBeLessThan(shown[0]!.width);
  });

  it("are arranged as chosen; new ones come last", () => {
    const shown = arrange(ALL, { widths: { c: 300 }, hidden: ["b"], order: ["c", "b", "a"], pinned: [] });
    expect(shown.map((each) => each.key)).toEqual(["c", "a", "d"]);
    expect(shown[0]).toMatchObject({ place: 2, width: 300, isPinned: false });
  });

  it("are first when they are pinned", () => {
    const shown = arrange(ALL, { widths: {}, hidden: [], order: ["b", "a"], pinned: ["d", "a"] });
    expect(shown.map((each) => [each.key, each.isPinned])).toEqual([
      ["a", true],
      ["d", true],
      ["b", false],
      ["c", false],
    ]);
  });
});

it("an arrangement that comes from the account is shown, and a change adds to it", () => {
  const { result } = renderHook(() => useColumns("7", ALL));
  act(() => keep("columns.7", { widths: {}, hidden: ["b"], order: [], pinned: ["d"] }, true));
  expect(result.current.shown.map((each) => each.key)).toEqual(["d", "a", "c"]);
  act(() => result.current.setWidth("a", 300));
  expect(kept("columns.7")).toEqual({ widths: { a: 300 }, hidden: ["b"], order: [], pinned: ["d"] });
});
