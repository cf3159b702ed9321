import { AArrowDown, AArrowUp, Columns2 } from "lucide-react";
import { useState } from "react";
import type { WholeBookmark } from "~/api/bookmarks";
import type { Schema } from "~/api/client";
import { keep, kept } from "~/shell/kept";
import { Button } from "~/ui/button";
import { Empty } from "~/ui/notice";
import { plural } from "~/words";
import css from "./bookmarks.module.css";
import { useReadingPlace } from "./reading-place";

type Block = Schema<"ReaderBlock">;
const NAME = "reader";
const SIZES = [0.875, 1, 1.125, 1.25, 1.5];

interface Look {
  size: number;
  isWide: boolean;
}

function storedLook(): Look {
  const { size, isWide } = kept<Partial<Look>>(NAME) ?? {};
  return { size: SIZES.includes(size ?? 0) ? size! : 1.125, isWide: isWide === true };
}

/** The text of the page, without the page. */
export function Read({ bookmark, isOpen }: { bookmark: WholeBookmark; isOpen: boolean }) {
  const [look, setLook] = useState(storedLook);
  const article = useReadingPlace(bookmark.id);
  const change = (next: Look) => {
    setLook(next);
    keep(NAME, next);
  };
  const all = bookmark.blocks ?? paragraphs(bookmark.text ?? bookmark.ocr ?? bookmark.description);
  const blocks = all[0]?.t === "h" && all[0].text === bookmark.title ? all.slice(1) : all; // the title is above
  if (blocks.length === 0) {
    return isOpen ? (
      <Empty title="It is being read">Its text is here as soon as the page has been read.</Empty>
    ) : (
      <Empty title="There is no text">The page has none that could be read. See its picture, or the original.</Empty>
    );
  }
  const at = SIZES.indexOf(look.size);
  return (
    <div className="stack">
      <div className="row">
        <span className="muted grow">
          {[
            bookmark.author,
            bookmark.words && plural(bookmark.words, "word"),
            bookmark.readingMinutes && `${Math.max(1, Math.round(bookmark.readingMinutes))} min`,
          ]
            .filter(Boolean)
            .join(", ")}
        </span>
        <Button
          look="plain"
          icon
          aria-label="Smaller text"
          disabled={at === 0}
          onClick={() => change({ ...look, size: SIZES[at - 1] ?? look.size })}
        >
          <AArrowDown />
        </Button>
        <Button
          look="plain"
          icon
          aria-label="Larger text"
          disabled={at === SIZES.length - 1}
          onClick={() => change({ ...look, size: SIZES[at + 1] ?? look.size })}
        >
          <AArrowUp />
        </Button>
        <Button
          look="plain"
          icon
          aria-label="Wide lines"
          aria-pressed={look.isWide}
          onClick={() => change({ ...look, isWide: !look.isWide })}
        >
          <Columns2 />
        </Button>
      </div>
      <article
        ref={article}
        className={css.reader}
        lang={bookmark.language ?? undefined}
        data-wide={look.isWide || undefined}
        style={{ fontSize: `${look.size}rem` }}
      >
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change its order
          <Part key={index} block={block} />
        ))}
      </article>
    </div>
  );
}

function paragraphs(text: string | null): Block[] {
  return (text ?? "")
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => ({ t: "p", text: line }));
}

/** Headings of the page are below those of the app. */
function Part({ block }: { block: Block }) {
  switch (block.t) {
    case "h":
      return (block.level ?? 2) <= 2 ? <h2>{block.text}</h2> : <h3>{block.text}</h3>;
    case "li":
      return (
        <p className={css.point} style={{ marginInlineStart: `${(block.level ?? 1) * 1.25}em` }}>
          {block.text}
        </p>
      );
    case "quote":
      return <blockquote>{block.text}</blockquote>;
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre tabIndex={0}>{block.text}</pre>
      );
    case "row":
      return <p className={css.cells}>{(block.cells ?? [block.text ?? ""]).join("  |  ")}</p>;
    case "img":
      return block.url ? (
        <p className="muted">
          <a href={block.url} target="_blank" rel="noreferrer">
            Picture{block.text ? `: ${block.text}` : ""}
          </a>
        </p>
      ) : null;
    default:
      return <p>{block.text}</p>;
  }
}
