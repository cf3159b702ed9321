import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, take } from "./client";

export type GridRow = Schema<"GridRow">;
export type GridColumn = Schema<"GridColumn">;
export type GridPage = Schema<"GridPage">;
export type Slice = Schema<"RibbonSlice">;

export interface GridFilter {
  statuses?: readonly string[] | undefined;
  q?: string | undefined;
}

interface Place {
  from?: number;
  after?: string | undefined;
  pageSize?: number;
}

/** Rows of a grid from a number, or after a page. */
export function gridPage(jobId: string, place: Place, filter: GridFilter, signal?: AbortSignal): Promise<GridPage> {
  const { statuses, q } = filter;
  const query = {
    pageSize: place.pageSize ?? 200,
    ...(place.from !== undefined && { from: place.from }),
    ...(place.after && { after: place.after }),
    ...(statuses?.length && { statuses: statuses.join(",") }),
    ...(q && { q }),
  };
  return take(
    api.GET("/api/jobs/{job_id}/grid", { params: { path: { job_id: jobId }, query }, ...(signal && { signal }) }),
  );
}

/** The columns of a grid and its number of rows; the rows themselves are kept by the grid. */
export function gridQuery(jobId: string) {
  return queryOptions({
    queryKey: ["grid", jobId],
    queryFn: async ({ signal }) => {
      const { columnDetails, total } = await gridPage(jobId, { pageSize: 1 }, {}, signal);
      return { columns: columnDetails, total };
    },
  });
}

export function ribbonQuery(jobId: string) {
  return queryOptions({
    queryKey: ["ribbon", jobId],
    queryFn: ({ signal }) =>
      take(api.GET("/api/jobs/{job_id}/ribbon", { params: { path: { job_id: jobId } }, signal })),
  });
}

const FAILED = { statuses: ["ERROR", "NOT_FOUND"] };

/** The number of the first failed row after a row; undefined: there is none. */
export async function nextFailure(jobId: string, row: number): Promise<number | undefined> {
  let place: Place = { from: row + 1, pageSize: 1 };
  while (true) {
    const { rows, next } = await gridPage(jobId, place, FAILED);
    if (rows[0]) return Number(rows[0].id);
    if (!next) return undefined;
    place = { after: next, pageSize: 1 };
  }
}

/** The number of the last failed row before a row. The slices say where to look: the list only goes forward. */
export async function previousFailure(jobId: string, row: number, slices: Slice[]): Promise<number | undefined> {
  const before = slices.filter((slice) => slice.from < row && slice.error + slice.notFound > 0).reverse();
  for (const slice of before) {
    const found = await lastFailure(jobId, slice.from, Math.min(slice.to, row - 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function lastFailure(jobId: string, from: number, to: number): Promise<number | undefined> {
  let found: number | undefined;
  let place: Place = { from };
  while (true) {
    const { rows, next } = await gridPage(jobId, place, FAILED);
    const inside = rows.map((each) => Number(each.id)).filter((id) => id <= to);
    found = inside.at(-1) ?? found;
    if (!next || inside.length < rows.length || (rows.length === 0 && found !== undefined)) return found;
    place = { after: next };
  }
}
