import { ArrowDown, ArrowUp } from "lucide-react";
import type { PointerEvent } from "react";
import { classes } from "~/ui/classes";
import { leftOf, type ShownColumn } from "./columns";
import css from "./grid.module.css";

export interface Sorting {
  /** The column by which rows are sorted; undefined: in the order of the file. */
  key?: string;
  isDown: boolean;
  /** Why they cannot be sorted. */
  cannot?: string | undefined;
  onSort: (key: string) => void;
}

interface HeaderProps {
  columns: ShownColumn[];
  firstWidth: number;
  template: string;
  width: number | string;
  sorting: Sorting;
  onWidth: (key: string, width: number) => void;
}

/** The titles of the columns: a click sorts, their edges are dragged to make them wider. */
export function Header({ columns, firstWidth, template, width, sorting, onWidth }: HeaderProps) {
  return (
    <div role="rowgroup" className={css.head} style={{ width }}>
      <div role="row" aria-rowindex={1} className={css.titles} style={{ gridTemplateColumns: template }}>
        <div role="columnheader" aria-colindex={1} className={classes(css.title, css.first)}>
          Row
        </div>
        {columns.map((column, index) => (
          <div
            key={column.key}
            role="columnheader"
            aria-colindex={index + 2}
            aria-sort={sortOf(column, sorting)}
            className={classes(
              css.title,
              column.kind === "found" && css.found,
              column.type === "number" && css.number,
              column.isPinned && css.pinned,
            )}
            style={column.isPinned ? { left: leftOf(columns, index, firstWidth) } : undefined}
          >
            <SortButton column={column} sorting={sorting} />
            <Edge width={column.width} onWidth={(to) => onWidth(column.key, to)} />
          </div>
        ))}
      </div>
    </div>
  );
}

function sortOf(column: ShownColumn, { key, isDown }: Sorting): "ascending" | "descending" | undefined {
  if (key !== column.key) return undefined;
  return isDown ? "descending" : "ascending";
}

/** The title itself. The key for the column of the current cell is `o`. */
function SortButton({ column, sorting }: { column: ShownColumn; sorting: Sorting }) {
  const isSorted = sorting.key === column.key;
  const Arrow = sorting.isDown ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={css.sort}
      aria-disabled={sorting.cannot ? true : undefined}
      title={`${column.title}. ${sorting.cannot ?? "Click to sort (o)"}`}
      onClick={() => sorting.cannot || sorting.onSort(column.key)}
    >
      <span className="cut">{column.title}</span>
      {isSorted && <Arrow aria-hidden="true" />}
    </button>
  );
}

function Edge({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const begin = (event: PointerEvent<HTMLSpanElement>) => {
    const edge = event.currentTarget;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onWidth(width + move.clientX - from);
    edge.onpointerup = edge.onpointercancel = () => {
      edge.onpointermove = null;
    };
  };
  return <span className={css.edge} aria-hidden="true" onPointerDown={begin} />;
}
