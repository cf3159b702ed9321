import type { QueryClient } from "@tanstack/react-query";
import { refreshSoon } from "~/live/refresh";
import type { Schema } from "./client";
import { type JobChange, onJobChanges } from "./job-changes";

/** The events of dead letters: Home needs them, and nothing else of dead letters. */

/** The key of what has become of a retry; its jobs follow. */
export const RESULTS = ["dead-letters", "results"] as const;

/** Letters come and go with the items that have failed. A job that has not begun has none. The time tells an item that has
 * failed again from one that has not run again: both events may have come as one. */
function failsOtherwise({ job: { counters, lastError, startedAt }, before }: JobChange): boolean {
  const known = before ?? (startedAt === null ? { error: 0, failedAt: "" } : undefined);
  return known?.error !== counters.error || known.failedAt !== (lastError?.at ?? "");
}

onJobChanges((client, changes) => {
  if (changes.some(failsOtherwise)) refreshSoon(client, ["dead-letters"]);
  else refreshResults(client, new Set(changes.map(({ job }) => job.id)));
});

/** What has become of a retry changes also while no item fails. */
function refreshResults(client: QueryClient, changed: ReadonlySet<string>): void {
  for (const { queryKey } of client.getQueryCache().findAll({ queryKey: RESULTS })) {
    const retried = queryKey[2] as Schema<"JobItems">[];
    if (retried.some(({ jobId }) => changed.has(jobId))) refreshSoon(client, queryKey);
  }
}
