import { describe, expect, it } from "vitest";
import { layout } from "./layout";

const graph = (edges: Record<string, string[]>) => Object.entries(edges).map(([name, after]) => ({ name, after }));
const columns = (edges: Record<string, string[]>) =>
  Object.fromEntries(layout(graph(edges)).placed.map((each) => [each.vertex.name, each.column]));

describe("layout", () => {
  it("puts a step behind the last of its parents", () => {
    expect(columns({ a: [], b: ["a"], c: ["a"], d: ["b", "c"], e: ["a", "d"] })).toEqual({
      a: 0,
      b: 1,
      c: 1,
      d: 2,
      e: 3,
    });
  });
  it("centres columns", () => {
    const { placed, rows } = layout(graph({ a: [], b: ["a"], c: ["a"], d: ["b", "c"] }));
    expect(rows).toBe(2);
    expect(placed.find((each) => each.vertex.name === "d")?.row).toBe(0.5);
  });
  it("keeps neighbours side by side", () => {
    const { placed } = layout(graph({ a: [], b: [], x: ["b"], y: ["a"] }));
    const row = (name: string) => placed.find((each) => each.vertex.name === name)!.row;
    expect(Math.sign(row("x") - row("y"))).toBe(Math.sign(row("b") - row("a")));
  });
  it("puts what begins after all items behind the last steps", () => {
    const { placed, edges } = layout([
      ...graph({ a: [], b: ["a"], c: ["a"] }),
      { name: "total", after: [], afterAll: true },
      { name: "mail", after: ["total"], afterAll: true },
    ]);
    const column = Object.fromEntries(placed.map((each) => [each.vertex.name, each.column]));
    expect(column).toEqual({ a: 0, b: 1, c: 1, total: 2, mail: 3 });
    expect(edges.map(({ from, to }) => `${from.vertex.name} ${to.vertex.name}`)).toEqual([
      "a b",
      "a c",
      "b total",
      "c total",
      "total mail",
    ]);
  });
  it("ignores parents that are not shown", () => {
    expect(layout(graph({ a: ["gone"] })).edges).toEqual([]);
  });
  it("has no two steps at one place, for any graph", () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    for (let round = 0; round < 200; round += 1) {
      const names = Array.from({ length: 1 + Math.floor(random() * 40) }, (_, index) => `s${index}`);
      const vertices = names.map((name, index) => ({
        name,
        after: names.slice(0, index).filter(() => random() < 0.1),
      }));
      const { placed, edges } = layout(vertices);
      expect(new Set(placed.map((each) => `${each.column} ${each.row}`)).size).toBe(names.length);
      expect(edges.every((edge) => edge.from.column < edge.to.column)).toBe(true);
    }
  });
});
