/** The blocks of a Markdown text: CommonMark without HTML, with tables. What is inside of them is read by inline.ts. */
export type Block =
  | { t: "heading"; level: number; text: string }
  | { t: "paragraph"; text: string }
  | { t: "code"; text: string; language: string }
  | { t: "quote"; blocks: Block[] }
  | { t: "list"; start: number | undefined; isLoose: boolean; items: Block[][] }
  | { t: "table"; aligns: Align[]; head: string[]; rows: string[][] }
  | { t: "rule" };

export type Align = "start" | "center" | "end" | undefined;
/** The addresses that links name, by their labels in small letters. */
export type Targets = ReadonlyMap<string, string>;

const DEEPEST = 20; // quotes and lists in each other: what is deeper is text

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const INDENTED = /^ {4}/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const TARGET = /^ {0,3}\[([^\]\\]{1,200})\]:[ \t]*<?([^\s<>]+)>?[ \t]*(?:"[^"]*"|'[^']*'|\([^)]*\))?[ \t]*$/;

export function parse(markdown: string): { blocks: Block[]; targets: Targets } {
  const targets = new Map<string, string>();
  const lines = markdown.replaceAll("\r\n", "\n").split("\n").map(withoutTabs);
  return { blocks: blocksOf(lines, targets, 0), targets };
}

/** Tabs at the begin of a line as spaces: they reach to the next multiple of four. */
function withoutTabs(line: string): string {
  if (!/^[ ]*\t/.test(line)) return line;
  const indent = /^[ \t]*/.exec(line)![0];
  let width = 0;
  for (const each of indent) width += each === "\t" ? 4 - (width % 4) : 1;
  return " ".repeat(width) + line.slice(indent.length);
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Whether a line ends a paragraph that it follows. */
function begins(line: string): boolean {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  return item !== null && item[3] !== "" && (!/\d/.test(item[2]!) || /^1[.)]/.test(item[2]!));
}

class Lines {
  at = 0;
  constructor(readonly all: readonly string[]) {}
  get now(): string {
    return this.all[this.at]!;
  }
  get next(): string | undefined {
    return this.all[this.at + 1];
  }
  get isOver(): boolean {
    return this.at >= this.all.length;
  }
}

function blocksOf(all: readonly string[], targets: Map<string, string>, depth: number): Block[] {
  const lines = new Lines(all);
  const blocks: Block[] = [];
  while (!lines.isOver) {
    if (isBlank(lines.now)) {
      lines.at += 1;
      continue;
    }
    const target = TARGET.exec(lines.now);
    if (target) {
      const label = labelOf(target[1]!);
      if (!targets.has(label)) targets.set(label, target[2]!);
      lines.at += 1;
      continue;
    }
    blocks.push(
      fenced(lines) ??
        heading(lines) ??
        rule(lines) ??
        (depth < DEEPEST ? (quote(lines, targets, depth) ?? list(lines, targets, depth)) : undefined) ??
        indented(lines) ??
        table(lines) ??
        paragraph(lines),
    );
  }
  return blocks;
}

export function labelOf(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}

function fenced(lines: Lines): Block | undefined {
  const fence = FENCE.exec(lines.now);
  if (!fence) return undefined;
  const [mark, indent] = [fence[1]!, indentOf(lines.now)];
  const end = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
  const found: string[] = [];
  for (lines.at += 1; !lines.isOver && !end.test(lines.now); lines.at += 1) {
    found.push(lines.now.slice(Math.min(indent, indentOf(lines.now))));
  }
  lines.at += 1;
  return { t: "code", text: found.join("\n"), language: fence[2]!.trim().split(/\s/)[0]! };
}

