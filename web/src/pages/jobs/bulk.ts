import { isOpen, type Job } from "~/api/jobs";
import { plural } from "~/words";

export type Act = "pause" | "resume" | "cancel" | "retry";

/** With which jobs each action is possible. */
export const legal: Record<Act, (job: Job) => boolean> = {
  pause: (job) => isOpen(job) && job.state !== "PAUSED",
  resume: (job) => job.state === "PAUSED",
  cancel: isOpen,
  retry: (job) => job.counters.error > 0,
};

/** Do the same with each, one after the other, or at once; one that fails does not keep the others from it. Returns how many.
 *
 * Raises the first error, with the number of those that failed. */
export async function onEach<T>(
  all: T[],
  act: (one: T) => Promise<unknown>,
  { atOnce = false }: { atOnce?: boolean } = {},
): Promise<number> {
  const errors: unknown[] = [];
  const attempt = (one: T) => act(one).catch((error: unknown) => void errors.push(error));
  if (atOnce) await Promise.all(all.map(attempt));
  else for (const one of all) await attempt(one);
  const [first] = errors;
  if (errors.length === 0) return all.length;
  if (first instanceof Error && errors.length > 1)
    first.message = `${first.message} (${plural(errors.length, "job")} of ${all.length})`;
  throw first;
}
