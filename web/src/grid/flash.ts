import { type RefObject, useEffect, useRef } from "react";
import type { GridRow } from "~/api/grid";
import type { ShownColumn } from "./columns";

const FLASH_MS = 200;
const FLASH = [{ backgroundColor: "var(--run-tint)", offset: 0 }];

/** The places of the cells that differ, of the same row: 0 is its status, then the columns that are shown. */
export function changedCells(before: GridRow | undefined, now: GridRow | undefined, columns: ShownColumn[]): number[] {
  if (!before || !now || before === now || before.id !== now.id) return [];
  const cells = columns.flatMap(({ place }, index) => (before.cells[place] === now.cells[place] ? [] : [index + 1]));
  return before.status === now.status ? cells : [0, ...cells];
}

/** Cells that have changed light up once; not for people who want no motion. */
export function useFlash(element: RefObject<HTMLElement | null>, row: GridRow | undefined, columns: ShownColumn[]) {
  const before = useRef(row);
  useEffect(() => {
    const changed = changedCells(before.current, row, columns);
    before.current = row;
    if (changed.length === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const place of changed) element.current?.children[place]?.animate(FLASH, FLASH_MS);
  }, [element, row, columns]);
}
