import { Fragment, memo, type ReactNode, useMemo } from "react";
import { type Block, parse, type Targets } from "./blocks";
import { type Inline, isSafe, parseInline } from "./inline";
import css from "./markdown.module.css";

interface MarkdownProps {
  text: string;
  language?: string | undefined;
}

/** A Markdown text as elements: nothing of it is ever HTML, and nothing is loaded from elsewhere. */
export const Markdown = memo(function Markdown({ text, language }: MarkdownProps) {
  const { blocks, targets } = useMemo(() => parse(text), [text]);
  return (
    <article className={css.markdown} lang={language}>
      <Blocks blocks={lifted(blocks)} targets={targets} />
    </article>
  );
});

/** The highest headings of a text as headings of the first level, whichever they are. */
function lifted(blocks: Block[]): Block[] {
  const least = Math.min(...blocks.map((block) => (block.t === "heading" ? block.level : 6)));
  return blocks.map((block) => (block.t === "heading" ? { ...block, level: block.level - least + 1 } : block));
}

function Blocks({ blocks, targets }: { blocks: Block[]; targets: Targets }) {
  return blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other order
    <Part key={index} block={block} targets={targets} />
  ));
}

/** Headings are below that of the page. */
const HEADINGS = ["h2", "h3", "h4", "h5", "h6", "h6"] as const;

function Part({ block, targets }: { block: Block; targets: Targets }) {
  switch (block.t) {
    case "heading": {
      const Heading = HEADINGS[block.level - 1]!;
      return <Heading>{inline(block.text, targets)}</Heading>;
    }
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre tabIndex={0} data-language={block.language || undefined}>
          <code>{block.text}</code>
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} targets={targets} />
        </blockquote>
      );
    case "list":
      return <ListOf {...block} targets={targets} />;
    case "table":
      return <TableOf {...block} targets={targets} />;
    case "rule":
      return <hr />;
    default:
      return <p>{inline(block.text, targets)}</p>;
  }
}

function ListOf({ start, isLoose, items, targets }: Extract<Block, { t: "list" }> & { targets: Targets }) {
  const inside = items.map((blocks, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other order
    <li key={index}>
      {isLoose ? <Blocks blocks={blocks} targets={targets} /> : <Tight blocks={blocks} targets={targets} />}
    </li>
  ));
  return start === undefined ? <ul>{inside}</ul> : <ol start={start === 1 ? undefined : start}>{inside}</ol>;
}

/** The paragraphs of a list without blank lines are not paragraphs; "[x]" at their begin is a box. */
function Tight({ blocks, targets }: { blocks: Block[]; targets: Targets }) {
  return blocks.map((block, index) => {
    const task = index === 0 && block.t === "paragraph" ? /^\[([ xX])\]\s+/.exec(block.text) : null;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other order
      <Fragment key={index}>
        {task && (
          <span
            role="img"
            aria-label={task[1] === " " ? "open:" : "done:"}
            className={css.box}
            data-done={task[1] !== " "}
          />
        )}
        {block.t === "paragraph" ? (
          inline(block.text.slice(task?.[0].length ?? 0), targets)
        ) : (
          <Part block={block} targets={targets} />
        )}
      </Fragment>
    );
  });
}

function TableOf({ aligns, head, rows, targets }: Extract<Block, { t: "table" }> & { targets: Targets }) {
  const cell = (Cell: "th" | "td", text: string, index: number) => (
    <Cell key={index} scope={Cell === "th" ? "col" : undefined} style={{ textAlign: aligns[index] }}>
      {inline(text, targets)}
    </Cell>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className={css.table} tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{head.map((text, index) => cell("th", text, index))}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other order
            <tr key={at}>{row.map((text, index) => cell("td", text, index))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(text: string, targets: Targets): ReactNode {
  return shown(parseInline(text, targets));
}

function shown(parts: Inline[]): ReactNode {
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text has no other order
    <Fragment key={index}>{one(part)}</Fragment>
  ));
}

function one(part: Inline): ReactNode {
  if (typeof part === "string") return part;
  switch (part.t) {
    case "break":
      return <br />;
    case "code":
      return <code>{part.text}</code>;
    case "em":
      return <em>{shown(part.inside)}</em>;
    case "strong":
      return <strong>{shown(part.inside)}</strong>;
    case "strike":
      return <s>{shown(part.inside)}</s>;
    case "picture": // to load it would tell its server who reads this
      return <Away href={part.href}>Picture{part.text && `: ${part.text}`}</Away>;
    default:
      return <Away href={part.href}>{shown(part.inside)}</Away>;
  }
}

/** A link to another place; with an address that could run something, only its text. */
function Away({ href, children }: { href: string; children: ReactNode }) {
  if (!isSafe(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer nofollow">
      {children}
    </a>
  );
}
