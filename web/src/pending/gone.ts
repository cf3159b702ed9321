import { useEffect, useRef } from "react";
import type { ItemRow } from "~/api/items";
import { onLive } from "~/live/apply";
import { Store, useStore } from "~/shell/store";

const SHOWN_MS = 5000;
const deleted = new Store<ReadonlySet<string>>(new Set());

onLive("gone", (_client, jobs: { id: string }[]) => {
  const ids = jobs.map(({ id }) => id);
  deleted.update((now) => new Set([...now, ...ids]));
  setTimeout(() => deleted.update((now) => new Set([...now].filter((id) => !ids.includes(id)))), SHOWN_MS);
});

export const keyOf = (row: ItemRow) => `${row.jobId} ${row.id}`;

/** The rows, and for five seconds those whose jobs were deleted, in the order of the list: by job and number. */
export function withGone(rows: ItemRow[], before: ItemRow[], gone: ReadonlySet<string>): ItemRow[] {
  const present = new Map(rows.map((row) => [keyOf(row), row])); // a moved item may be on two pages
  const lost = before.filter((row) => gone.has(row.jobId) && !present.has(keyOf(row)));
  if (lost.length === 0) return [...present.values()];
  return [...present.values(), ...lost].sort(
    (a, b) => Number(a.jobId) - Number(b.jobId) || Number(a.id) - Number(b.id),
  );
}

export function useWithGone(rows: ItemRow[]): { shown: ItemRow[]; isGone: (row: ItemRow) => boolean } {
  const gone = useStore(deleted);
  const before = useRef<ItemRow[]>([]);
  const shown = withGone(rows, before.current, gone);
  useEffect(() => {
    before.current = shown;
  });
  return { shown, isGone: (row) => gone.has(row.jobId) };
}
