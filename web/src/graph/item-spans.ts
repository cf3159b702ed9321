import type { Attempt, Item, ItemRow } from "~/api/items";
import type { Job } from "~/api/jobs";
import { duration, exactTime } from "~/format";
import { statusWord } from "~/words";
import type { Kind, Span } from "./timeline";

const PAUSES: Partial<Record<Attempt["outcome"], Kind>> = { ERROR: "backoff", THROTTLED: "throttled" };

/** The attempts of an item and the waits between them, as spans; times are seconds since it was created. */
export function spansOf(item: Item, now: Date): Span[] {
  const start = Date.parse(item.createdAt);
  const at = (time: string | Date) => Math.max(0, (new Date(time).getTime() - start) / 1000);
  const spans: Span[] = [];
  for (const step of item.steps) {
    const tried = item.attempts
      .filter((attempt) => attempt.step === step.name)
      .sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    const { ready, waits } = pushAttempts(spans, step.name, tried, readyAt(item, step.after, at), at);
    if (step.state === "RUNNING" && step.startedAt) {
      pushWait(spans, step.name, waits, ready, at(step.startedAt));
      spans.push({
        row: step.name,
        kind: "run",
        from: at(step.startedAt),
        to: at(now),
        outcome: "RUNNING",
        title: `Running on ${step.worker ?? "a worker"}`,
      });
    } else if (step.state === "WAITING" || step.state === "SCHEDULED") {
      pushWait(spans, step.name, waits, ready, at(now));
    }
  }
  return spans;
}

/** The runs of these attempts, and the waits before them; returns since when, and for what, the next one waits. */
function pushAttempts(
  spans: Span[],
  row: string,
  tried: Attempt[],
  from: number,
  at: (time: string) => number,
): { ready: number; waits: Kind } {
  let ready = from;
  let waits: Kind = "line";
  for (const attempt of tried) {
    const [began, ended] = [at(attempt.startedAt), at(attempt.endedAt)];
    const claimed = Math.min(began, at(attempt.claimedAt ?? attempt.startedAt)); // two clocks
    pushWait(spans, row, waits, ready, claimed);
    if (began > claimed)
      spans.push({
        row,
        kind: "claimed",
        from: claimed,
        to: began,
        title: `At ${attempt.worker}, not begun, ${duration(began - claimed)}`,
      });
    const said = `${attempt.step}: ${statusWord(attempt.outcome).toLowerCase()} after ${duration(ended - began)} on ${attempt.worker}, ${exactTime(new Date(attempt.startedAt))}`;
    spans.push({
      row,
      kind: "run",
      from: began,
      to: ended,
      outcome: attempt.outcome,
      title: attempt.reason ? `${said}: ${attempt.reason}` : said,
    });
    ready = Math.max(ready, ended);
    waits = PAUSES[attempt.outcome] ?? "line";
  }
  return { ready, waits };
}

/** The same for items of a job, a row for each; the attempts of all steps are in it, named by their step. */
export function spansOfItems(job: Job, items: ItemRow[], attempts: Attempt[], now: Date): Span[] {
  const isWhole = items.length > 0;
  const first = Math.min(...attempts.map((attempt) => Date.parse(attempt.claimedAt ?? attempt.startedAt)));
  const start = isWhole ? Date.parse(job.createdAt) : first;
  const at = (time: string | Date) => Math.max(0, (new Date(time).getTime() - start) / 1000);
  const tried = Map.groupBy(attempts, (attempt) => attempt.itemId);
  const open = new Map(items.map((item) => [item.id, item]));
  const spans: Span[] = [];
  for (const id of new Set([...open.keys(), ...tried.keys()])) {
    const own = (tried.get(id) ?? []).sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    const from = isWhole ? 0 : at(own[0]!.claimedAt ?? own[0]!.startedAt);
    const { ready, waits } = pushAttempts(spans, id, own, from, at);
    const item = open.get(id);
    if (item?.status === "PROCESSING" && item.lockedAt) {
      pushWait(spans, id, waits, ready, at(item.lockedAt));
      spans.push({
        row: id,
        kind: "run",
        from: at(item.lockedAt),
        to: at(now),
        outcome: "RUNNING",
        title: `Running on ${item.lockedBy ?? "a worker"}`,
      });
    } else if (item?.status === "PENDING") {
      pushWait(spans, id, waits, ready, at(now));
    }
  }
  return spans;
}

function pushWait(spans: Span[], row: string, kind: Kind, from: number, to: number): void {
  const words = { backoff: "Waited after the failure", throttled: "Throttled", line: "In line" }[kind as "line"];
  if (to > from) spans.push({ row, kind, from, to, title: `${words}, ${duration(to - from)}` });
}

/** When a step could begin: when the last of the steps before it had ended. */
function readyAt(item: Item, after: string[], at: (time: string) => number): number {
  const ends = item.steps.filter((step) => after.includes(step.name) && step.endedAt).map((step) => at(step.endedAt!));
  return Math.max(0, ...ends);
}
