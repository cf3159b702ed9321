import type { Schema } from "./client";

/** Lists of jobs, kept fresh by events alone: a job is put into its place, changed, or taken out. */

export type Job = Schema<"Job">;
export type JobEntry = Schema<"JobEntry">;
type JobGroup = Schema<"JobGroup">;
export type JobCounts = Schema<"JobCounts">;

export interface Filter {
  pipeline?: string | null;
  state?: string | null;
  from?: string | null;
  to?: string | null;
  q?: string | null;
  minItems?: number | null;
  maxItems?: number | null;
  userId?: string;
}

/** What a list is, and what events have said since the server has answered it. */
export interface ListOfJobs {
  filter: Filter;
  me: string | undefined;
  /** Jobs of one item are counted together by pipeline and hour. */
  isFolded: boolean;
  /** The jobs as they are counted in groups and numbers, which do not name them. */
  counted: Map<string, Job>;
}

export interface Page {
  entries: JobEntry[];
  next: string | null;
}

/** `isUnsure`: an event did not tell everything, the list has to be asked for. */
export interface Changed<T> {
  now: T;
  isUnsure: boolean;
}

const MOST_COUNTED = 5000;
const MOST_ROWS = 300; // of a page: more were put in than it had, the server cuts it

/** Whether a list has a job; undefined: an event does not tell. */
export function fits({ filter, me }: Pick<ListOfJobs, "filter" | "me">, job: Job): boolean | undefined {
  const { total } = job.counters;
  const createdAt = Date.parse(job.createdAt);
  const isOut =
    (filter.userId !== "all" && job.owner !== me) ||
    (filter.pipeline && !names(filter.pipeline).includes(job.pipeline)) ||
    (filter.state && !names(filter.state).includes(job.state)) ||
    (filter.from && createdAt < Date.parse(filter.from)) ||
    (filter.to && createdAt >= Date.parse(filter.to)) ||
    (filter.minItems && total < filter.minItems) ||
    (typeof filter.maxItems === "number" && total > filter.maxItems);
  if (isOut) return false;
  // The server searches words in its own way, and leaves out the children of jobs, but not exports.
  return filter.q || job.parentId !== null ? undefined : true;
}

function names(joined: string): string[] {
  return joined.split(",").map((name) => name.trim());
}

/** Whether a number is larger; ids are strings. */
export function isAbove(id: string, other: string): boolean {
  return id.length === other.length ? id > other : id.length > other.length;
}

/** Pages with the jobs of events. */
export function withJobs(pages: readonly Page[], jobs: readonly Job[], list: ListOfJobs): Changed<Page[]> {
  const draft = new Draft(pages, list);
  for (const job of jobs) draft.put(job);
  return draft.changed();
}

class Draft {
  private readonly rows: Map<string, JobEntry>[];
  private readonly lowest: (string | undefined)[];
  private readonly isTouched: boolean[];
  private isUnsure = false;

  constructor(
    private readonly pages: readonly Page[],
    private readonly list: ListOfJobs,
  ) {
    this.rows = pages.map((page) => new Map(page.entries.map((entry) => [nameOf(entry), entry])));
    this.lowest = pages.map((page) => page.entries.map(lowestOf).reduce<string | undefined>(lower, undefined));
    this.isTouched = pages.map(() => false);
  }

  put(job: Job): void {
    const at = this.rows.findIndex((rows) => rows.has(job.id));
    if (!this.list.isFolded || !isSingle(job)) this.putRow(job, at);
    else if (at >= 0) {
      this.remove(at, job.id); // it was listed by itself while items could be added to it
      this.count(job, undefined);
    } else this.putIntoGroup(job);
  }

  private putRow(job: Job, at: number): void {
    const before = this.rows[at]?.get(job.id)?.job;
    const isIn = fits(this.list, job);
    if (before && before.updatedAt > job.updatedAt) this.isUnsure = true;
    else if (before && isIn === false) this.remove(at, job.id);
    else if (before) this.set(at, job.id, { job: { ...before, ...job }, group: null });
    else if (isIn === undefined) this.isUnsure = true;
    else if (isIn) this.insert(job.id, job.id, { job, group: null });
  }

  private putIntoGroup(job: Job): void {
    const before = this.list.counted.get(job.id);
    const group = this.groupOf(job)?.group;
    if (before && before.updatedAt > job.updatedAt) this.isUnsure = true;
    else if (before || !group || isAbove(job.id, group.lastId) || isAbove(group.firstId, job.id))
      this.count(job, before);
    else this.isUnsure = true; // it may be counted, and not as it is now
  }

  /** Count a job, instead of as it was before. */
  private count(job: Job, before: Job | undefined): void {
    const isIn = fits(this.list, job);
    if (isIn === undefined) {
      this.isUnsure = true;
      return;
    }
    remember(this.list.counted, job);
    const wasIn = before !== undefined && fits(this.list, before) === true;
    if (!wasIn && !isIn) return;
    const found = this.groupOf(job);
    if (!found && this.rows.some((rows) => rows.has(groupName(emptyGroup(job))))) {
      this.isUnsure = true; // older than what is loaded of the group
      return;
    }
    const old = found?.group ?? emptyGroup(job);
    const less = wasIn ? counted(old, before, -1) : old;
    const group = isIn ? counted(less, job, 1) : less;
    if (!found) this.insert(groupName(group), job.id, { job: null, group });
    else if (group.jobs > 0) this.set(found.at, groupName(group), { job: null, group });
    else this.remove(found.at, groupName(group));
  }

