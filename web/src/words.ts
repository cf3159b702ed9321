import type { ShapeName } from "~/ui/shape";

export type Tone = "wait" | "run" | "done" | "notfound" | "skip" | "error" | "pause" | "throttle";

interface StatusWords {
  word: string;
  shape: ShapeName;
  tone: Tone;
}

/** Every status, state and outcome of the API: its word, shape and colour. A status has all three, always. */
export const STATUSES = {
  PENDING: { word: "Waiting", shape: "ring", tone: "wait" },
  WAITING: { word: "Waiting", shape: "ring", tone: "wait" },
  SCHEDULED: { word: "Later", shape: "moon", tone: "wait" },
  QUEUED: { word: "Queued", shape: "ring", tone: "wait" },
  BLOCKED: { word: "Waits for others", shape: "ring", tone: "wait" },
  PROCESSING: { word: "Running", shape: "quarter", tone: "run" },
  RUNNING: { word: "Running", shape: "quarter", tone: "run" },
  DONE: { word: "Done", shape: "check", tone: "done" },
  NOT_FOUND: { word: "Not found", shape: "lens", tone: "notfound" },
  SKIPPED: { word: "Skipped", shape: "skip", tone: "skip" },
  ERROR: { word: "Error", shape: "octagon", tone: "error" },
  FAILED: { word: "Failed", shape: "octagon", tone: "error" },
  PAUSED: { word: "Paused", shape: "bars", tone: "pause" },
  HELD: { word: "Paused", shape: "bars", tone: "pause" },
  CANCELLED: { word: "Cancelled", shape: "slash", tone: "skip" },
  THROTTLED: { word: "Throttled", shape: "gauge", tone: "throttle" },
  LIMITED: { word: "Held by a limit", shape: "gauge", tone: "wait" },
  SNOOZED: { word: "Put off", shape: "moon", tone: "wait" },
  EXPIRED: { word: "Worker lost", shape: "broken", tone: "throttle" },
  RELEASED: { word: "Handed back", shape: "back", tone: "wait" },
  PARKED: { word: "Needs set-up", shape: "wrench", tone: "error" },
} as const satisfies Record<string, StatusWords>;

export type StatusName = keyof typeof STATUSES;

/** The word of a status, also of one that a newer server has. */
export function statusWord(status: string): string {
  return status in STATUSES
    ? STATUSES[status as StatusName].word
    : sentence(status.replaceAll("_", " ").toLowerCase()).slice(0, -1);
}

/** A text as a sentence: a capital letter first, a full stop last. */
export function sentence(text: string): string {
  const said = text.trim();
  if (!said) return "";
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(said)) return stopped(said); // an address begins as it is
  return stopped(`${said[0]!.toUpperCase()}${said.slice(1)}`);
}

/** A text with a full stop at its end, if it has none. */
export function stopped(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** "1 item runs again.", "2 items run again." */
export function runsAgain(count: number, noun: string, of = ""): string {
  return `${plural(count, noun)}${of} ${count === 1 ? "runs" : "run"} again.`;
}

/** "1 link", "2 links"; the number is written out in full. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}
