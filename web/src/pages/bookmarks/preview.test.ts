import { describe, expect, it } from "vitest";
import { previewOf } from "./preview";

describe("the preview of an import", () => {
  it("counts what browsers write", () => {
    const file = `<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Rivers</H3><DL>
      <DT><A HREF="https://a.example/">A</A><DT><A ADD_DATE=1 HREF="https://b.example/">B</A>
      <DT><A HREF="https://a.example/">A again</A></DL></DL>`;
    expect(previewOf(file)).toEqual({ links: 3, repeated: 1, folders: 1 });
  });
  it("counts JSON with categories, and plain lists", () => {
    const file = JSON.stringify({ bookmarks: [{ url: "https://a.example", category: "Mills" }, { url: "b" }] });
    expect(previewOf(file)).toEqual({ links: 2, repeated: 0, folders: 1 });
    expect(previewOf('["https://a.example"]')).toEqual({ links: 1, repeated: 0, folders: 0 });
  });
  it("counts CSV by its column", () => {
    const file = 'title,url,tags\n"A, b",https://a.example/,x\nC,https://c.example/,y\n';
    expect(previewOf(file)).toEqual({ links: 2, repeated: 0, folders: 0 });
  });
  it("knows nothing about other files", () => {
    expect(previewOf("Dear all, …")).toBeUndefined();
    expect(previewOf("{broken")).toBeUndefined();
    expect(previewOf("<p>nothing</p>")).toBeUndefined();
  });
});
