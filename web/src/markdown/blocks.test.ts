import { expect, test } from "vitest";
import { type Block, parse } from "./blocks";

const blocks = (text: string): Block[] => parse(text).blocks;
const paragraph = (text: string): Block => ({ t: "paragraph", text });

test("headings are marked at their begin or underlined", () => {
  expect(blocks("# One #\nTwo\n---\n####### no")).toEqual([
    { t: "heading", level: 1, text: "One" },
    { t: "heading", level: 2, text: "Two" },
    paragraph("####### no"),
  ]);
});

test("code keeps its lines as they are, also what looks like Markdown", () => {
  expect(blocks("```js x\n# a\n\n  b\n```\n\n    c\n\td\n")).toEqual([
    { t: "code", text: "# a\n\n  b", language: "js" },
    { t: "code", text: "c\nd", language: "" },
  ]);
  expect(blocks("~~~\nnever closed")).toEqual([{ t: "code", text: "never closed", language: "" }]);
});

test("lists have lists inside, begin at a number, and are loose with blank lines between", () => {
  expect(blocks("- a\n  - b\n- c")).toEqual([
    {
      t: "list",
      start: undefined,
      isLoose: false,
      items: [
        [paragraph("a"), { t: "list", start: undefined, isLoose: false, items: [[paragraph("b")]] }],
        [paragraph("c")],
      ],
    },
  ]);
  expect(blocks("3. a\n\n4. b\n\nafter")).toEqual([
    { t: "list", start: 3, isLoose: true, items: [[paragraph("a")], [paragraph("b")]] },
    paragraph("after"),
  ]);
});

test("a quote goes on without its mark as long as its paragraph does", () => {
  expect(blocks("> a\nb\n\nc")).toEqual([{ t: "quote", blocks: [paragraph("a\nb")] }, paragraph("c")]);
});

test("a table needs its line of marks; short rows are filled", () => {
  expect(blocks("| a | b |\n|:--|--:|\n| 1 \\| 2 |\n\nno | table")).toEqual([
    { t: "table", aligns: ["start", "end"], head: ["a", "b"], rows: [["1 | 2", ""]] },
    paragraph("no | table"),
  ]);
});

test("a line of marks is a rule, and a number within a paragraph begins no list", () => {
  expect(blocks("* * *\nIn\n1969. and\n- a")).toEqual([
    { t: "rule" },
    paragraph("In\n1969. and"),
    { t: "list", start: undefined, isLoose: false, items: [[paragraph("a")]] },
  ]);
});

test("targets of links are found wherever they stand, the first of a name counts", () => {
  const { targets, blocks: found } = parse('[A b]: https://one.example "title"\n> [a  B]: https://two.example\n');
  expect([...targets]).toEqual([["a b", "https://one.example"]]);
  expect(found).toEqual([{ t: "quote", blocks: [] }]);
});

test("what is in each other too deep is text, and long texts take no time", () => {
  expect(JSON.stringify(blocks(`${"> ".repeat(500)}a`)).split('"quote"').length - 1).toBe(20);
  for (const text of [
    "> ".repeat(20_000),
    "- ".repeat(20_000),
    "[a]: ".repeat(20_000),
    "* ".repeat(20_000),
    "|-".repeat(20_000),
  ])
    expect(blocks(`${text}\n${text}`).length).toBeGreaterThan(0);
});
