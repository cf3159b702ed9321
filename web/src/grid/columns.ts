import { useEffect, useMemo, useState } from "react";
import type { GridColumn } from "~/api/grid";
import { keep, kept, onKept } from "~/shell/kept";

export interface ShownColumn extends GridColumn {
  /** The place of its cells in a row from the server. */
  place: number;
  width: number;
  isPinned: boolean;
}

/** What a person has changed, by the keys of columns. */
interface Choice {
  widths: Record<string, number>;
  hidden: string[];
  order: string[];
  /** Those that stay in view on the left. */
  pinned: string[];
  /** The one that a narrow screen shows. */
  single?: string;
}

const NOTHING: Choice = { widths: {}, hidden: [], order: [], pinned: [] };
const LEAST = 56;
const MOST = 800;
const WIDTHS = { text: 176, number: 104, link: 200, image: 160, status: 112, score: 104 };

function stored(name: string): Choice {
  return { ...NOTHING, ...kept<Partial<Choice>>(name) };
}

/** Columns in the order of a person, the pinned ones first, without the hidden ones. */
export function arrange(columns: GridColumn[], choice: Choice): ShownColumn[] {
  const placed = columns.map((column, place) => ({
    ...column,
    place,
    width: choice.widths[column.key] ?? WIDTHS[column.type],
    isPinned: choice.pinned.includes(column.key),
  }));
  const rank = (key: string, place: number) => {
    const found = choice.order.indexOf(key);
    return found < 0 ? choice.order.length + place : found;
  };
  return placed
    .filter((column) => !choice.hidden.includes(column.key))
    .sort((a, b) => Number(b.isPinned) - Number(a.isPinned) || rank(a.key, a.place) - rank(b.key, b.place));
}

/** Where a pinned column stays, from the left edge of the grid. */
export function leftOf(columns: ShownColumn[], index: number, firstWidth: number): number {
  return columns.slice(0, index).reduce((sum, column) => sum + column.width, firstWidth);
}

function toggled(keys: string[], key: string): string[] {
  return keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key];
}

/** The columns of a grid as a person has arranged them; the status is in the first column of each row. */
export function useColumns(of: string, all: GridColumn[]) {
  const name = `columns.${of}`;
  const [choice, setChoice] = useState(() => stored(name));
  // What comes from the account meanwhile is shown: a change would otherwise replace it by what was shown before.
  useEffect(
    () => onKept((changed, isFromServer) => isFromServer && changed === name && setChoice(stored(name))),
    [name],
  );
  const change = (to: Partial<Choice>) => {
    const next = { ...choice, ...to };
    setChoice(next);
    keep(name, next);
  };
  const shown = useMemo(() => arrange(all, choice).filter((column) => column.type !== "status"), [all, choice]);
  return {
    shown,
    isHidden: (column: string) => choice.hidden.includes(column),
    setWidth: (column: string, width: number) =>
      change({ widths: { ...choice.widths, [column]: Math.max(LEAST, Math.min(MOST, Math.round(width))) } }),
    toggle: (column: string) => change({ hidden: toggled(choice.hidden, column) }),
    pin: (column: string) => change({ pinned: toggled(choice.pinned, column) }),
    move: (column: string, by: 1 | -1) => {
      const order = arrange(all, { ...choice, hidden: [] }).map((each) => each.key);
      const from = order.indexOf(column);
      const to = from + by;
      if (to < 0 || to >= order.length) return;
      order.splice(to, 0, ...order.splice(from, 1));
      change({ order });
    },
    /** The column that is shown where there is room for one. */
    single: shown.find(({ key }) => key === choice.single) ?? shown.find(({ kind }) => kind === "own") ?? shown[0],
    setSingle: (column: string) => change({ single: column }),
    reset: () => change(NOTHING),
    inOrder: arrange(all, { ...choice, hidden: [] }).filter((column) => column.type !== "status"),
  };
}
