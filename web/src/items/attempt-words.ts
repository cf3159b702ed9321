import type { Attempt, Item, ItemStep } from "~/api/items";
import { duration } from "~/format";

/** Classes of errors: what each means for the one who reads it. */
export const CLASSES: Record<string, { word: string; meaning: string }> = {
  transient: { word: "Passing error", meaning: "It may work at another time." },
  throttled: { word: "Asked for patience", meaning: "The other side wants fewer requests." },
  not_found: { word: "Not there", meaning: "The other side does not have it." },
  permanent: { word: "Permanent error", meaning: "No retry helps unless something changes." },
  data: { word: "Unusable input", meaning: "The input cannot be processed as it is." },
  config: { word: "Not set up", meaning: "Something is missing on the server." },
  resource: { word: "Machine at its limit", meaning: "The worker takes less for a while." },
};

/** Outcomes that do not count against the attempts of the step. */
const FREE: ReadonlySet<Attempt["outcome"]> = new Set(["THROTTLED", "SNOOZED", "RELEASED"]);

/** "attempt 2 of 4"; without the number of all where the pipeline is not known. */
export function attemptWords(attempt: number, most: number | undefined): string {
  return `attempt ${attempt}${most && most >= attempt ? ` of ${most}` : ""}`;
}

/** What came, or comes, after an attempt. `later` is the next attempt of the same step, if there was one; the time of a
 * next one is `step.nextAt`, which the page writes itself. */
export function nextWords(item: Item, attempt: Attempt, later: Attempt | undefined): string {
  const free = FREE.has(attempt.outcome) ? " This one did not count." : "";
  if (later) {
    const pause = (Date.parse(later.claimedAt ?? later.startedAt) - Date.parse(attempt.endedAt)) / 1000;
    return `Tried again ${pause < 0.5 ? "at once" : `after ${duration(pause)}`}.${free}`;
  }
  const step = item.steps.find(({ name }) => name === attempt.step);
  return step ? `${atStep(item, step)}${free}` : "";
}

function atStep(item: Item, step: ItemStep): string {
  switch (step.state) {
    case "SCHEDULED":
      return step.nextAt ? "Tried again at its time:" : "Waits for a signal.";
    case "WAITING":
      return "In line for the next attempt.";
    case "RUNNING":
      return `Tried again: it runs on ${step.worker ?? "a worker"}.`;
    case "HELD":
      return "Paused: it is tried again when the item is resumed.";
    case "BLOCKED":
      return "Tried again after the steps before it.";
    case "FAILED":
      return step.optional
        ? "No further attempt: the step is optional, and the item goes on."
        : "No further attempt: the item has failed.";
    case "NOT_FOUND":
      return "No further attempt: the item ended as not found.";
    case "SKIPPED":
      return "No further attempt: the step was skipped.";
    case "DONE":
      return after(item, step);
  }
}

function after(item: Item, step: ItemStep): string {
  const next = item.steps.filter((each) => each.after.includes(step.name)).map(({ name }) => name);
  return next.length > 0 ? `Then ${next.join(", ")}.` : "It was the last step.";
}
