import { Link } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import type { ComponentProps } from "react";
import type { Bookmark, Category } from "~/api/bookmarks";
import { Marks, titleOf } from "~/bookmarks/marks";
import { Icon } from "~/bookmarks/picture";
import { exact, host } from "~/format";
import { type Column, Table } from "~/ui/list";
import { Time } from "~/ui/time";
import css from "./bookmarks.module.css";
import { Kind, Tags } from "./card";

export type Order = "newest" | "oldest";

interface BookmarkTableProps {
  bookmarks: Bookmark[];
  categories: Category[];
  selected: ReadonlySet<string>;
  onSelect: (index: number, isRange: boolean) => void;
  rowProps: (index: number) => ComponentProps<"tr">;
  /** Undefined: in the order of relevance. */
  order: Order | undefined;
  onOrder: (order: Order) => void;
}

/** Bookmarks as a table. The server lists them by age, so only that column sets the order. */
export function BookmarkTable(props: BookmarkTableProps) {
  const { bookmarks, selected, rowProps } = props;
  return (
    <Table
      label="Bookmarks"
      columns={columns(props)}
      rows={bookmarks}
      rowKey={(bookmark) => bookmark.id}
      isSelected={(bookmark) => selected.has(bookmark.id)}
      rowProps={rowProps}
    />
  );
}

function columns({
  bookmarks,
  categories,
  selected,
  onSelect,
  order,
  onOrder,
}: BookmarkTableProps): Column<Bookmark>[] {
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  const places = new Map(bookmarks.map(({ id }, index) => [id, index]));
  return [
    {
      key: "select",
      title: <span className="only-heard">Selected</span>,
      cell: (bookmark) => (
        <input
          type="checkbox"
          className={css.box}
          aria-label={`Select ${titleOf(bookmark)}`}
          checked={selected.has(bookmark.id)}
          onClick={(event) => onSelect(places.get(bookmark.id)!, event.shiftKey)}
          onChange={() => undefined}
        />
      ),
    },
    { key: "title", title: "Title", isClear: true, cell: (bookmark) => <Name bookmark={bookmark} /> },
    {
      key: "site",
      title: "Site",
      isClear: true,
      cell: (bookmark) => <span className={css.short}>{bookmark.site ?? host(bookmark.url)}</span>,
    },
    { key: "tags", title: "Tags", isClear: true, cell: (bookmark) => <Tags tags={bookmark.tags} /> },
    { key: "category", title: "Category", cell: ({ categoryId }) => (categoryId ? names.get(categoryId) : null) },
    { key: "words", title: "Words", number: true, cell: ({ words }) => (words === null ? null : exact(words)) },
    { key: "steps", title: "Steps", cell: (bookmark) => <Marks bookmark={bookmark} /> },
    {
      key: "saved",
      title: order ? <OrderButton order={order} onOrder={onOrder} /> : "Saved",
      ...(order && { order: order === "newest" ? "descending" : "ascending" }),
      cell: ({ createdAt }) => <Time value={createdAt} />,
    },
  ];
}

function Name({ bookmark }: { bookmark: Bookmark }) {
  const name = titleOf(bookmark);
  return (
    <span className={css.name}>
      <Icon bookmark={bookmark} />
      <Link
        from="/bookmarks"
        to="/bookmarks"
        search={(now) => ({ ...now, open: bookmark.id })}
        resetScroll={false}
        className="cut"
        title={name}
      >
        {name}
      </Link>
      <Kind bookmark={bookmark} />
    </span>
  );
}

function OrderButton({ order, onOrder }: { order: Order; onOrder: (order: Order) => void }) {
  const next = order === "newest" ? "oldest" : "newest";
  return (
    <button type="button" className={css.order} title={`Show the ${next} first`} onClick={() => onOrder(next)}>
      Saved {order === "newest" ? <ArrowDown aria-hidden="true" /> : <ArrowUp aria-hidden="true" />}
    </button>
  );
}
