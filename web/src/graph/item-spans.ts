import type { Attempt, Item } from "~/api/items";
import { duration } from "~/format";
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
    let ready = readyAt(item, step.after, at);
    let waits: Kind = "line";
    for (const attempt of tried) {
      const [began, ended] = [at(attempt.startedAt), at(attempt.endedAt)];
      const claimed = Math.min(began, at(attempt.claimedAt ?? attempt.startedAt)); // two clocks

      pushWait(spans, step.name, waits, ready, claimed);
      if (began > claimed)
        spans.push({
          step: step.name,
          kind: "claimed",
          from: claimed,
          to: began,
          title: `At ${attempt.worker}, not begun, ${duration(began - claimed)}`,
        });
      const said = `${statusWord(attempt.outcome)} after ${duration(ended - began)} on ${attempt.worker}`;
      spans.push({
        step: step.name,
        kind: "run",
        from: began,
        to: ended,
        outcome: attempt.outcome,
        title: attempt.reason ? `${said}: ${attempt.reason}` : said,
      });
      ready = ended;
      waits = PAUSES[attempt.outcome] ?? "line";
    }
    if (step.state === "RUNNING" && step.startedAt) {
      pushWait(spans, step.name, waits, ready, at(step.startedAt));
      spans.push({
        step: step.name,
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

function pushWait(spans: Span[], step: string, kind: Kind, from: number, to: number): void {
  const words = { backoff: "Waited after the failure", throttled: "Throttled", line: "In line" }[kind as "line"];
  if (to > from) spans.push({ step, kind, from, to, title: `${words}, ${duration(to - from)}` });
}

/** When a step could begin: when the last of the steps before it had ended. */
function readyAt(item: Item, after: string[], at: (time: string) => number): number {
  const ends = item.steps.filter((step) => after.includes(step.name) && step.endedAt).map((step) => at(step.endedAt!));
  return Math.max(0, ...ends);
}
