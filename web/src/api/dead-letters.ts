import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schema, take } from "./client";
import type { paths } from "./schema";

export type LetterGroup = Schema<"DeadLetterGroup">;
export type DeadLetter = Schema<"DeadLetter">;
type Summary = NonNullable<paths["/api/dead-letters/summary"]["get"]["parameters"]["query"]>;
type Letters = Omit<NonNullable<paths["/api/dead-letters"]["get"]["parameters"]["query"]>, "after">;

/** What has failed for good, in groups of the same reason. */
export function lettersSummaryQuery(filter: Summary = {}) {
  return queryOptions({
    queryKey: ["dead-letters", "summary", filter],
    queryFn: ({ signal }) => take(api.GET("/api/dead-letters/summary", { params: { query: filter }, signal })),
    meta: { live: true },
  });
}

export function lettersQuery(filter: Letters = {}) {
  return infiniteQueryOptions({
    queryKey: ["dead-letters", "list", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/dead-letters", {
          params: { query: { ...filter, ...(pageParam && { after: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    meta: { live: true },
  });
}

/** Run everything of a group again. */
export function retryGroup(group: LetterGroup) {
  const { pipeline, step, errorClass, reason } = group;
  return take(api.POST("/api/dead-letters/reprocess", { body: { filter: { pipeline, step, errorClass, reason } } }));
}
