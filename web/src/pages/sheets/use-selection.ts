import { useRef, useState } from "react";
import type { GridRow } from "~/api/grid";
import type { Rows } from "~/grid/blocks";

export interface Selection {
  /** All rows that match the filter, whether they are loaded or not. */
  isAll: boolean;
  ids: ReadonlySet<string>;
  has: (id: string) => boolean;
  toggle: (row: number, isRange: boolean) => void;
  all: () => void;
  toggleAll: () => void;
  clear: () => void;
  /** The selected rows that are loaded, in order. */
  rows: () => GridRow[];
}

const NONE: ReadonlySet<string> = new Set();

/** Which rows are selected: one by one, in ranges of loaded rows, or all. */
export function useSelection(rows: Rows<GridRow>): Selection {
  const [ids, setIds] = useState(NONE);
  const [isAll, setAll] = useState(false);
  const last = useRef<{ rows: Rows<GridRow>; row: number }>(undefined); // a place in another list is none in this one
  const clear = () => {
    setIds(NONE);
    setAll(false);
  };
  const toggle = (row: number, isRange: boolean) => {
    const from = isRange && last.current?.rows === rows ? last.current.row : row;
    last.current = { rows, row };
    const next = new Set(isAll ? NONE : ids);
    const found = between(rows, Math.min(from, row), Math.max(from, row)).map((each) => each.id);
    const drops = !isRange && found.every((id) => next.has(id));
    for (const id of found) {
      if (drops) next.delete(id);
      else next.add(id);
    }
    setAll(false);
    setIds(next);
  };
  const all = () => {
    setIds(NONE);
    setAll(rows.count > 0);
  };
  return {
    isAll,
    ids,
    has: (id) => isAll || ids.has(id),
    toggle,
    all,
    toggleAll: () => (isAll || ids.size > 0 ? clear() : all()),
    clear,
    rows: () => between(rows, 0, rows.count - 1).filter((row) => isAll || ids.has(row.id)),
  };
}

function between(rows: Rows<GridRow>, first: number, last: number): GridRow[] {
  const found: GridRow[] = [];
  for (let place = first; place <= last; place++) {
    const row = rows.at(place);
    if (row) found.push(row);
  }
  return found;
}
