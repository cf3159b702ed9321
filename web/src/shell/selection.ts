import { useState } from "react";

/** What is selected in a list, by keys: single rows, or all that match. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** Where the last selection was made: a range begins there. */
  anchor?: string;
  /** All that match the filter, also those that are not loaded. */
  all?: boolean;
}

export const NOTHING: Selection = { ids: new Set() };

export function toggled({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** With everything from the last selected one up to this one. */
export function extended({ ids, anchor }: Selection, id: string, listed: readonly string[]): Selection {
  const from = anchor === undefined ? -1 : listed.indexOf(anchor);
  const to = listed.indexOf(id);
  if (from < 0 || to < 0) return toggled({ ids }, id);
  return { ids: new Set([...ids, ...listed.slice(Math.min(from, to), Math.max(from, to) + 1)]), anchor: id };
}

/** All that are loaded, or none if they are selected already. */
export function allOrNone({ ids }: Selection, listed: readonly string[]): Selection {
  return listed.length > 0 && listed.every((id) => ids.has(id)) ? NOTHING : { ids: new Set(listed) };
}

/** Without those that have left the list. */
export function present({ ids, anchor, all }: Selection, listed: readonly string[]): Selection {
  const kept = listed.filter((id) => ids.has(id));
  return { ids: new Set(kept), ...(anchor !== undefined && { anchor }), ...(all && kept.length > 0 && { all }) };
}

/** What is selected among the listed keys. `select` is for the keys of a list and for boxes to tick, with Shift a range. */
export function useSelection(listed: readonly string[]) {
  const [given, set] = useState(NOTHING);
  const now = present(given, listed);
  return {
    ...now,
    select: (index: number, isRange: boolean) => {
      const key = listed[index];
      if (key !== undefined) set(isRange ? extended(now, key, listed) : toggled(now, key));
    },
    toggleAll: () => set(allOrNone(now, listed)),
    selectAllMatching: () => set({ ids: new Set(listed), all: true }),
    /** Without these, whatever was selected meanwhile. */
    drop: (keys: ReadonlySet<string>) => set(({ ids }) => ({ ids: new Set([...ids].filter((id) => !keys.has(id))) })),
    clear: () => set(NOTHING),
  };
}