function heading(lines: Lines): Block | undefined {
  const found = HEADING.exec(lines.now);
  if (!found) return undefined;
  const text = lines.now
    .slice(found[0].length)
    .trim()
    .replace(/(^|[ \t])#+$/, "");
  lines.at += 1;
  return { t: "heading", level: found[1]!.length, text: text.trim() };
}

function rule(lines: Lines): Block | undefined {
  if (!RULE.test(lines.now)) return undefined;
  lines.at += 1;
  return { t: "rule" };
}

function quote(lines: Lines, targets: Map<string, string>, depth: number): Block | undefined {
  if (!QUOTE.test(lines.now)) return undefined;
  const inside: string[] = [];
  for (; !lines.isOver; lines.at += 1) {
    const { now } = lines;
    if (QUOTE.test(now)) inside.push(now.replace(QUOTE, ""));
    else if (!isBlank(now) && !isBlank(inside.at(-1)) && !begins(now)) inside.push(now);
    else break;
  }
  return { t: "quote", blocks: blocksOf(inside, targets, depth + 1) };
}

function list(lines: Lines, targets: Map<string, string>, depth: number): Block | undefined {
  const first = ITEM.exec(lines.now);
  if (!first) return undefined;
  const kind = first[2]!.at(-1)!;
  const items: Block[][] = [];
  let isLoose = false;
  while (!lines.isOver) {
    const item = ITEM.exec(lines.now);
    if (!item || item[2]!.at(-1) !== kind || RULE.test(lines.now)) break;
    const { inside, isSpaced } = itemLines(lines, item);
    items.push(blocksOf(inside, targets, depth + 1));
    const isEnd = lines.isOver || ITEM.exec(lines.now)?.[2]?.at(-1) !== kind;
    // Blank lines after the last item are not between items.
    if (isSpaced.inside || (isSpaced.after && !isEnd)) isLoose = true;
  }
  const number = Number.parseInt(first[2]!, 10);
  return { t: "list", start: Number.isNaN(number) ? undefined : number, isLoose, items };
}

/** The lines of an item, without its mark and indent; it ends before a line that is indented less. */
function itemLines(lines: Lines, item: RegExpExecArray) {
  const spaces = item[3]!.length;
  const before = item[1]!.length + item[2]!.length;
  const indent = before + (spaces >= 1 && spaces <= 4 ? spaces : 1);
  const inside = [lines.now.slice(Math.min(indent, lines.now.length))];
  const isSpaced = { inside: false, after: false };
  for (lines.at += 1; !lines.isOver; lines.at += 1) {
    const { now } = lines;
    if (isBlank(now)) inside.push("");
    else if (indentOf(now) >= indent) inside.push(now.slice(indent));
    else if (!isBlank(inside.at(-1)) && !begins(now) && !ITEM.test(now)) inside.push(now.trimStart());
    else break;
  }
  const last = inside.findLastIndex((line) => !isBlank(line));
  isSpaced.after = last < inside.length - 1;
  isSpaced.inside = inside.slice(0, last + 1).some((line, index) => index > 0 && isBlank(line));
  return { inside: inside.slice(0, last + 1), isSpaced };
}

function indented(lines: Lines): Block | undefined {
  if (!INDENTED.test(lines.now)) return undefined;
  const found: string[] = [];
  for (; !lines.isOver && (INDENTED.test(lines.now) || isBlank(lines.now)); lines.at += 1) {
    found.push(lines.now.slice(4));
  }
  return { t: "code", text: found.join("\n").trimEnd(), language: "" };
}

function table(lines: Lines): Block | undefined {
  const under = lines.next;
  if (!lines.now.includes("|") || under === undefined || !DELIMITERS.test(under)) return undefined;
  const head = cellsOf(lines.now);
  const marks = cellsOf(under);
  if (marks.length !== head.length) return undefined;
  const rows: string[][] = [];
  for (lines.at += 2; !lines.isOver && !isBlank(lines.now) && !begins(lines.now); lines.at += 1) {
    const cells = cellsOf(lines.now);
    rows.push(head.map((_, index) => cells[index] ?? ""));
  }
  return { t: "table", aligns: marks.map(alignOf), head, rows };
}

function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/);
  if (cells[0] === "") cells.shift();
  if (cells.length > 0 && cells.at(-1)!.trim() === "") cells.pop();
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignOf(mark: string): Align {
  const isEnd = mark.endsWith(":");
  if (mark.startsWith(":")) return isEnd ? "center" : "start";
  return isEnd ? "end" : undefined;
}

function paragraph(lines: Lines): Block {
  const found = [lines.now.trimStart()];
  for (lines.at += 1; !lines.isOver && !isBlank(lines.now); lines.at += 1) {
    const under = UNDERLINE.exec(lines.now);
    if (under) {
      lines.at += 1;
      return { t: "heading", level: under[1]![0] === "=" ? 1 : 2, text: found.join("\n").trim() };
    }
    if (begins(lines.now)) break;
    found.push(lines.now.trimStart());
  }
  return { t: "paragraph", text: found.join("\n").trimEnd() };
}
