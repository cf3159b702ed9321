import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, take } from "./client";
import type { paths } from "./schema";

type AuditFilter = Omit<NonNullable<paths["/api/audit"]["get"]["parameters"]["query"]>, "after">;
type AttemptFilter = Omit<NonNullable<paths["/api/attempts"]["get"]["parameters"]["query"]>, "after">;

/** Who did what, the newest first. */
export function auditQuery(filter: AuditFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/audit", { params: { query: { ...filter, ...(pageParam && { after: pageParam }) } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** Attempts, the newest first. */
export function attemptsQuery(filter: AttemptFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["attempts", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/attempts", { params: { query: { ...filter, ...(pageParam && { after: pageParam }) } }, signal }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
}
