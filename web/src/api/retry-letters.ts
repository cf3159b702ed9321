import { api, type Schema, take } from "./client";

/** In a file of its own, as Home needs nothing else of dead letters. */

const KEPT_ALIVE = 60_000; // bytes that a browser sends when the page is left

/** Run the items of these letters again, also when the page is left. */
export function retryLetters(letters: Schema<"DeadLetter">[], userId?: string): Promise<Schema<"ReprocessedLetters">> {
  const byJob = Map.groupBy(letters, (letter) => letter.jobId);
  const items = [...byJob].map(([jobId, own]) => ({
    jobId,
    numbers: [...new Set(own.map((letter) => letter.itemId))].join(","),
  }));
  const body = { items, ...(userId === "all" && ({ userId } as const)) };
  return take(api.POST("/api/dead-letters/reprocess", { body, keepalive: JSON.stringify(body).length < KEPT_ALIVE }));
}
