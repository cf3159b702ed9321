import { expect, test } from "vitest";
import { type Inline, isSafe, parseInline } from "./inline";

const read = (text: string, targets: [string, string][] = []): Inline[] => parseInline(text, new Map(targets));
const em = (...inside: Inline[]): Inline => ({ t: "em", inside });
const strong = (...inside: Inline[]): Inline => ({ t: "strong", inside });

test("stars and underscores emphasize; underscores do not within words", () => {
  expect(read("*a* __b__ ***c*** snake_case_name **a *b* c**")).toEqual([
    em("a"),
    " ",
    strong("b"),
    " ",
    em(strong("c")),
    " snake_case_name ",
    strong("a ", em("b"), " c"),
  ]);
  expect(read("2 * 3 * 4, *open, **open")).toEqual(["2 * 3 * 4, *open, **open"]);
  expect(read("~~gone~~ ~one~")).toEqual([{ t: "strike", inside: ["gone"] }, " ~one~"]);
});

test("code shows marks as they are", () => {
  expect(read("`a*b*` and ``x ` y`` and `open")).toEqual([
    { t: "code", text: "a*b*" },
    " and ",
    { t: "code", text: "x ` y" },
    " and `open",
  ]);
});

test("links have an address, a name, or are their own text", () => {
  expect(read('[a *b*](https://x.example/(1) "t") ![p](https://x.example/p.png) <https://y.example>')).toEqual([
    { t: "link", href: "https://x.example/(1)", inside: ["a ", em("b")] },
    " ",
    { t: "picture", href: "https://x.example/p.png", text: "p" },
    " ",
    { t: "link", href: "https://y.example", inside: ["https://y.example"] },
  ]);
  expect(read("[One][Two] [two] [three]", [["two", "https://z.example"]])).toEqual([
    { t: "link", href: "https://z.example", inside: ["One"] },
    " ",
    { t: "link", href: "https://z.example", inside: ["two"] },
    " [three]",
  ]);
});

test("a link is never in a link, and a bracket that is not closed is text", () => {
  expect(read("[a [b](https://x.example) c](https://y.example)")).toEqual([
    "[a ",
    { t: "link", href: "https://x.example", inside: ["b"] },
    " c](https://y.example)",
  ]);
  expect(read("[a](b c")).toEqual(["[a](b c"]);
});

test("lines end with two spaces or a backslash, and what is escaped is text", () => {
  expect(read("a  \nb\\\nc\nd \\*e\\* &amp; &#8364; &nothing;")).toEqual([
    "a",
    { t: "break" },
    "b",
    { t: "break" },
    "c\nd *e* & € &nothing;",
  ]);
});

test("only addresses of pages and mail are links", () => {
  expect(["https://a.example", "MAILTO:a@b.example", "http://x"].map(isSafe)).toEqual([true, true, true]);
  for (const href of ["javascript:alert(1)", "data:text/html,x", "//x.example", "x.md", " https:", "vbscript:x", ""])
    expect(isSafe(href)).toBe(false);
});

test("texts that are made to take long do not", () => {
  for (const part of ["*a _b ", "[a](", "**", "`", "![", "](x ", "<http:", "a*", "_*", "[a](b 'x"])
    expect(JSON.stringify(read(part.repeat(20_000))).length).toBeGreaterThan(0);
});
