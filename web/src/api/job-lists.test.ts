import { expect, test } from "vitest";
import {
  type Filter,
  fits,
  isAbove,
  type Job,
  type JobCounts,
  type JobEntry,
  type ListOfJobs,
  type Page,
  withCounted,
  withJobs,
  withoutJobs,
} from "./job-lists";

const STATES = ["QUEUED", "RUNNING", "PAUSED", "DONE", "FAILED", "CANCELLED"] as const;
const HOUR_MS = 3_600_000;

function job(id: number, given: Partial<Job> = {}, total = 1): Job {
  const counters = { total, pending: total, done: 0, skipped: 0, notFound: 0, error: 0 };
  return {
    id: String(id),
    parentId: null,
    pipeline: "pages",
    owner: "ann",
    state: "QUEUED",
    priority: 0,
    key: null,
    meta: {},
    sealed: true,
    counters,
    ip: null,
    file: null,
    createdAt: "2026-05-01T10:30:00Z",
    startedAt: null,
    finishedAt: null,
    updatedAt: "0",
    heartbeatAt: "2026-05-01T10:30:00Z",
    etaSeconds: null,
    lastError: null,
    subject: null,
    children: null,
    ...given,
  } as Job;
}

const list = (filter: Filter = {}, isFolded = false): ListOfJobs => ({
  filter,
  me: "ann",
  isFolded,
  counted: new Map(),
});
const page = (jobs: Job[], next: string | null = null): Page => ({
  entries: jobs.map((each) => ({ job: each, group: null })),
  next,
});
const idsOf = (pages: Page[]) => pages.map(({ entries }) => entries.map((entry) => entry.job?.id));

