import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, take } from "./client";
import type { Job } from "./jobs";
import { attemptsOf, ofJob } from "./record";

/** A job of more items shows those that ran last. */
export const MOST_ITEMS = 200;
const MOST_PAGES = 10; // of attempts

/** The items of a job and their attempts; of a large job the last attempts, and no other items. */
export function timelineQuery(job: Job, me: { name: string }) {
  const isWhole = job.counters.total <= MOST_ITEMS;
  return queryOptions({
    queryKey: ["timeline", job.id, isWhole],
    queryFn: async ({ signal }) => {
      const path = { path: { job_id: job.id } };
      const [{ items }, { rows, isCut }] = await Promise.all([
        isWhole
          ? take(api.GET("/api/jobs/{job_id}/items", { params: { ...path, query: { pageSize: MOST_ITEMS } }, signal }))
          : { items: [] },
        attemptsOf(ofJob(job, me), isWhole ? MOST_PAGES : 1, signal),
      ]);
      return { items, attempts: rows, isCut };
    },
    meta: { live: true },
  });
}

const stale = (client: QueryClient, events: { jobId: string }[]) => {
  for (const jobId of new Set(events.map((event) => event.jobId))) refreshSoon(client, ["timeline", jobId]);
};
onLive("item", stale);
onLive("digest", stale);
