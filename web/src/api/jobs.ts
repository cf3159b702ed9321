import {
  infiniteQueryOptions,
  type Query,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshRarely, refreshSoon } from "~/live/refresh";
import type { Counts } from "~/ui/bar";
import { api, take } from "./client";
import {
  type Changed,
  type Filter,
  type Job,
  type JobCounts,
  type JobEntry,
  type ListOfJobs,
  type Page,
  withCounted,
  withJobs,
  withoutJobs,
} from "./job-lists";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type { Job } from "./job-lists";
export type JobState = Job["state"];
export type JobFilter = Omit<NonNullable<paths["/api/jobs"]["get"]["parameters"]["query"]>, "after">;

export const OPEN_STATES: ReadonlySet<JobState> = new Set(["QUEUED", "RUNNING", "PAUSED"]);

export function isOpen(job: Pick<Job, "state">): boolean {
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

/** The same with jobs of one item counted together by pipeline and hour; `each` shows them one by one. */
export function foldedJobsQuery(filter: JobFilter = {}, each = false) {
  return infiniteQueryOptions({
    queryKey: ["jobs", each ? "each" : "folded", filter],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filter, ...pageFrom(pageParam) };
      if (!each) return take(api.GET("/api/jobs/folded", { params: { query }, signal }));
      const { jobs, ...page } = await take(api.GET("/api/jobs", { params: { query }, signal }));
      return { ...page, entries: jobs.map((job): JobEntry => ({ job, group: null })) };
    },
    ...forward,
    meta: { live: true },
  });
}

export function jobCountsQuery(filter: { userId?: string } = {}) {
  return queryOptions({
    queryKey: ["jobs", "counts", filter],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/counts", { params: { query: filter }, signal })),
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

function knownJob(client: QueryClient, id: string): Job | undefined {
  const lists = answered(jobLists(client)).map((query) => query.state.data as Cached);
  const listed = lists.flatMap((data) =>
    "jobs" in data
      ? data.jobs
      : "pages" in data
        ? data.pages.flatMap((page) => page.entries.map(({ job }) => job))
        : [],
  );
  return client.getQueryData<Job>(["job", id]) ?? listed.find((job) => job?.id === id) ?? undefined;
}

type Steer = "pause" | "resume" | "cancel";

export function steerJob(id: string, action: Steer) {
  return take(api.POST(`/api/jobs/{job_id}/${action}`, { params: { path: { job_id: id } } }));
}

export function useSteerJob(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: Steer) => steerJob(id, action),
    onSuccess: ({ state }) => {
      const job = knownJob(client, id);
      if (job) putJobs(client, [{ ...job, state }]);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["job", id] }),
  });
}

/** The numbers, or the pages, of a query for jobs. */
type Cached = JobCounts | { jobs: Job[]; next: string | null } | { pages: Page[]; pageParams: unknown[] };

// What events have said since the answer of each query.
const counted = new WeakMap<Query, { answeredAt: number; jobs: Map<string, Job> }>();

function listOf(query: Query, me: string | undefined): ListOfJobs {
  const { dataUpdatedAt } = query.state;
  let known = counted.get(query);
  if (known?.answeredAt !== dataUpdatedAt) {
    known = { answeredAt: dataUpdatedAt, jobs: new Map() };
    counted.set(query, known);
  }
  return {
    filter: query.queryKey.at(-1) as Filter,
    me,
    isFolded: query.queryKey[1] === "folded",
    counted: known.jobs,
  };
}

function entriesOf(jobs: Job[]): JobEntry[] {
  return jobs.map((job) => ({ job, group: null }));
}

function changed(data: Cached, jobs: Job[], list: ListOfJobs): Changed<Cached> {
  if ("states" in data) return withCounted(data, jobs, list);
  if ("pages" in data) {
    const { now, isUnsure } = withJobs(data.pages, jobs, list);
    return { now: { ...data, pages: now }, isUnsure };
  }
  const { now, isUnsure } = withJobs([{ entries: entriesOf(data.jobs), next: data.next }], jobs, list);
  return { now: { ...data, jobs: now[0]!.entries.map((entry) => entry.job!) }, isUnsure };
}

/** Write what an event says. The answer is as old as it was, and a question that is due is still due. */
function write(client: QueryClient, query: Query, now: unknown): void {
  const { dataUpdatedAt, isInvalidated } = query.state;
  client.setQueryData(query.queryKey, now, { updatedAt: dataUpdatedAt });
  if (isInvalidated) query.invalidate();
}

function jobLists(client: QueryClient): Query[] {
  return client.getQueryCache().findAll({ queryKey: ["jobs"] });
}

function answered(lists: Query[]): Query[] {
  return lists.filter((query) => query.state.data !== undefined);
}

/** Whether an answer is under way, also the first one: it may be older than an event. */
function isAsked(query: Query): boolean {
  return query.state.fetchStatus === "fetching";
}

/** Put jobs wherever they are cached. */
function putJobs(client: QueryClient, jobs: Job[]): void {
  const me = client.getQueryData<{ me: { name: string } }>(["app"])?.me.name;
  const lists = jobLists(client);
  const old = new Set(lists.filter(isAsked));
  for (const query of answered(lists)) {
    const { now, isUnsure } = changed(query.state.data as Cached, jobs, listOf(query, me));
    write(client, query, now);
    if (isUnsure) old.add(query);
  }
  for (const query of old) refreshRarely(client, query.queryKey);
  for (const job of jobs) putJob(client, job);
}

/** Put a job where it is cached by itself. */
function putJob(client: QueryClient, job: Job): void {
  const query = client.getQueryCache().find({ queryKey: ["job", job.id] });
  if (!query) return;
  const before = query.state.data as Job | undefined;
  // An answer may be newer than an event; but of two changes the one that began first may be committed last.
  const isOlder = before !== undefined && before.updatedAt > job.updatedAt;
  if (before && !isOlder) write(client, query, { ...before, ...job });
  if (isOlder || isAsked(query)) refreshSoon(client, query.queryKey);
}

onLive("job", putJobs);
onLive("gone", (client, gone: { id: string }[]) => {
  const ids = new Set(gone.map(({ id }) => id));
  const lists = jobLists(client);
  for (const query of answered(lists)) {
    const data = query.state.data as Cached;
    if ("pages" in data) write(client, query, { ...data, pages: withoutJobs(data.pages, ids) });
    else if ("jobs" in data) write(client, query, { ...data, jobs: data.jobs.filter((job) => !ids.has(job.id)) });
  }
  for (const query of lists) refreshRarely(client, query.queryKey);
});
