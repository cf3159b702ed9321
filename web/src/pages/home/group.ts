import type { Letter } from "~/api/home";
import type { Job } from "~/api/jobs";
import { dayOf, startOfDay, weekday } from "~/format";

/** A reason without what differs between items of the same trouble: numbers, ids, addresses, quoted values. */
export function masked(reason: string | null): string {
  if (!reason) return "no reason was given";
  return reason
    .replace(/https?:\/\/\S+/g, "…")
    .replace(/'[^']*'|"[^"]*"|“[^”]*”/g, "…")
    .replace(/\b[0-9a-f]{8,}\b/gi, "…")
    .replace(/\d+(\.\d+)?/g, "…");
}

export interface Trouble {
  key: string;
  pipeline: string;
  step: string;
  /** Word for word, if all are the same; else what they have in common. */
  reason: string;
  letters: Letter[];
}

/** Dead letters by step and reason, the most first. */
export function troubles(letters: Letter[]): Trouble[] {
  const groups = Map.groupBy(letters, (letter) => `${letter.pipeline}.${letter.step} ${masked(letter.reason)}`);
  return [...groups]
    .map(([key, own]) => {
      const first = own[0]!;
      const isSame = own.every((letter) => letter.reason === first.reason);
      return {
        key,
        pipeline: first.pipeline,
        step: first.step,
        reason: isSame ? (first.reason ?? masked(null)) : masked(first.reason),
        letters: own,
      };
    })
    .sort((a, b) => b.letters.length - a.letters.length);
}

/** Today, yesterday, or the date of a time. */
export function day(time: string, now: Date): string {
  const date = new Date(time);
  if (date >= startOfDay(dayOf(now))) return "Today";
  if (date >= startOfDay(dayOf(now), -1)) return "Yesterday";
  return weekday(date);
}

/** Jobs of several lists, each once, the newest first. */
export function union(...lists: (Job[] | undefined)[]): Job[] {
  const found = new Map(lists.flatMap((list) => list ?? []).map((job) => [job.id, job]));
  return [...found.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}
