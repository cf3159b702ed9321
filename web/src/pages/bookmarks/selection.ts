/** What is selected in a list: single bookmarks, or all that match. */
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
