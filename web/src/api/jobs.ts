import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import type { Counts } from "~/ui/bar";
import { api, type Schema, take } from "./client";
import type { paths } from "./schema";

export type Job = Schema<"Job">;
export type JobState = Job["state"];
export type JobFilter = Omit<NonNullable<paths["/api/jobs"]["get"]["parameters"]["query"]>, "after">;

export const OPEN_STATES: ReadonlySet<JobState> = new Set(["QUEUED", "RUNNING", "PAUSED"]);

export function isOpen(job: Job): boolean {
  return OPEN_STATES.has(job.state);
}

/** A page of jobs, the newest first. */
export function jobsQuery(filter: JobFilter = {}) {
  return queryOptions({
    queryKey: ["jobs", filter],
    queryFn: ({ signal }) => take(api.GET("/api/jobs", { params: { query: filter }, signal })),
    meta: { live: true },
  });
}

/** All pages of jobs, one after the other. */
export function jobPagesQuery(filter: JobFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["jobs", "pages", filter],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/jobs", { params: { query: { ...filter, ...(pageParam ? { after: pageParam } : {}) } }, signal }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    meta: { live: true },
  });
}

type JobEntry = Schema<"JobEntry">;

/** The same with jobs of one item counted together by pipeline and hour; `each` shows them one by one. */
export function foldedJobsQuery(filter: JobFilter = {}, each = false) {
  return infiniteQueryOptions({
    queryKey: ["jobs", each ? "each" : "folded", filter],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filter, ...(pageParam ? { after: pageParam } : {}) };
      if (!each) return take(api.GET("/api/jobs/folded", { params: { query }, signal }));
      const { jobs, ...page } = await take(api.GET("/api/jobs", { params: { query }, signal }));
      return { ...page, entries: jobs.map((job): JobEntry => ({ job, group: null })) };
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    meta: { live: true },
  });
}

export function jobCountsQuery() {
  return queryOptions({
    queryKey: ["jobs", "counts"],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/counts", { signal })),
    meta: { live: true },
  });
}

/** Items per second at the pace of the last minute. */
export function rateOf(job: Job): number | undefined {
  return job.state === "RUNNING" && job.etaSeconds ? job.counters.pending / job.etaSeconds : undefined;
}

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/{job_id}", { params: { path: { job_id: id } }, signal })),
    meta: { live: true },
  });
}

/** The counters as parts of a bar. Running items are among the pending ones of a job. */
export function countsOf(job: Job): Counts {
  const { done, notFound, skipped, error, pending } = job.counters;
  return { done, notFound, skipped, error, pending };
}

type Steer = "pause" | "resume" | "cancel";

export function useSteerJob(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: Steer) => take(api.POST(`/api/jobs/{job_id}/${action}`, { params: { path: { job_id: id } } })),
    onSuccess: ({ state }) => putJob(client, id, (job) => ({ ...job, state })),
    onSettled: () => client.invalidateQueries({ queryKey: ["job", id] }),
  });
}

/** A page of any list of jobs: plain, or with entries of which some are groups. */
interface Page {
  jobs?: Job[];
  entries?: JobEntry[];
  next?: string | null;
}

function jobsOf(page: Page): Job[] {
  return page.jobs ?? page.entries?.map((entry) => entry.job).filter((job) => job !== null) ?? [];
}

function isPaged(data: unknown): data is { pages: Page[]; pageParams: unknown[] } {
  return typeof data === "object" && data !== null && "pages" in data;
}

/** Change a job wherever it is cached. */
export function putJob(client: QueryClient, id: string, change: (job: Job) => Job): void {
  const changed = (job: Job) => (job.id === id ? change(job) : job);
  const inPage = (page: Page): Page => {
    if (!jobsOf(page).some((job) => job.id === id)) return page;
    if (page.jobs) return { ...page, jobs: page.jobs.map(changed) };
    return {
      ...page,
      entries: page.entries?.map((entry) => (entry.job ? { ...entry, job: changed(entry.job) } : entry)),
    };
  };
  client.setQueryData<Job>(["job", id], (job) => job && change(job));
  client.setQueriesData<Page | { pages: Page[] }>({ queryKey: ["jobs"] }, (data) => {
    if (!data) return data;
    return isPaged(data) ? { ...data, pages: data.pages.map(inPage) } : inPage(data as Page);
  });
}

const REFRESH_MS = 2000;
let refreshing: ReturnType<typeof setTimeout> | undefined;

/** Ask for the lists again, at most once in two seconds: a job that no list has yet makes them old. */
function refreshLists(client: QueryClient): void {
  if (refreshing) return;
  refreshing = setTimeout(() => {
    refreshing = undefined;
    void client.invalidateQueries({ queryKey: ["jobs"] });
  }, REFRESH_MS);
}

onLive("job", (client, jobs: Job[]) => {
  const me = client.getQueryData<{ me: { name: string } }>(["app"])?.me.name;
  const lists = client
    .getQueriesData<Page | { pages: Page[] }>({ queryKey: ["jobs"] })
    .filter(([, data]) => data !== undefined);
  const showsAll = lists.some(([key]) => key.some(isFilterOfAll));
  const known = new Set(lists.flatMap(([, data]) => pagesOf(data).flatMap(jobsOf)).map((job) => job.id));
  for (const job of jobs) {
    if (!known.has(job.id) && (job.owner === me || showsAll)) refreshLists(client);
    putJob(client, job.id, (before) => (before.updatedAt > job.updatedAt ? before : { ...before, ...job }));
  }
});
onLive("gone", (client) => refreshLists(client));

function isFilterOfAll(part: unknown): boolean {
  return typeof part === "object" && part !== null && "userId" in part && part.userId === "all";
}

function pagesOf(data: unknown): Page[] {
  return isPaged(data) ? data.pages : [data as Page];
}
