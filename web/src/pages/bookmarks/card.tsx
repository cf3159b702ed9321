import { Link } from "@tanstack/react-router";
import type { Bookmark } from "~/api/bookmarks";
import { Marks, titleOf } from "~/bookmarks/marks";
import { Icon, Picture } from "~/bookmarks/picture";
import { host } from "~/format";
import { useSwipe } from "~/shell/swipe";
import { classes } from "~/ui/classes";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import css from "./bookmarks.module.css";

export interface EntryProps {
  bookmark: Bookmark;
  view: "cards" | "list";
  isSelected: boolean;
  onSelect: (isRange: boolean) => void;
  /** A finger has moved it aside. */
  onArchive: () => void;
  onTags: () => void;
}

/** A bookmark as a card or as a line. Its name is the link; the box selects it, and so does a long press. A finger
 * moves it to the right to archive it, to the left to tag it. */
export function Entry({ bookmark, view, isSelected, onSelect, onArchive, onTags }: EntryProps) {
  const swipe = useSwipe({ onRight: onArchive, onLeft: onTags });
  const name = titleOf(bookmark);
  return (
    <div {...swipe} className={classes(view === "cards" ? css.card : css.line, isSelected && css.selected)} data-press>
      <input
        type="checkbox"
        className={css.box}
        aria-label={`Select ${name}`}
        checked={isSelected}
        onClick={(event) => {
          event.stopPropagation();
          onSelect(event.shiftKey);
        }}
        onChange={() => undefined}
      />
      {view === "cards" ? <Picture bookmark={bookmark} /> : <Icon bookmark={bookmark} />}
      <span className={css.text}>
        <Link
          from="/bookmarks"
          to="/bookmarks"
          search={(now) => ({ ...now, open: bookmark.id })}
          resetScroll={false}
          className={css.title}
          title={name}
        >
          {name}
        </Link>
        {bookmark.snippet && <Snippet text={bookmark.snippet} />}
        <span className={css.meta}>
          <span className="cut">{bookmark.site ?? host(bookmark.url)}</span>
          <Kind bookmark={bookmark} />
        </span>
      </span>
      <span className={css.foot}>
        <Tags tags={bookmark.tags} />
        <Marks bookmark={bookmark} />
        <span className={css.age}>
          <Time value={bookmark.createdAt} />
        </span>
      </span>
    </div>
  );
}

/** What was not reached, or failed: other bookmarks say nothing. */
export function Kind({ bookmark }: { bookmark: Bookmark }) {
  if (bookmark.status === "ERROR" || bookmark.status === "NOT_FOUND") return <Pill status={bookmark.status} />;
  if (bookmark.kind === "login") return <span className={css.kind}>Behind a login</span>;
  if (bookmark.kind === "captcha") return <span className={css.kind}>Asks for a captcha</span>;
  if (bookmark.kind === "error") return <span className={css.kind}>Error page</span>;
  if (bookmark.duplicateOf) return <span className={css.kind}>Duplicate</span>;
  return null;
}

const SHOWN_TAGS = 3;

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null;
  return (
    <span className={css.tags}>
      {tags.slice(0, SHOWN_TAGS).map((tag) => (
        <span key={tag} className={css.tag}>
          {tag}
        </span>
      ))}
      {tags.length > SHOWN_TAGS && <span className={css.tag}>+{tags.length - SHOWN_TAGS}</span>}
    </span>
  );
}

/** The place where the words were found; the server marks them by two asterisks. */
function Snippet({ text }: { text: string }) {
  const parts = text.split("**");
  return (
    <span className={css.snippet}>
      {/* biome-ignore lint/suspicious/noArrayIndexKey: parts of one text */}
      {parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </span>
  );
}
