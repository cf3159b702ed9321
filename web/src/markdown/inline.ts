import { labelOf, type Targets } from "./blocks";

/** What is inside of a paragraph, heading or cell. */
export type Inline =
  | string
  | { t: "code"; text: string }
  | { t: "em" | "strong" | "strike"; inside: Inline[] }
  | { t: "link"; href: string; inside: Inline[] }
  | { t: "picture"; href: string; text: string }
  | { t: "break" };

const SAFE = /^(?:https?:\/\/|mailto:)/i;
const PLAIN = /[^\\`<![\]*_~\n&]+/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]*)>/iy;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy|hellip|ndash|mdash|times));/y;
const TARGET = /\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/y;
const NAMED = /\[([^[\]\\]{0,200})\]/y;
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}\p{S}]/u;
const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  times: "×",
};
const DEEPEST = 100; // marks that are open at once: further ones are text

/** A mark that may begin something, and what has come since. */
interface Open {
  mark: "*" | "_" | "~" | "[" | "![" | "";
  count: number;
  /** Whether it may also end something: such marks must not make a sum of three. */
  isBoth: boolean;
  inside: Inline[];
  hasLink: boolean;
  /** Where the text after a bracket begins. */
  at: number;
}

export function isSafe(href: string): boolean {
  return SAFE.test(href);
}

export function parseInline(text: string, targets: Targets): Inline[] {
  return new Reader(text, targets).read();
}

class Reader {
  private at = 0;
  private readonly stack: Open[] = [opened("")];

  constructor(
    private readonly text: string,
    private readonly targets: Targets,
  ) {}

  read(): Inline[] {
    while (this.at < this.text.length) this.step();
    this.collapse(0);
    return joined(this.stack[0]!.inside);
  }

  private get top(): Open {
    return this.stack.at(-1)!;
  }

  private put(...found: Inline[]): void {
    this.top.inside.push(...found);
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private step(): void {
    const plain = this.match(PLAIN);
    const mark = this.text[this.at];
    if (plain) this.put(plain[0]);
    else if (mark === "\\") this.escape();
    else if (mark === "`") this.code();
    else if (mark === "\n") this.line();
    else if (mark === "*" || mark === "_" || mark === "~") this.emphasis(mark);
    else if (mark === "[") this.bracket("[");
    else if (mark === "!" && this.text[this.at + 1] === "[") this.bracket("![");
    else if (mark === "]") this.close();
    else this.special();
  }

  private escape(): void {
    const next = this.text[this.at + 1];
    this.at += 2;
    if (next === "\n") this.put({ t: "break" });
    else if (next !== undefined && /[!-/:-@[-`{-~]/.test(next)) this.put(next);
    else {
      this.at -= 1;
      this.put("\\");
    }
  }

  private code(): void {
    const run = /`+/y;
    run.lastIndex = this.at;
    const mark = run.exec(this.text)![0];
    const begin = this.at + mark.length;
    let end = this.text.indexOf(mark, begin);
    while (end >= 0 && this.text[end + mark.length] === "`") {
      let after = end;
      while (this.text[after] === "`") after += 1;
      end = this.text.indexOf(mark, after);
    }
    if (end < 0) {
      this.at = begin;
      this.put(mark);
      return;
    }
    const inside = this.text.slice(begin, end).replaceAll("\n", " ");
    const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    this.at = end + mark.length;
    this.put({ t: "code", text: isPadded ? inside.slice(1, -1) : inside });
  }

  private line(): void {
    this.at += 1;
    const { inside } = this.top;
    const last = inside.at(-1);
    if (typeof last === "string" && / {2,}$/.test(last)) {
      inside[inside.length - 1] = last.trimEnd();
      this.put({ t: "break" });
    } else this.put("\n");
  }

  /** An address in angle brackets, a character by its name, or a character. */
  private special(): void {
    const link = this.match(AUTOLINK);
    const entity = link ? null : this.match(ENTITY);
    if (link) {
      this.top.hasLink = true;
      this.put({ t: "link", href: link[1]!, inside: [link[1]!.replace(/^mailto:/i, "")] });
    } else if (entity) this.put(decoded(entity));
    else this.put(this.text[this.at++]!);
  }

  private emphasis(mark: "*" | "_" | "~"): void {
    const begin = this.at;
    while (this.text[this.at] === mark) this.at += 1;
    let count = this.at - begin;
    if (mark === "~" && count !== 2) {
      this.put(mark.repeat(count));
      return;
    }
    const [before, after] = [this.text[begin - 1] ?? " ", this.text[this.at] ?? " "];
    const isLeft = !/\s/.test(after) && (!PUNCTUATION.test(after) || /\s/.test(before) || PUNCTUATION.test(before));
    const isRight = !/\s/.test(before) && (!PUNCTUATION.test(before) || /\s/.test(after) || PUNCTUATION.test(after));
    const canOpen = isLeft && (mark !== "_" || !isRight || PUNCTUATION.test(before));
    const canClose = isRight && (mark !== "_" || !isLeft || PUNCTUATION.test(after));
    const isBoth = canOpen && canClose;
    while (canClose && count > 0) {
      const place = this.opener(mark, count, isBoth);
      if (place === undefined) break;
      count -= this.wrap(place, count);
    }
    if (count === 0) return;
    if (canOpen && this.stack.length < DEEPEST) this.stack.push({ ...opened(mark), count, isBoth });
    else this.put(mark.repeat(count));
  }

  /** Where what ends here has begun; brackets bind tighter. */
  private opener(mark: string, count: number, isBoth: boolean): number | undefined {
    for (let place = this.stack.length - 1; place > 0; place -= 1) {
      const open = this.stack[place]!;
      if (open.mark === "[" || open.mark === "![") return undefined;
      if (open.mark !== mark) continue;
      const isThree = (open.isBoth || isBoth) && (open.count + count) % 3 === 0;
      if (!isThree || (open.count % 3 === 0 && count % 3 === 0)) return place;
    }
    return undefined;
  }

  private wrap(place: number, count: number): number {
    this.collapse(place);
    const open = this.stack.pop()!;
    const used = open.count >= 2 && count >= 2 ? 2 : 1;
    const t = open.mark === "~" ? "strike" : used === 2 ? "strong" : "em";
    const made: Inline = { t, inside: joined(open.inside) };
    if (open.count > used) this.stack.push({ ...open, count: open.count - used, inside: [made] });
    else {
      this.put(made);
      this.top.hasLink ||= open.hasLink;
    }
    return used;
  }

  /** Marks above this place have not ended: they are text. */
  private collapse(place: number): void {
    const below = this.stack[place]!;
    for (const open of this.stack.splice(place + 1)) {
      below.inside.push(open.mark === "[" || open.mark === "![" ? open.mark : open.mark.repeat(open.count));
      for (const each of open.inside) below.inside.push(each);
      below.hasLink ||= open.hasLink;
    }
  }

  private bracket(kind: "[" | "!["): void {
    this.at += kind.length;
    if (this.stack.length < DEEPEST) this.stack.push({ ...opened(kind), at: this.at });
    else this.put(kind);
  }

  private close(): void {
    const end = this.at;
    this.at += 1;
    const place = this.stack.findLastIndex((open) => open.mark === "[" || open.mark === "![");
    if (place < 0) {
      this.put("]");
      return;
    }
    this.collapse(place);
    const open = this.stack.pop()!;
    const isPicture = open.mark === "![";
    const href = open.hasLink && !isPicture ? undefined : this.target(this.text.slice(open.at, end));
    const { top } = this;
    if (href === undefined) {
      top.inside.push(open.mark, ...open.inside, "]");
      top.hasLink ||= open.hasLink;
    } else if (isPicture) top.inside.push({ t: "picture", href, text: plainText(open.inside) });
    else {
      top.inside.push({ t: "link", href, inside: joined(open.inside) });
      top.hasLink = true;
    }
  }

  /** The address after a bracket: in round ones, or by its name. */
  private target(said: string): string | undefined {
    const direct = this.match(TARGET);
    if (direct) return direct[1]!.replace(/^<|>$/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
    const begin = this.at;
    const named = this.match(NAMED);
    const found = this.targets.get(labelOf(named?.[1] || said));
    if (found === undefined) this.at = begin;
    return found;
  }
}

function opened(mark: Open["mark"]): Open {
  return { mark, count: 1, isBoth: false, inside: [], hasLink: false, at: 0 };
}

function decoded([whole, decimal, hexadecimal, name]: RegExpExecArray): string {
  if (name) return ENTITIES[name] ?? whole;
  const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal!, 16);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
}

/** Texts that follow each other as one. */
function joined(parts: Inline[]): Inline[] {
  const found: Inline[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (typeof part === "string" && typeof last === "string") found[found.length - 1] = last + part;
    else found.push(part);
  }
  return found;
}

export function plainText(parts: readonly Inline[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.t === "break") return " ";
      return part.t === "code" || part.t === "picture" ? part.text : plainText(part.inside);
    })
    .join("");
}
