import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, type Schema, take } from "./client";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type LetterGroup = Schema<"DeadLetterGroup">;
export type DeadLetter = Schema<"DeadLetter">;
type Summary = NonNullable<paths["/api/dead-letters/summary"]["get"]["parameters"]["query"]>;
type Letters = Omit<NonNullable<paths["/api/dead-letters"]["get"]["parameters"]["query"]>, "after">;

const RESULTS = ["dead-letters", "results"] as const;

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
          params: { query: { ...filter, ...pageFrom(pageParam) } },
          signal,
        }),
      ),
    ...forward,
    meta: { live: true },
  });
}

/** Run everything of a group again. */
export function retryGroup(group: LetterGroup) {
  const { pipeline, step, errorClass, reason } = group;
  return take(api.POST("/api/dead-letters/reprocess", { body: { filter: { pipeline, step, errorClass, reason } } }));
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

const failures = new Map<string, string>(); // of each job, as the last event said
const MOST_JOBS = 5000;

// Letters come and go with the items that have failed. A job that has not begun has none. The time tells an item that has
// failed again from one that has not run again: both events may have come as one.
onLive("job", (client, jobs: Schema<"Job">[]) => {
  const isChanged = jobs.map(({ id, counters, lastError, startedAt }) => {
    const now = `${counters.error} ${lastError?.at ?? ""}`;
    const before = failures.get(id) ?? (startedAt === null ? "0 " : undefined);
    failures.set(id, now);
    return before !== now;
  });
  while (failures.size > MOST_JOBS) failures.delete(failures.keys().next().value!);
  if (isChanged.includes(true)) refreshSoon(client, ["dead-letters"]);
  else refreshResults(client, new Set(jobs.map(({ id }) => id)));
});

/** What has become of a retry changes also while no item fails. */
function refreshResults(client: QueryClient, changed: ReadonlySet<string>): void {
  for (const { queryKey } of client.getQueryCache().findAll({ queryKey: RESULTS })) {
    const [, , retried] = queryKey as ReturnType<typeof resultsQuery>["queryKey"];
    if (retried.some(({ jobId }) => changed.has(jobId))) refreshSoon(client, queryKey);
  }
}
