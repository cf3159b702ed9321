import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, queryClient, type Schema, take } from "./client";
import { forward, pageFrom } from "./pages";

export type Instance = Schema<"Instance">;
export type InstanceDetail = Schema<"InstanceDetail">;
export type AttachmentFile = Schema<"AttachmentFile">;
export type Delivery = Schema<"Delivery">;
export type AttachmentStatus = Schema<"AttachmentStatus">;
export type Quota = Schema<"Quota">;
export type Sender = Schema<"SenderInfo">;

export interface InstanceFilter {
  q?: string | undefined;
  status?: AttachmentFile["status"] | undefined;
  source?: string | undefined;
}

const KEY = "attachments";

export function instancesQuery(filter: InstanceFilter) {
  return infiniteQueryOptions({
    queryKey: [KEY, "instances", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/attachments/instances", { params: { query: { ...filter, ...pageFrom(pageParam) } }, signal })),
    ...forward,
    meta: { live: true },
  });
}

export function instanceQuery(id: string) {
  return queryOptions({
    queryKey: [KEY, "instance", id],
    queryFn: ({ signal }) =>
      take(api.GET("/api/attachments/instances/{instance_id}", { params: { path: { instance_id: id } }, signal })),
    meta: { live: true },
  });
}

export function deliveriesQuery(filter: { verdict?: Delivery["verdict"] | undefined; source?: string | undefined }) {
  return infiniteQueryOptions({
    queryKey: [KEY, "deliveries", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/attachments/deliveries", { params: { query: { ...filter, ...pageFrom(pageParam) } }, signal }),
      ),
    ...forward,
    meta: { live: true },
  });
}

export const statusQuery = queryOptions({
  queryKey: [KEY, "status"],
  queryFn: ({ signal }) => take(api.GET("/api/attachments/status", { signal })),
  meta: { live: true },
});

export const quotaQuery = queryOptions({
  queryKey: [KEY, "quota"],
  queryFn: ({ signal }) => take(api.GET("/api/attachments/quota", { signal })),
  meta: { live: true },
});

export const sendersQuery = queryOptions({
  queryKey: [KEY, "senders"],
  queryFn: ({ signal }) => take(api.GET("/api/attachments/sources", { signal })),
});

/** Download again: one file, the failed files of an instance, or all that failed. */
export async function retryFiles(what: { fileId: string } | { instanceId: string } | "all"): Promise<number> {
  const { files } =
    what === "all"
      ? await take(api.POST("/api/attachments/retry", {}))
      : "fileId" in what
        ? await take(
            api.POST("/api/attachments/files/{attachment_id}/retry", {
              params: { path: { attachment_id: what.fileId } },
            }),
          )
        : await take(
            api.POST("/api/attachments/instances/{instance_id}/retry", {
              params: { path: { instance_id: what.instanceId } },
            }),
          );
  void queryClient.invalidateQueries({ queryKey: [KEY] });
  return files;
}

const PIPELINES = ["attachments", "attachment_files"];

// Events name jobs and items, not attachments: what is shown is asked for again.
for (const event of ["item", "job"] as const) {
  onLive(event, (client, values: { pipeline: string }[]) => {
    if (values.some(({ pipeline }) => PIPELINES.includes(pipeline))) refreshSoon(client, [KEY]);
  });
}
