import { useState } from "react";
import type { WholeBookmark } from "~/api/bookmarks";
import { Button } from "~/ui/button";
import { Empty } from "~/ui/notice";
import css from "./bookmarks.module.css";

const NAMES = { screenshot: "Window", fullPage: "Whole page", image: "Picture of the page" } as const;
type Name = keyof typeof NAMES;

/** What the page looked like. */
export function Pictures({ bookmark }: { bookmark: WholeBookmark }) {
  const there = (Object.keys(NAMES) as Name[]).filter((name) => bookmark.files[name]);
  const [asked, setAsked] = useState<Name>("screenshot");
  const [isZoomed, setZoomed] = useState(false);
  const name = there.includes(asked) ? asked : there[0];
  const file = name && bookmark.files[name];
  if (!file) return <Empty title="There is no picture">It is taken while the page is read. See the steps.</Empty>;
  return (
    <div className="stack">
      <div className="row">
        {there.map((each) => (
          <Button key={each} aria-pressed={each === name} onClick={() => setAsked(each)}>
            {NAMES[each]}
          </Button>
        ))}
        <Button look="plain" aria-pressed={isZoomed} onClick={() => setZoomed(!isZoomed)}>
          {isZoomed ? "Fit" : "Full size"}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={css.shot} data-zoomed={isZoomed || undefined} tabIndex={0} role="region" aria-label={NAMES[name]}>
        <img
          src={file.url}
          alt={bookmark.caption ?? `${NAMES[name]} of ${bookmark.title ?? bookmark.url}`}
          {...(file.width && file.height && { width: file.width, height: file.height })}
        />
      </div>
      {bookmark.caption && name === "image" && <p className="muted">{bookmark.caption}</p>}
    </div>
  );
}
