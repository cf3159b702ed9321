import { expect, test } from "vitest";
import { things } from "~/shell/things";
import { kindWord, placeOf, secondWord } from "./place";

test("a hit opens the page that the server names, or that of its kind", () => {
  things.set({ article: (id) => `/articles/${id}` });
  expect(placeOf({ kind: "media", ref: "7", path: "/media/7?t=75" })).toBe("/media/7?t=75");
  expect(placeOf({ kind: "article", ref: "3", path: null })).toBe("/articles/3");
  expect(placeOf({ kind: "unknown", ref: "3", path: null })).toBeUndefined();
});

test("kinds and seconds are said as people say them", () => {
  expect(["article", "media_transcript"].map(kindWord)).toEqual(["Article", "Media transcript"]);
  expect([0, 75.9, 3661].map(secondWord)).toEqual(["0:00", "1:15", "1:01:01"]);
});
