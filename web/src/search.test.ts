import { expect, test } from "vitest";
import { flag, oneOf, search, someOf, text, texts, whole } from "./search";

test("what the URL has is read by type, and the rest is dropped", () => {
  const read = search({ q: text, tab: oneOf("a", "b"), n: whole, on: flag, state: someOf("X", "Y"), tag: texts });
  expect(read({ q: 12, tab: "b", n: "7", on: "true", state: ["Y", "Z"], tag: "one", other: 1 })).toEqual({
    q: "12",
    tab: "b",
    n: 7,
    on: true,
    state: ["Y"],
    tag: ["one"],
  });
  expect(read({ q: {}, tab: "c", n: "x", on: "no", state: "Z", tag: [] })).toEqual({});
});
