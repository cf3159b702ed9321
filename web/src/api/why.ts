import { queryOptions } from "@tanstack/react-query";
import { api, take } from "./client";

/** Why a job, or an item of it, waits. */
export function whyQuery(jobId: string, itemId?: string) {
  return queryOptions({
    queryKey: ["why", jobId, itemId ?? ""],
    queryFn: ({ signal }) =>
      itemId === undefined
        ? take(api.GET("/api/jobs/{job_id}/why", { params: { path: { job_id: jobId } }, signal }))
        : take(
            api.GET("/api/jobs/{job_id}/items/{item_id}/why", {
              params: { path: { job_id: jobId, item_id: itemId } },
              signal,
            }),
          ),
    meta: { live: true },
  });
}

/** How far each step of a job is. */
export function graphQuery(jobId: string) {
  return queryOptions({
    queryKey: ["graph", jobId],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/{job_id}/graph", { params: { path: { job_id: jobId } }, signal })),
    meta: { live: true },
  });
}
