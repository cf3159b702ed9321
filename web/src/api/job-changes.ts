import type { QueryClient } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import type { Schema } from "./client";

/** What the last event of a job said about it, as far as others ask. */
interface Seen {
  state: string;
  pending: number;
  error: number;
  failedAt: string;
}

export interface JobChange {
  job: Schema<"Job">;
  /** Undefined: no event of this job was seen before, or long ago. */
  before: Seen | undefined;
}

const MOST_JOBS = 5000;
const lastSeen = new Map<string, Seen>();
const listeners: ((client: QueryClient, changes: JobChange[]) => void)[] = [];

/** Hear of jobs together with what was known of them before. */
export function onJobChanges(listener: (client: QueryClient, changes: JobChange[]) => void): void {
  listeners.push(listener);
}

onLive("job", (client, jobs: Schema<"Job">[]) => {
  const changes = jobs.map((job) => ({ job, before: replaced(job) }));
  for (const listener of listeners) listener(client, changes);
});

function replaced({ id, state, counters, lastError }: Schema<"Job">): Seen | undefined {
  const before = lastSeen.get(id);
  lastSeen.delete(id); // the last one that an event was about is the last one to be forgotten
  lastSeen.set(id, { state, pending: counters.pending, error: counters.error, failedAt: lastError?.at ?? "" });
  if (lastSeen.size > MOST_JOBS) lastSeen.delete(lastSeen.keys().next().value!);
  return before;
}
