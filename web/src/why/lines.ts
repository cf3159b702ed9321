import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, take } from "~/api/client";
import { isOpen, type Job } from "~/api/jobs";

const MOST = 20; // as the API has it
const WATCHED_MS = 60_000;

/** Whether a job is open and does not move: it is paused, or nothing of it has ended of late. */
export function isWaiting(job: Job): boolean {
  return isOpen(job) && (job.state !== "RUNNING" || job.etaSeconds === null);
}

/** Why jobs of a list wait, each in a sentence; its page says more. The first twenty are asked for, by one request. */
export function useWhyLines(jobs: Job[]): ReadonlyMap<string, string> {
  const asked = jobs.filter(isWaiting).slice(0, MOST);
  const { data } = useQuery({
    // Another state is another reason.
    queryKey: ["why", "jobs", asked.map(({ id, state }) => `${id} ${state}`).sort()],
    queryFn: async ({ signal }) => {
      const jobIds = asked.map(({ id }) => id).join(",");
      const [words, answer] = await Promise.all([
        import("./words"), // not with the first load
        take(api.GET("/api/why", { params: { query: { jobIds } }, signal })),
      ]);
      return new Map(answer.jobs.map(({ jobId, at, reason }) => [jobId, words.say(reason, at)]));
    },
    enabled: asked.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: WATCHED_MS,
  });
  return data ?? NONE;
}

const NONE: ReadonlyMap<string, string> = new Map();
