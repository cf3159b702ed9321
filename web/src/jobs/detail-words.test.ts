import { expect, test } from "vitest";
import { detailWords } from "./detail-words";

test("a detail is words, and a change an arrow", () => {
  expect(detailWords(null)).toBe("");
  expect(detailWords("late")).toBe("late");
  expect(detailWords({ from: 1, to: 3, owner_name: "ada" })).toBe("1 → 3, owner name: ada");
  expect(detailWords({ from: 1 })).toBe("from: 1");
  expect(detailWords({ invited: false, password: true })).toBe("invited: no, password: yes");
  expect(detailWords({ scopes: ["read", "write"], deep: { a: 1 } })).toBe('scopes: read, write, deep: {"a":1}');
});
