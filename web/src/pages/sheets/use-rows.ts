import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useApp } from "~/api/app";
import { type GridColumn, type GridFilter, type GridRow, gridPage } from "~/api/grid";
import { Blocks, type Rows } from "~/grid/blocks";
import { Found } from "~/grid/found";
import { Sorted } from "~/grid/sorted";

/** The column by which rows are sorted, "-" before it: downward. */
export function readSort(sort: string | undefined): { key?: string; isDown: boolean } {
  if (!sort) return { isDown: false };
  return sort.startsWith("-") ? { key: sort.slice(1), isDown: true } : { key: sort, isDown: false };
}

/** The order after a click on a column: upward, downward, and as in the file again. */
export function nextSort(sort: string | undefined, key: string): string | undefined {
  if (sort === `-${key}`) return undefined;
  return sort === key ? `-${key}` : key;
}

interface Wanted {
  jobId: string;
  total: number;
  filter: GridFilter;
  sort: string | undefined;
  columns: GridColumn[];
  /** The row at which a list of found rows begins. */
  start: number;
}

/** All rows by number; with a filter, those that it finds; with an order, all of them, sorted. */
export function useRows({ jobId, total, filter, sort, columns, start }: Wanted): Rows<GridRow> {
  const { limits } = useApp();
  const key = JSON.stringify([filter, sort]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the filter and the order; the total grows below
  const rows = useMemo(() => {
    const { key: column, isDown } = readSort(sort);
    const place = columns.findIndex((each) => each.key === column);
    if (place >= 0) {
      const load = (after: string | undefined, signal: AbortSignal) =>
        gridPage(jobId, { after, pageSize: limits.page }, filter, signal);
      return new Sorted(load, place, columns[place]!.type, isDown);
    }
    if (!filter.statuses && !filter.q) {
      return new Blocks<GridRow>(total, async (first, size, signal) => {
        const page = await gridPage(jobId, { from: first + 1, pageSize: size }, {}, signal);
        return { rows: page.rows, total: page.total };
      });
    }
    return new Found<GridRow>(async (at, signal) => {
      const page = await gridPage(jobId, at, filter, signal);
      const { rows: found, next, previous, total: all } = page;
      const farthest = at.before === undefined ? (next ? found.at(-1)?.id : all) : (previous ?? 1);
      return { rows: found, next, previous, searchedTo: page.searchedTo ?? Number(farthest ?? 0) };
    }, start);
  }, [jobId, key]);
  useSyncExternalStore(rows.subscribe, rows.version);
  useEffect(() => () => rows.stop(), [rows]);
  useEffect(() => {
    if (rows instanceof Blocks && total > rows.count) rows.grow(total);
  }, [rows, total]);
  return rows;
}
