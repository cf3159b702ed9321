import { exact } from "~/format";
import css from "./bar.module.css";
import { classes } from "./classes";

/** The one order of stacked bars. */
export const PARTS = ["done", "notFound", "skipped", "error", "processing", "pending"] as const;
const WORDS = {
  done: "done",
  notFound: "not found",
  skipped: "skipped",
  error: "failed",
  processing: "running",
  pending: "waiting",
};

export type Counts = Partial<Record<(typeof PARTS)[number], number>>;

/** The counts as a sentence: "60 done, 2 failed, 38 waiting". */
export function countWords(counts: Counts): string {
  const said = PARTS.filter((part) => counts[part]).map((part) => `${exact(counts[part]!)} ${WORDS[part]}`);
  return said.join(", ") || "nothing yet";
}

/** A stacked bar of items by status. Its words are heard, and shown on hover. */
export function Bar({ counts, large, label }: { counts: Counts; large?: boolean; label?: string }) {
  const words = countWords(counts);
  return (
    <div
      role="img"
      aria-label={label ? `${label}: ${words}` : words}
      title={words}
      className={classes(css.bar, large && css.large)}
    >
      {PARTS.filter((part) => counts[part]).map((part) => (
        <span key={part} className={classes(css.slice, css[part])} style={{ flexGrow: counts[part] }} />
      ))}
    </div>
  );
}
