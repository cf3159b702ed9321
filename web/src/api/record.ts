import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, take } from "./client";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

type AuditFilter = Omit<NonNullable<paths["/api/audit"]["get"]["parameters"]["query"]>, "after">;
type AttemptFilter = Omit<NonNullable<paths["/api/attempts"]["get"]["parameters"]["query"]>, "after">;

/** Who did what, the newest first. */
export function auditQuery(filter: AuditFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/audit", { params: { query: { ...filter, ...pageFrom(pageParam) } }, signal })),
    ...forward,
  });
}

/** Attempts, the newest first. */
export function attemptsQuery(filter: AttemptFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ["attempts", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/attempts", { params: { query: { ...filter, ...pageFrom(pageParam) } }, signal })),
    ...forward,
  });
}

const MOST_PAGES = 100;
const PAGE_SIZE = 200;

/** The rows of one job; of somebody else's, for an administrator who looks at it. */
export interface OfJob {
  jobId: string;
  userId?: "all";
}

export function ofJob(job: { id: string; owner: string }, me: { name: string }): OfJob {
  return { jobId: job.id, ...(job.owner !== me.name && { userId: "all" }) };
}

/** Everything that the record of a job has, the newest first; `isCut`: only the newest 20,000 of a list. */
export async function wholeRecord(where: OfJob) {
  const audit = await allPages(async (after) => {
    const query = { ...where, pageSize: PAGE_SIZE, ...(after && { after }) };
    const page = await take(api.GET("/api/audit", { params: { query } }));
    return { rows: page.audit, next: page.next };
  });
  const attempts = await attemptsOf(where, MOST_PAGES);
  return { audit: audit.rows, attempts: attempts.rows, isCut: audit.isCut || attempts.isCut };
}

/** The attempts of a job, the newest first; at most so many pages of 200. */
export function attemptsOf(where: OfJob, pages: number, signal?: AbortSignal) {
  return allPages(async (after) => {
    const query = { ...where, pageSize: PAGE_SIZE, ...(after && { after }) };
    const page = await take(api.GET("/api/attempts", { params: { query }, ...(signal && { signal }) }));
    return { rows: page.attempts, next: page.next };
  }, pages);
}

async function allPages<T>(load: (after: string) => Promise<{ rows: T[]; next: string | null }>, pages = MOST_PAGES) {
  const rows: T[] = [];
  let after = "";
  for (let page = 0; page < pages; page++) {
    const found = await load(after);
    rows.push(...found.rows);
    if (!found.next) return { rows, isCut: false };
    after = found.next;
  }
  return { rows, isCut: true };
}
