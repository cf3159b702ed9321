import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schema, take } from "./client";
import { RESULTS } from "./live-dead-letters";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type LetterGroup = Schema<"DeadLetterGroup">;
export type DeadLetter = Schema<"DeadLetter">;
type Summary = NonNullable<paths["/api/dead-letters/summary"]["get"]["parameters"]["query"]>;
/** Which dead letters; an empty class: those without one. The reason is that of a group. */
export type LetterFilter = Pick<Summary, "pipeline" | "step" | "errorClass" | "reason" | "userId">;
export type Reprocessed = Schema<"ReprocessedLetters">;

/** What has failed for good, in groups of the same reason. */
export function lettersSummaryQuery(filter: Summary = {}) {
  return queryOptions({
    queryKey: ["dead-letters", "summary", filter],
    queryFn: ({ signal }) => take(api.GET("/api/dead-letters/summary", { params: { query: filter }, signal })),
    meta: { live: true },
  });
}

export function lettersQuery(filter: LetterFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["dead-letters", "list", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/dead-letters", {
          params: { query: { ...filter, ...pageFrom(pageParam) } },
          signal,
        }),
      ),
    ...forward,
    meta: { live: true },
  });
}

/** Run all that match again, also when the page is left; with `dryRun`, only count them. */
export function retryMatching({ userId, ...filter }: LetterFilter, dryRun = false): Promise<Reprocessed> {
  const body = { filter, dryRun, ...(userId === "all" && ({ userId } as const)) };
  return take(api.POST("/api/dead-letters/reprocess", { body, keepalive: !dryRun }));
}

/** What a retry of all that match would run. */
export function retryPlanQuery(filter: LetterFilter) {
  return queryOptions({
    queryKey: ["dead-letters", "plan", filter],
    queryFn: () => retryMatching(filter, true),
    staleTime: 0,
  });
}

/** What has become of the items that a retry has run again. */
export function resultsQuery(jobs: Schema<"JobItems">[]) {
  return queryOptions({
    queryKey: [...RESULTS, jobs] as const,
    queryFn: ({ signal }) =>
      take(
        api.POST("/api/dead-letters/results", {
          body: { jobs: jobs.map(({ jobId, numbers }) => ({ jobId, numbers })) },
          signal,
        }),
      ),
    meta: { live: true },
  });
}
