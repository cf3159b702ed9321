import type { Preview, ReadOptions } from "~/api/sheets";

const ROWS = 200;
const DELIMITERS = [",", ";", "\t", "|"];
const SAMPLE = 20; // records by which the delimiter is found

interface Record {
  line: number;
  cells: string[];
  fault?: string;
}

/** The text of the beginning of a file, and the encoding by which it was read. */
export function decode(data: Uint8Array, wanted: string | null | undefined): { text: string; encoding: string } {
  const encoding = wanted ?? encodingOf(data);
  return { text: new TextDecoder(encoding).decode(data), encoding };
}

function encodingOf(data: Uint8Array): string {
  if ((data[0] === 0xff && data[1] === 0xfe) || (data[0] === 0xfe && data[1] === 0xff)) {
    return data[0] === 0xff ? "utf-16le" : "utf-16be";
  }
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true }); // the end may be cut within a character
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

/** The records of a text, at most so many. A record whose quote is not closed ends with its line. */
export function records(text: string, delimiter: string, most: number): Record[] {
  const found: Record[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length && found.length < most) {
    const read = readRecord(text, at, delimiter);
    const isEmpty = read.cells.length === 1 && read.cells[0] === "";
    if (!isEmpty || read.fault) found.push({ line, cells: read.cells, ...(read.fault && { fault: read.fault }) });
    line += text.slice(at, read.end).split("\n").length - 1;
    at = read.end;
  }
  return found;
}

function readRecord(text: string, start: number, delimiter: string): { cells: string[]; end: number; fault?: string } {
  const cells: string[] = [];
  let at = start;
  while (true) {
    let cell = "";
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close < 0)
        return { cells: [text.slice(start, lineEnd(text, start))], end: nextLine(text, start), fault: OPEN };
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
    }
    const end = cellEnd(text, at, delimiter);
    cells.push(cell + text.slice(at, end).replace(/\r$/, ""));
    at = end;
    if (text[at] !== delimiter) return { cells, end: at + 1 };
    at += 1;
  }
}

const OPEN = "has a quote that is not closed";

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== "\n") at += 1;
  return at;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function nextLine(text: string, from: number): number {
  return lineEnd(text, from) + 1;
}

/** The delimiter with which most records have the same number of cells, and more than one. */
export function delimiterOf(text: string): string {
  let best = { delimiter: ",", score: 0 };
  for (const delimiter of DELIMITERS) {
    const widths = records(text, delimiter, SAMPLE).map(({ cells }) => cells.length);
    const width = widths[0] ?? 1;
    const score = width > 1 ? widths.filter((each) => each === width).length / widths.length + width / 1000 : 0;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** A row of names has no empty cells, no numbers, and no name twice. */
function isHeader(cells: string[]): boolean {
  return (
    cells.every((cell) => cell.trim() !== "" && Number.isNaN(Number(cell.replace(",", ".")))) &&
    new Set(cells).size === cells.length
  );
}

/** The first rows of a table, as they would be read; `isCut`: there is more of the file. */
export function preview(data: Uint8Array, isCut: boolean, options: ReadOptions): Preview {
  const { text, encoding } = decode(data, options.encoding);
  const whole = isCut ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
  const delimiter = options.delimiter ?? delimiterOf(whole);
  const all = records(whole, delimiter, ROWS + 2);
  const hasHeader = options.header ?? isHeader(all[0]?.cells ?? []);
  const columns = namesOf(hasHeader ? (all[0]?.cells ?? []) : (all[0]?.cells.map(() => "") ?? []));
  const rows = all.slice(hasHeader ? 1 : 0);
  const read = rows.slice(0, ROWS).map((row) => fitted(row, columns.length));
  return {
    kind: "csv",
    encoding,
    delimiter,
    quote: '"',
    tab: null,
    tabs: null,
    hasHeader,
    columns,
    mapping: {},
    suggestions: [],
    rows: read.filter(({ fault }) => !fault).map(({ line, cells }) => ({ line, cells })),
    unreadable: read.flatMap(({ line, fault }) => (fault ? [{ line, reason: fault }] : [])),
    isAll: !isCut && rows.length <= ROWS,
  };
}

/** Columns without a name and repeated names are numbered. */
function namesOf(header: string[]): string[] {
  const names: string[] = [];
  for (const [place, cell] of header.entries()) {
    const wanted = cell.trim().replace(/\s+/g, " ") || `column ${place + 1}`;
    let name = wanted;
    for (let number = 2; names.includes(name); number++) name = `${wanted} ${number}`;
    names.push(name);
  }
  return names;
}

function fitted(row: Record, wanted: number): Record {
  const cells = [...row.cells];
  while (cells.length > wanted && cells.at(-1) === "") cells.pop();
  if (cells.length > wanted) {
    return { ...row, fault: row.fault ?? `has ${cells.length} cells, but there are ${wanted} columns` };
  }
  while (cells.length < wanted) cells.push("");
  return { ...row, cells };
}
