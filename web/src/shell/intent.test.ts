import { expect, test } from "vitest";
import { intentOf, intentWords, placeOf } from "./intent";

test("a link is saved, with or without its scheme", () => {
  expect(intentOf(" https://example.org/a?b#c ")).toEqual({ kind: "save", url: "https://example.org/a?b#c" });
  expect(intentOf("example.org/a")).toEqual({ kind: "save", url: "https://example.org/a" });
  expect(intentWords(intentOf("example.org/a"))).toBe("Enter saves example.org as a bookmark");
});

test("several links are one import, each once", () => {
  const text = "https://a.example\n\nhttps://b.example\r\nhttps://a.example";
  expect(intentOf(text)).toEqual({ kind: "import", urls: ["https://a.example", "https://b.example"] });
  expect(intentOf("https://a.example https://b.example").kind).toBe("import");
  expect(intentWords(intentOf(text))).toBe("Enter imports 2 links as one job");
});

test("a number after # opens a job, other text is searched", () => {
  expect(intentOf("#12")).toEqual({ kind: "job", id: "12" });
  expect(intentOf("tall ships")).toEqual({ kind: "search", text: "tall ships" });
  expect(intentOf("see https://a.example").kind).toBe("search");
  expect(intentOf("word").kind).toBe("search");
  expect(intentOf("  ").kind).toBe("nothing");
});

test("files go where they belong", () => {
  const places = ["prices.CSV", "a.xlsx", "b.zip", "marks.html", "notes.md", "x.exe", "README"].map(placeOf);
  expect(places).toEqual([
    "/sheets/new",
    "/sheets/new",
    "/sheets/new",
    "/bookmarks/import",
    "/articles/import",
    undefined,
    undefined,
  ]);
});
