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
  before?: number;
  pageSize?: number;
}

/** Rows of a grid from a number, after a page, or before a number. */
export function gridPage(jobId: string, place: Place, filter: GridFilter, signal?: AbortSignal): Promise<GridPage> {
  const { statuses, q } = filter;
  const query = {
    pageSize: place.pageSize ?? 200,
    ...(place.from !== undefined && { from: place.from }),
    ...(place.after && { after: place.after }),
    ...(place.before !== undefined && { before: place.before }),
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

/** The number of the last failed row before a row. */
export async function previousFailure(jobId: string, row: number): Promise<number | undefined> {
  let before: number | null = row;
  while (before !== null) {
    const { rows, previous }: GridPage = await gridPage(jobId, { before, pageSize: 1 }, FAILED);
    if (rows[0]) return Number(rows[0].id);
    before = previous;
  }
  return undefined;
}