  private groupOf(job: Job): { at: number; group: JobGroup } | undefined {
    const name = groupName(emptyGroup(job));
    for (const [at, rows] of this.rows.entries()) {
      const group = rows.get(name)?.group;
      // One that goes on in the next page is in both.
      if (group && (!isAbove(group.firstId, job.id) || this.pages[at]!.next === null)) return { at, group };
    }
    return undefined;
  }

  private set(at: number, name: string, entry: JobEntry): void {
    this.rows[at]!.set(name, entry);
    this.isTouched[at] = true;
  }

  private remove(at: number, name: string): void {
    this.rows[at]!.delete(name);
    this.isTouched[at] = true;
    if (this.pages.at(-1)!.next !== null) this.isUnsure = true; // what was not loaded moves up
  }

  /** Into the page that it belongs to, if that is loaded. */
  private insert(name: string, id: string, entry: JobEntry): void {
    const last = this.pages.length - 1;
    const above = this.lowest.findIndex((lowest) => lowest !== undefined && isAbove(id, lowest));
    const at = above >= 0 ? above : this.pages[last]?.next === null ? last : -1;
    if (at >= 0) this.set(at, name, entry);
  }

  changed(): Changed<Page[]> {
    const isLong = this.rows.some((rows, at) => this.isTouched[at] && rows.size > MOST_ROWS);
    const now = this.pages.map((page, at) =>
      this.isTouched[at] ? { ...page, entries: [...this.rows[at]!.values()].sort(newestFirst) } : page,
    );
    return { now, isUnsure: this.isUnsure || isLong };
  }
}

/** Numbers of jobs by state, with the jobs of events. */
export function withCounted(counts: JobCounts, jobs: readonly Job[], list: ListOfJobs): Changed<JobCounts> {
  const states = { ...counts.states };
  let { searched } = counts;
  let isUnsure = false;
  for (const job of jobs) {
    if (list.filter.userId !== "all" && job.owner !== list.me) continue;
    const before = list.counted.get(job.id);
    // When no more jobs can be remembered, one that is not known may have been counted.
    const isFull = list.counted.size >= MOST_COUNTED;
    const isNew = !before && !isFull && (counts.lastId === null || isAbove(job.id, counts.lastId));
    if ((!before && !isNew) || (before && before.updatedAt > job.updatedAt)) {
      isUnsure = true;
      continue;
    }
    remember(list.counted, job);
    if (before) add(states, before, -1);
    else searched += 1;
    add(states, job, 1);
  }
  return { now: { ...counts, states, searched }, isUnsure };
}

/** Without jobs that were deleted. Groups do not name theirs. */
export function withoutJobs(pages: readonly Page[], ids: ReadonlySet<string>): Page[] {
  return pages.map((page) =>
    page.entries.some(({ job }) => job && ids.has(job.id))
      ? { ...page, entries: page.entries.filter(({ job }) => !job || !ids.has(job.id)) }
      : page,
  );
}

function remember(jobs: Map<string, Job>, job: Job): void {
  jobs.delete(job.id);
  jobs.set(job.id, job);
  if (jobs.size > MOST_COUNTED) jobs.delete(jobs.keys().next().value!);
}

function isSingle(job: Job): boolean {
  return job.sealed && job.counters.total <= 1;
}

function add(states: JobCounts["states"], job: Job, times: 1 | -1): void {
  const key = job.state.toLowerCase() as Lowercase<Job["state"]>;
  states[key] = (states[key] ?? 0) + times;
}

function nameOf({ job, group }: JobEntry): string {
  return job?.id ?? groupName(group!);
}

const HOUR_MS = 3_600_000;

function groupName({ pipeline, hour }: Pick<JobGroup, "pipeline" | "hour">): string {
  return `${pipeline} ${Date.parse(hour)}`;
}

function emptyGroup(job: Job): JobGroup {
  const hour = new Date(Math.floor(Date.parse(job.createdAt) / HOUR_MS) * HOUR_MS).toISOString();
  const states = { queued: 0, running: 0, paused: 0, done: 0, failed: 0, cancelled: 0 };
  const counters = { total: 0, pending: 0, done: 0, skipped: 0, notFound: 0, error: 0 };
  return { pipeline: job.pipeline, hour, jobs: 0, states, counters, firstId: job.id, lastId: job.id };
}

function counted(group: JobGroup, job: Job, times: 1 | -1): JobGroup {
  const counters = { ...group.counters };
  for (const name of Object.keys(counters) as (keyof typeof counters)[]) counters[name] += times * job.counters[name];
  const states = { ...group.states };
  add(states, job, times);
  return {
    ...group,
    jobs: group.jobs + times,
    states,
    counters,
    lastId: isAbove(job.id, group.lastId) ? job.id : group.lastId,
    firstId: isAbove(group.firstId, job.id) ? job.id : group.firstId,
  };
}

function lowestOf({ job, group }: JobEntry): string {
  return job?.id ?? group!.firstId;
}

function lower(lowest: string | undefined, id: string): string {
  return lowest !== undefined && isAbove(id, lowest) ? lowest : id;
}

function newestFirst(one: JobEntry, other: JobEntry): number {
  const [id, otherId] = [one, other].map(({ job, group }) => job?.id ?? group!.lastId) as [string, string];
  return id === otherId ? 0 : isAbove(id, otherId) ? -1 : 1;
}
