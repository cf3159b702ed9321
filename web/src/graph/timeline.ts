/** The timeline of an item or a job: what its steps or items did when, with long gaps folded. Times are seconds since the first one. */

export type Kind = "line" | "backoff" | "throttled" | "claimed" | "run";

export interface Span {
  /** A step of an item, or an item of a job. */
  row: string;
  kind: Kind;
  from: number;
  to: number;
  /** Of an attempt: its outcome; "RUNNING" while it is open. */
  outcome?: string;
  title: string;
}

export interface Fold {
  from: number;
  to: number;
}

/** How a time is drawn: folded gaps have a fixed width. */
export interface Scale {
  folds: Fold[];
  /** The total, in drawn seconds. */
  length: number;
  place: (seconds: number) => number;
}

const FOLD_FACTOR = 3;
const LEAST_FOLD = 1; // seconds: a shorter wait is drawn as it is

const FOLD_SHARE = 6; // of what is not folded: where runs are short, a fold still has room for its words

/** Fold every gap between runs that is longer than three times the longest run, to the width of that run or a bit more. */
export function scaleOf(spans: Span[], isUnfolded = false): Scale {
  const runs = spans.filter((span) => span.kind === "run").sort((a, b) => a.from - b.from);
  const end = Math.max(0, ...spans.map((span) => span.to));
  const longest = Math.max(0.001, ...runs.map((run) => run.to - run.from));
  const least = Math.max(LEAST_FOLD, FOLD_FACTOR * longest);
  const folds: Fold[] = [];
  let until = 0;
  for (const run of runs) {
    if (!isUnfolded && run.from - until > least) folds.push({ from: until, to: run.from });
    until = Math.max(until, run.to);
  }
  if (!isUnfolded && end - until > least) folds.push({ from: until, to: end });
  const kept = end - folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const width = Math.max(longest, kept / FOLD_SHARE);
  const place = (seconds: number) => {
    let drawn = seconds;
    for (const fold of folds) {
      if (seconds >= fold.to) drawn -= fold.to - fold.from - width;
      else if (seconds > fold.from) drawn -= (seconds - fold.from) * (1 - width / (fold.to - fold.from));
    }
    return drawn;
  };
  return { folds, length: Math.max(place(end), longest), place };
}