test("numbers are compared as numbers", () => {
  expect([isAbove("10", "9"), isAbove("9", "10"), isAbove("11", "10"), isAbove("10", "10")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test("a job comes to its place, changes there, and leaves when the filter does not match any more", () => {
  const running = list({ state: "QUEUED,RUNNING" });
  const pages = [page([job(12), job(8)], "x"), page([job(6)], "y")];
  const first = withJobs(pages, [job(10), job(7), job(3), job(20, { state: "DONE" })], running);
  expect([idsOf(first.now), first.isUnsure]).toEqual([
    [
      ["12", "10", "8"],
      ["7", "6"],
    ],
    false,
  ]);
  const later = withJobs(first.now, [job(8, { state: "DONE", updatedAt: "1" }), job(6, { file: "a.csv" })], running);
  expect(idsOf(later.now)).toEqual([
    ["12", "10"],
    ["7", "6"],
  ]);
  expect(later.now[1]?.entries[1]?.job?.file).toBe("a.csv");
  expect(withJobs(first.now, [job(30, { owner: "bob" })], running).now).toEqual(first.now);
  expect(idsOf(withoutJobs(first.now, new Set(["10", "6"])))).toEqual([["12", "8"], ["7"]]);
});

test("what an event does not tell has to be asked for", () => {
  const unsure = (pages: Page[], event: Job, filter: Filter = {}) => withJobs(pages, [event], list(filter)).isUnsure;
  expect(unsure([page([])], job(1), { q: "words" })).toBe(true);
  expect(unsure([page([])], job(1, { parentId: "7" }))).toBe(true); // an export is listed, a child is not
  expect(unsure([page([job(1, { updatedAt: "5" })])], job(1, { updatedAt: "4" }))).toBe(true);
  expect(unsure([page([])], job(1), { from: "2026-05-02T00:00:00Z" })).toBe(false);
  expect(unsure([page(Array.from({ length: 300 }, (_, n) => job(n + 1)))], job(301))).toBe(true); // too long by now
  const group = { ...grouped([job(5)], {})[0]!.group!, firstId: "4" };
  const folded = [{ entries: [{ job: null, group }], next: null }];
  expect(withJobs(folded, [job(5, { state: "DONE", updatedAt: "1" })], list({}, true)).isUnsure).toBe(true);
  expect(withJobs([{ ...folded[0]!, next: "x" }], [job(3)], list({}, true)).isUnsure).toBe(true);
  const counts = countsOf([job(5)]);
  expect(withCounted(counts, [job(5, { state: "DONE", updatedAt: "1" })], list()).isUnsure).toBe(true);
});

/** What the server answers. */
function grouped(jobs: Job[], filter: Filter): JobEntry[] {
  const rows = jobs.filter((each) => fits({ filter, me: "ann" }, each));
  const groups = new Map<string, Job[]>();
  for (const each of rows) {
    const isSingle = each.counters.total <= 1 && each.sealed;
    const hour = Math.floor(Date.parse(each.createdAt) / HOUR_MS) * HOUR_MS;
    const name = isSingle ? `${each.pipeline} ${new Date(hour).toISOString()}` : each.id;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const entries = [...groups].map(([name, own]): JobEntry => {
    if (!name.includes(" ")) return { job: own[0]!, group: null };
    const [pipeline, hour] = name.split(" ") as [string, string];
    const ids = own.map(({ id }) => Number(id));
    const sums = { total: 0, pending: 0, done: 0, skipped: 0, notFound: 0, error: 0 };
    for (const { counters } of own)
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += counters[key];
    return {
      job: null,
      group: {
        pipeline,
        hour,
        jobs: own.length,
        states: countsOf(own).states,
        counters: sums,
        firstId: String(Math.min(...ids)),
        lastId: String(Math.max(...ids)),
      },
    };
  });
  const newest = ({ job: one, group }: JobEntry) => Number(one?.id ?? group!.lastId);
  return entries.sort((one, other) => newest(other) - newest(one));
}

function countsOf(jobs: Job[]): JobCounts {
  const states = { queued: 0, running: 0, paused: 0, done: 0, failed: 0, cancelled: 0 };
  for (const { state } of jobs) states[state.toLowerCase() as keyof typeof states] += 1;
  const lastId = jobs.length > 0 ? String(Math.max(...jobs.map(({ id }) => Number(id)))) : null;
  return { states, exact: true, searched: jobs.length, searchedTo: null, lastId };
}

function named(entries: JobEntry[]) {
  const contents = entries.map(({ job: one, group }) => [
    one ? one.id : `${group?.pipeline} ${group?.hour}`,
    one ?? { ...group, firstId: "", lastId: "" },
  ]);
  return Object.fromEntries(contents);
}

test("where a job leaves a list of which not all is loaded, others take its place", () => {
  const running = [9, 8].map((id) => job(id, { state: "RUNNING" }));
  const ended = job(9, { state: "DONE", updatedAt: "1" });
  const all = withJobs([page(running)], [ended], list({ state: "RUNNING" }));
  const some = withJobs([page(running, "more")], [ended], list({ state: "RUNNING" }));
  expect([idsOf(all.now), idsOf(some.now)]).toEqual([[["8"]], [["8"]]]);
  expect([all.isUnsure, some.isUnsure]).toEqual([false, true]);
});

test("of more jobs than are remembered, none is counted twice", () => {
  const counting = list();
  const jobs = Array.from({ length: 6000 }, (_, n) => job(n + 1));
  const submitted = withCounted(countsOf([]), jobs, counting);
  const ended = jobs.slice(0, 100).map((each) => ({ ...each, state: "DONE" as const, updatedAt: "1" }));
  const { now } = withCounted(submitted.now, ended, counting);
  const counted = Object.values(now.states).reduce((sum, jobsOfState) => sum + jobsOfState, 0);
  expect([submitted.isUnsure, counted]).toEqual([true, 5000]);
});

test("after any events a list is what the server would answer, or is asked for", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1664525 + 1013904223) % 2 ** 32;
    return Math.floor((seed / 2 ** 32) * below);
  };
  for (let run = 0; run < 300; run++) {
    const isEmptyAtFirst = run % 5 === 0;
    const filter: Filter = [{}, { state: "QUEUED,RUNNING" }, { pipeline: "pages" }, { maxItems: 1 }][run % 4]!;
    const jobs = new Map<string, Job>();
    const put = (id: number, time: number) => {
      const total = id % 3 === 0 ? 2 : 1;
      const counters = { total, pending: total, done: 0, skipped: 0, notFound: 0, error: 0 };
      if (random(2)) [counters.pending, counters.done] = [total - 1, 1];
      const made = job(id, {
        pipeline: id % 2 ? "pages" : "files",
        createdAt: new Date(Date.UTC(2026, 4, 1, id >> 3)).toISOString(),
        state: STATES[random(STATES.length)]!,
        updatedAt: String(1000 + time),
        counters,
      });
      jobs.set(made.id, made);
      return made;
    };
    for (let id = 1; !isEmptyAtFirst && id <= random(8); id++) put(id, 0);
    const folded = list(filter, true);
    const counting = list(filter.state ? {} : { ...filter, pipeline: null });
    let pages: Page[] = [{ entries: grouped([...jobs.values()], filter), next: null }];
    let counts = countsOf([...jobs.values()]);
    for (let time = 1; time < 12; time++) {
      const events = Array.from({ length: 1 + random(3) }, () =>
        put(random(2) && jobs.size > 0 ? 1 + random(jobs.size) : jobs.size + 1, time),
      );
      const merged = [...new Map(events.map((each) => [each.id, each])).values()];
      const found = withJobs(pages, merged, folded);
      const number = withCounted(counts, merged, counting);
      pages = found.now;
      counts = number.now;
      if (found.isUnsure || number.isUnsure) {
        expect(isEmptyAtFirst).toBe(false); // of jobs that were submitted since then, events tell everything
        pages = [{ entries: grouped([...jobs.values()], filter), next: null }];
        counts = countsOf([...jobs.values()]);
        folded.counted.clear();
        counting.counted.clear();
      }
      // Which jobs are left in a group is not known: it stays where it was when its newest job leaves the list.
      expect(named(pages[0]!.entries)).toEqual(named(grouped([...jobs.values()], filter)));
      expect(counts.states).toEqual(countsOf([...jobs.values()]).states);
    }
  }
});
