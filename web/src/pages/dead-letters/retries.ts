import { queryClient, type Schema } from "~/api/client";
import type { LetterGroup } from "~/api/dead-letters";
import { Store } from "~/shell/store";
import { toast } from "~/shell/toasts";
import { plural, runsAgain } from "~/words";

/** The reason of a group, with a mark where its failures differ: the API has `#`, `<url>`, `<id>` or `<name>` there. */
export function withoutMasks(reason: string): string {
  return reason.replaceAll(/<(?:url|name|id)>|#/g, "…");
}

/** A retry from here: the group, and the items that ran again. */
export interface Retry {
  group: LetterGroup;
  items: number;
  jobs: Schema<"JobItems">[];
}

/** What is said where a retry was not started. */
export const NOTHING_RUNS = "Nothing runs again.";

/** The last retry of each group, until it is dismissed or the app is left. */
export const retries = new Store<ReadonlyMap<string, Retry>>(new Map());

export const groupKey = ({ pipeline, step, errorClass, reason }: LetterGroup) =>
  [pipeline, step, errorClass, reason].join(" ");

export function noteRetry(retry: Retry): void {
  retries.update((all) => new Map(all).set(groupKey(retry.group), retry));
}

/** Note what a retry of the group runs again, and say what it could not. */
export function noteStarted(done: Schema<"ReprocessedLetters">, group: LetterGroup | undefined, noun?: string): void {
  if (done.items > 0 && group) noteRetry({ group, items: done.items, jobs: done.byJob });
  if (done.leftOut > 0 || done.refused.length > 0) toast(startedWords(done, noun));
  void queryClient.invalidateQueries({ queryKey: ["dead-letters"] });
}

export function dropRetry(group: LetterGroup): void {
  retries.update((all) => new Map([...all].filter(([key]) => key !== groupKey(group))));
}

/** The groups, and those that were retried and have nothing left. */
export function withRetried(groups: LetterGroup[], retried: ReadonlyMap<string, Retry>): LetterGroup[] {
  const known = new Set(groups.map(groupKey));
  const gone = [...retried].filter(([key]) => !known.has(key)).map(([, { group }]) => ({ ...group, count: 0 }));
  return [...groups, ...gone];
}

/** Only those whose group is the one that is shown. */
export function retriesOf(retried: ReadonlyMap<string, Retry>, isShown: (group: LetterGroup) => boolean) {
  return new Map([...retried].filter(([, { group }]) => isShown(group)));
}

/** "3 items run again. 1 is left out: it is done without this step." */
export function startedWords({ items, leftOut, refused }: Schema<"ReprocessedLetters">, noun = "item"): string {
  const parts = [runsAgain(items, noun)];
  if (leftOut > 0) {
    const words = leftOut === 1 ? "1 is left out: it is" : `${plural(leftOut, "", "").trim()} are left out: they are`;
    parts.push(`${words} done without the step that failed.`);
  }
  if (refused.length > 0) parts.push(`${plural(refused.length, "job")} cannot run again: ${refused[0]!.reason}.`);
  return parts.join(" ");
}

/** "296 done, 16 failed again, 3 still open". */
export function resultWords({ done, skipped, failed, open }: Schema<"RetryResults">): string {
  const parts = [
    plural(done, "done", "done"),
    skipped > 0 && plural(skipped, "skipped", "skipped"),
    failed > 0 && plural(failed, "failed again", "failed again"),
    open > 0 && plural(open, "still open", "still open"),
  ];
  return parts.filter(Boolean).join(", ");
}
