import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { api, type Schema, take } from "./client";
import type { paths } from "./schema";

export type Item = Schema<"Item">;
export type ItemRow = Schema<"ItemRow">;
export type ItemStep = Schema<"ItemStep">;
export type Attempt = Schema<"Attempt">;
export type ItemStatus = ItemRow["status"];
export type PendingFilter = Omit<NonNullable<paths["/api/pending"]["get"]["parameters"]["query"]>, "after">;

export const ITEM_STATUSES = ["PROCESSING", "PENDING", "ERROR", "NOT_FOUND", "SKIPPED", "DONE"] as const;

/** The items of a job by number; a page may be short before the end. */
export function itemsQuery(jobId: string, statuses: readonly string[] = []) {
  return infiniteQueryOptions({
    queryKey: ["items", jobId, statuses],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/jobs/{job_id}/items", {
          params: {
            path: { job_id: jobId },
            query: {
              ...(statuses.length > 0 && { statuses: statuses.join(",") }),
              ...(pageParam && { after: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    meta: { live: true },
  });
}

/** Items that are open, or have the chosen statuses, of all jobs. */
export function pendingQuery(filter: PendingFilter) {
  return infiniteQueryOptions({
    queryKey: ["items", "pending", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/pending", { params: { query: { ...filter, ...(pageParam && { after: pageParam }) } }, signal }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    meta: { live: true },
  });
}

export function itemQuery(jobId: string, itemId: string) {
  return queryOptions({
    queryKey: ["item", jobId, itemId],
    queryFn: ({ signal }) =>
      take(
        api.GET("/api/jobs/{job_id}/items/{item_id}", {
          params: { path: { job_id: jobId, item_id: itemId } },
          signal,
        }),
      ),
    meta: { live: true },
  });
}

/** Run items again; nothing chosen: all items of the job with these statuses. */
export function reprocess(jobId: string, body: Schema<"Reprocess">) {
  return take(api.POST("/api/jobs/{job_id}/reprocess", { params: { path: { job_id: jobId } }, body }));
}

export function itemTitle(row: ItemRow): string {
  const { title, brand, sku } = row.inputSummary;
  return [title, brand].filter(Boolean).join(", ") || sku || row.key || `item ${row.id}`;
}

// An event of an item makes what shows it old; large jobs send a digest of ranges instead.
onLive("item", (client, items: { jobId: string; id: string }[]) => {
  for (const { jobId, id } of items) void client.invalidateQueries({ queryKey: ["item", jobId, id] });
  for (const jobId of new Set(items.map((item) => item.jobId))) stale(client, jobId);
});
onLive("digest", (client, digests: { jobId: string }[]) => {
  for (const jobId of new Set(digests.map((each) => each.jobId))) stale(client, jobId);
});

function stale(client: Parameters<Parameters<typeof onLive>[1]>[0], jobId: string): void {
  for (const noun of ["items", "graph", "why"]) void client.invalidateQueries({ queryKey: [noun, jobId] });
}
