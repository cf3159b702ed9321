import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { bothWays, pageAt } from "./both-ways";
import { api, type Schema, take } from "./client";
import { type JobChange, onJobChanges } from "./job-changes";
import type { paths } from "./schema";

export type Item = Schema<"Item">;
export type ItemRow = Schema<"ItemRow">;
export type ItemStep = Schema<"ItemStep">;
export type Attempt = Schema<"Attempt">;
export type ItemStatus = ItemRow["status"];
export type PendingFilter = Omit<NonNullable<paths["/api/pending"]["get"]["parameters"]["query"]>, "after">;

/** The number under which tasks run that are of the whole job. */
export const WHOLE = "0";

export const OPEN_STATUSES = ["PENDING", "PROCESSING"] as const;
export const ITEM_STATUSES = ["PROCESSING", "PENDING", "ERROR", "NOT_FOUND", "SKIPPED", "DONE"] as const;

const OF_JOB: ReadonlySet<unknown> = new Set(["item", "items", "graph", "why"]);
const LARGE_JOB = 5000; // items, as the API has it

export function isOpenItem({ status }: { status: ItemStatus }): boolean {
  return status === "PENDING" || status === "PROCESSING";
}

interface ItemsFilter {
  statuses?: readonly string[];
  step?: string;
  from?: string;
  to?: string;
}

/** The items of a job by number, of a step those that are or have failed there; a page may be short before the end. */
export function itemsQuery(jobId: string, { statuses = [], ...more }: ItemsFilter = {}) {
  const queryKey = ["items", jobId, statuses, more];
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/jobs/{job_id}/items", {
          params: {
            path: { job_id: jobId },
            query: {
              ...pageAt(pageParam),
              ...(statuses.length > 0 && { statuses: statuses.join(",") }),
              ...more,
            },
          },
          signal,
        }),
      ),
    ...bothWays<Schema<"ItemPage">>(queryKey),
    meta: { live: true },
  });
}

/** Items that are open, or have the chosen statuses, of all jobs. */
export function pendingQuery(filter: PendingFilter) {
  const queryKey = ["items", "pending", filter];
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/pending", { params: { query: { ...filter, ...pageAt(pageParam) } }, signal })),
    ...bothWays<Schema<"ItemPage">>(queryKey),
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

/** Pause, resume or end open items, one after the other. Returns how many were changed. */
export async function steerItems(
  rows: { jobId: string; id: string }[],
  action: "pause" | "resume" | "cancel",
): Promise<number> {
  let count = 0;
  for (const { jobId, id } of rows) {
    const path = { params: { path: { job_id: jobId, item_id: id } } };
    const { changed } = await take(api.POST(`/api/jobs/{job_id}/items/{item_id}/${action}`, path));
    count += Number(changed);
  }
  return count;
}

/** Run items again; nothing chosen: all items of the job with these statuses. */
export function reprocess(jobId: string, body: Schema<"Reprocess">) {
  // It may be sent when the page is left.
  const request = { params: { path: { job_id: jobId } }, body, keepalive: true };
  return take(api.POST("/api/jobs/{job_id}/reprocess", request));
}

export function itemTitle(row: ItemRow): string {
  const { title, brand, sku } = row.inputSummary;
  return [title, brand].filter(Boolean).join(", ") || sku || row.key || `item ${row.id}`;
}

// What goes on in a job may change the items of all jobs.
const stalePending = (client: QueryClient) => refreshSoon(client, ["items", "pending"]);
onLive("job", stalePending);
onLive("gone", stalePending);

// An event of an item makes what shows it old; large jobs send a digest of ranges instead.
onLive("item", (client, items: { jobId: string; id: string }[]) => {
  for (const { jobId, id } of items) refreshSoon(client, ["item", jobId, id]);
  for (const jobId of new Set(items.map((item) => item.jobId))) stale(client, jobId);
});
onLive("digest", (client, digests: { jobId: string }[]) => {
  for (const jobId of new Set(digests.map((each) => each.jobId))) stale(client, jobId);
});

/** Whether items of a job may wait for something else than before: it was paused or continued, or some run again. Ends of
 * items have events of their own. */
function waitsOtherwise({ job, before }: JobChange): boolean {
  return !before || before.state !== job.state || before.pending < job.counters.pending;
}

// Of a large job, a digest tells that as well, and more rarely.
onJobChanges((client, changes) => {
  const cached = client.getQueryCache().findAll({ predicate: ({ queryKey }) => OF_JOB.has(queryKey[0]) });
  const known = new Set(cached.map(({ queryKey }) => queryKey[1]));
  for (const { job } of changes.filter(waitsOtherwise)) {
    if (!known.has(job.id) || job.counters.total > LARGE_JOB) continue;
    const shown = cached.filter(({ queryKey }) => queryKey[0] === "item" && queryKey[1] === job.id);
    refreshSoon(client, ...shown.map(({ queryKey }) => queryKey)); // the same keys as events of items have
    stale(client, job.id);
  }
});

function stale(client: QueryClient, jobId: string): void {
  refreshSoon(client, ["items", jobId], ["graph", jobId], ["why", jobId]);
}
