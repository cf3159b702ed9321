import { describe, expect, it } from "vitest";
import { lineAt, matching, parts } from "./lines";

const LINES = [
  { start: 0, text: "Good morning." },
  { start: 2.5, text: "The water (cold) is stored first." },
  { start: 7, text: "Then it flows." },
];

describe("lines of a transcript", () => {
  it("finds the line of a second", () => {
    expect([-1, 0, 2.4, 2.5, 6.99, 100].map((second) => lineAt(LINES, second))).toEqual([-1, 0, 0, 1, 2, 2]);
    expect(lineAt([], 3)).toBe(-1);
  });

  it("finds lines by all words, in any case", () => {
    expect(matching(LINES, "")).toEqual([0, 1, 2]);
    expect(matching(LINES, "STORED water")).toEqual([1]);
    expect(matching(LINES, "(cold)")).toEqual([1]);
  });

  it("marks words without taking them for a pattern", () => {
    const marked = parts(LINES[1]!.text, "(cold) water").map(({ text, isFound }) => (isFound ? `[${text}]` : text));
    expect(marked.join("")).toBe("The [water] [(cold)] is stored first.");
    expect(parts("plain", "")).toEqual([{ text: "plain", isFound: false, at: 0 }]);
  });
});
