import type { Ref } from "react";
import type { Bookmark, Category } from "~/api/bookmarks";
import type { useListKeys } from "~/shell/list-keys";
import { Skeleton, SkeletonRows } from "~/ui/skeleton";
import css from "./bookmarks.module.css";
import { Entry } from "./card";
import { BookmarkTable, type Order } from "./table";

export type View = "cards" | "list" | "table";

interface EntriesProps {
  /** The list gets the focus when what had it has left. */
  ref: Ref<HTMLDivElement>;
  view: View;
  bookmarks: Bookmark[];
  categories: Category[];
  /** Which one is open in the panel. */
  open: string | undefined;
  selected: ReadonlySet<string>;
  onSelect: (index: number, isRange: boolean) => void;
  onArchive: (bookmark: Bookmark) => void;
  onTags: (bookmark: Bookmark) => void;
  rowProps: ReturnType<typeof useListKeys>["rowProps"];
  order: Order | undefined;
  onOrder: (order: Order) => void;
}

/** The bookmarks, as cards, lines or rows of a table. */
export function Entries({
  ref,
  view,
  bookmarks,
  open,
  selected,
  onSelect,
  onArchive,
  onTags,
  rowProps,
  ...table
}: EntriesProps) {
  const propsOf = (index: number) => ({ ...rowProps(index), "data-open": bookmarks[index]?.id === open || undefined });
  return (
    <div ref={ref} tabIndex={-1} className={css.entries} data-selecting={selected.size > 0 || undefined}>
      {view === "table" ? (
        <BookmarkTable bookmarks={bookmarks} selected={selected} onSelect={onSelect} rowProps={propsOf} {...table} />
      ) : (
        <ul aria-label="Bookmarks" className={view === "cards" ? css.cards : css.lines}>
          {bookmarks.map((bookmark, index) => (
            <li key={bookmark.id} {...propsOf(index)} className={css.entry}>
              <Entry
                bookmark={bookmark}
                view={view}
                isSelected={selected.has(bookmark.id)}
                onSelect={(isRange) => onSelect(index, isRange)}
                onArchive={() => onArchive(bookmark)}
                onTags={() => onTags(bookmark)}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function LoadingEntries({ view }: { view: View }) {
  if (view !== "cards") return <SkeletonRows rows={8} height={view === "list" ? 56 : 32} />;
  return (
    <div role="status" className={css.cards}>
      <span className="only-heard">Loading</span>
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <div key={index} className={css.card}>
          <span className={css.place} />
          <span className={css.text}>
            <Skeleton width="80%" height={14} />
            <Skeleton width="50%" height={10} />
          </span>
          <span className={css.foot}>
            <Skeleton width={64} height={10} />
          </span>
        </div>
      ))}
    </div>
  );
}
