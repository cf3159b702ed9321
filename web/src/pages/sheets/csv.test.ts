import { describe, expect, it } from "vitest";
import { delimiterOf, preview, records } from "./csv";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a table that is read in the browser", () => {
  it("has its delimiter, header and rows found", () => {
    const found = preview(bytes("Name;Price\r\nLamp;1,50\r\nInk;\r\n"), false, {});
    expect([found.delimiter, found.encoding, found.hasHeader, found.columns]).toEqual([
      ";",
      "utf-8",
      true,
      ["Name", "Price"],
    ]);
    expect(found.rows).toEqual([
      { line: 2, cells: ["Lamp", "1,50"] },
      { line: 3, cells: ["Ink", ""] },
    ]);
    expect(found.isAll).toBe(true);
  });

  it("is read with what was chosen instead", () => {
    const found = preview(bytes("Name;Price\nLamp;1,50\n"), false, { delimiter: ",", header: false });
    expect(found.columns).toEqual(["column 1"]);
    expect(found.rows[0]).toEqual({ line: 1, cells: ["Name;Price"] });
    expect(found.unreadable).toEqual([{ line: 2, reason: "has 2 cells, but there are 1 columns" }]);
  });

  it("keeps delimiters, quotes and lines inside quotes", () => {
    expect(records('a,"b,""c""\nd",e\nf', ",", 10)).toEqual([
      { line: 1, cells: ["a", 'b,"c"\nd', "e"] },
      { line: 3, cells: ["f"] },
    ]);
  });

  it("lists rows that cannot be read, and goes on behind them", () => {
    const found = preview(bytes('a,b\n1,"open\n2,3\n4,5,6\n'), false, {});
    expect(found.unreadable).toEqual([
      { line: 2, reason: "has a quote that is not closed" },
      { line: 4, reason: "has 3 cells, but there are 2 columns" },
    ]);
    expect(found.rows).toEqual([{ line: 3, cells: ["2", "3"] }]);
  });

  it("stops before a row that is cut, and after 200 rows", () => {
    expect(preview(bytes("a,b\n1,2\n3,"), true, {}).rows).toEqual([{ line: 2, cells: ["1", "2"] }]);
    const many = preview(bytes(`a,b\n${"1,2\n".repeat(300)}`), false, {});
    expect([many.rows.length, many.isAll]).toEqual([200, false]);
  });

  it("is not UTF-8 when it cannot be", () => {
    const found = preview(new Uint8Array([0x61, 0x2c, 0x62, 0x0a, 0xe9, 0x2c, 0x31, 0x0a]), false, {});
    expect([found.encoding, found.rows[0]?.cells[0]]).toEqual(["windows-1252", "é"]);
  });

  it("has tabs or bars between its cells", () => {
    expect([delimiterOf("a\tb\n1\t2,5\n"), delimiterOf("a|b\n1|2\n")]).toEqual(["\t", "|"]);
  });
});
