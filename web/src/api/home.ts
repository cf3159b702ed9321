import { queryOptions } from "@tanstack/react-query";
import "./live-bookmarks"; // its events keep the newest bookmarks fresh …
import "./live-dead-letters"; // … and its events the newest dead letters
import { api, queryClient, type Schema, take } from "./client";
import { ProblemError } from "./problem";
import { retryLetters } from "./retry-letters";

/** What Home asks for besides jobs: small, bounded reads. */

export type Saved = Schema<"Bookmark">;
export type Letter = Schema<"DeadLetter">;
export type Letters = Schema<"DeadLetterPage">;
export type Queue = Schema<"Queue">;

export const LETTERS = 200;

/** The newest bookmarks; they fill in while their steps end. */
export const savedQuery = queryOptions({
  queryKey: ["bookmarks", "newest"],
  queryFn: async ({ signal }) => {
    const page = await take(api.GET("/api/bookmarks", { params: { query: { pageSize: 20 } }, signal }));
    return page.bookmarks as Saved[];
  },
  meta: { live: true },
});

/** The newest dead letters: Home groups them, and says when there are more. */
export const newestLettersQuery = queryOptions({
  queryKey: ["dead-letters", "newest"],
  queryFn: ({ signal }) => take(api.GET("/api/dead-letters", { params: { query: { pageSize: LETTERS } }, signal })),
  meta: { live: true },
});

/** Queues that wait until something is set up. */
export const parkedQuery = queryOptions({
  queryKey: ["queues"],
  queryFn: ({ signal }) => take(api.GET("/api/queues", { signal })),
  meta: { live: true },
  select: (queues) => queues.filter((queue) => queue.parked),
});

export type WaitingSheet = Schema<"ListedSheet">;

/** The newest sheets that wait for a person: their upload is not complete, or they were read and not started. */
export const waitingSheetsQuery = queryOptions({
  queryKey: ["sheets", "newest"],
  queryFn: ({ signal }) => take(api.GET("/api/sheets", { signal })),
  meta: { live: true },
  select: ({ sheets }) => sheets.filter((sheet) => isUnsent(sheet) || isUnstarted(sheet)),
});

export function isUnsent(sheet: WaitingSheet): boolean {
  return sheet.receivedAt === null && sheet.intakeJobId === null && sheet.state !== "CANCELLED" && !sheet.problem;
}

function isUnstarted({ readAt, state, counters, problem }: WaitingSheet): boolean {
  const isUntouched = counters !== null && counters.total > 0 && counters.pending === counters.total;
  return readAt !== null && state === "PAUSED" && isUntouched && !problem;
}

/** Run dead letters again, by one request: when the page is left, there is no second one. */
export async function retry(letters: Letter[]): Promise<void> {
  const { refused } = await retryLetters(letters);
  void queryClient.invalidateQueries({ queryKey: ["dead-letters"] });
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  if (refused[0]) throw new ProblemError({ status: 409, detail: refused[0].reason });
}

/** Submit the example that `forebay up` runs, in small. */
export async function loadDemo(): Promise<void> {
  const items = Array.from({ length: 60 }, (_, n) => ({
    title: `Text ${n + 1}`,
    body: n === 40 ? "1234" : "The river fills the forebay. The turbine takes what it can. ".repeat(1 + (n % 7)),
  }));
  await take(api.POST("/api/jobs", { body: { pipeline: "texts", items } }));
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
}
