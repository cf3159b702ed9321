import { useEffect, useRef, useState } from "react";
import { useCommands } from "./commands";

interface ListKeys {
  /** The name of the list in the palette and the `?` sheet. */
  group: string;
  count: number;
  onOpen: (index: number) => void;
  onSelect?: (index: number, isRange: boolean) => void;
  /** Select all rows, or none if they are selected. */
  onSelectAll?: () => void;
}

/** The attributes of a row. */
export type RowProps = ReturnType<ReturnType<typeof useListKeys>["rowProps"]>;

/** Keys of a list: j and k or arrows move, Enter opens, x selects, Shift+x selects a range, * all. Rows get `rowProps(index)`. */
export function useListKeys({ group, count, onOpen, onSelect, onSelectAll }: ListKeys) {
  const [at, setAt] = useState(-1);
  const rows = useRef(new Map<number, HTMLElement>());
  const now = Math.min(at, count - 1);
  useEffect(() => {
    if (now >= 0) rows.current.get(now)?.scrollIntoView({ block: "nearest" });
  }, [now]);
  const move = (by: number) => setAt(Math.max(0, Math.min(count - 1, now + by)));
  const open = () => now >= 0 && onOpen(now);
  useCommands([
    { id: `${group}-next`, title: "Next", group, keys: "j", run: () => move(1), hidden: true },
    { id: `${group}-previous`, title: "Previous", group, keys: "k", run: () => move(-1), hidden: true },
    { id: `${group}-down`, title: "Next", group, keys: "ArrowDown", run: () => move(1), hidden: true },
    { id: `${group}-up`, title: "Previous", group, keys: "ArrowUp", run: () => move(-1), hidden: true },
    { id: `${group}-open`, title: "Open", group, keys: "Enter", run: open, hidden: true },
    ...(onSelect
      ? [
          { id: `${group}-select`, title: "Select", group, keys: "x", run: () => now >= 0 && onSelect(now, false) },
          {
            id: `${group}-range`,
            title: "Select up to here",
            group,
            keys: "X",
            run: () => now >= 0 && onSelect(now, true),
          },
        ]
      : []),
    ...(onSelectAll ? [{ id: `${group}-all`, title: "Select all or none", group, keys: "*", run: onSelectAll }] : []),
  ]);
  return {
    at: now,
    rowProps: (index: number) => ({
      ref: (row: HTMLElement | null) => {
        if (row) rows.current.set(index, row);
        else rows.current.delete(index);
      },
      "data-at": index === now || undefined,
    }),
  };
}
