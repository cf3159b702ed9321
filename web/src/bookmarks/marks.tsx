import type { Bookmark, BookmarkStep } from "~/api/bookmarks";
import { relative } from "~/format";
import { Shape } from "~/ui/shape";
import { STATUSES, sentence } from "~/words";
import css from "./bookmark.module.css";

export const STEP_WORDS: Record<BookmarkStep["name"], string> = {
  screenshot: "Screenshot",
  metadata: "Title and text",
  images: "Picture",
  favicon: "Icon",
  ocr: "Text in the picture",
  caption: "Caption",
};
const MARKED: BookmarkStep["name"][] = ["screenshot", "metadata", "images", "ocr"];

/** The title of a bookmark, or its address as long as it has none. */
export function titleOf({ title, url }: Pick<Bookmark, "title" | "url">): string {
  return title ?? url.replace(/^https?:\/\/(www\.)?/, "");
}

/** The steps as they are shown: one that cannot begin any more, as what it needs has failed, was skipped. */
export function stepsOf({ status, steps }: Bookmark): BookmarkStep[] {
  const isOpen = status === "PENDING" || status === "PROCESSING";
  return (steps ?? []).map((step) => (step.state === "BLOCKED" && !isOpen ? { ...step, state: "SKIPPED" } : step));
}

/** What a step does now, in words: "Screenshot: running". */
export function stepSays(step: BookmarkStep): string {
  return `${STEP_WORDS[step.name]}: ${stateSays(step)}${step.reason ? `, ${step.reason}` : ""}`;
}

function stateSays({ state, after, nextAt }: BookmarkStep): string {
  if (state === "BLOCKED" && after.length > 0) return `waits for ${stepNames(after)}`;
  if (state === "SCHEDULED" && nextAt) return `tried again ${relative(new Date(nextAt), new Date())}`;
  return STATUSES[state].word.toLowerCase();
}

/** The words of steps, in a sentence. */
export function stepNames(names: string[]): string {
  const words = names.map((name) => STEP_WORDS[name as BookmarkStep["name"]] ?? name);
  return words.join(" and ").toLowerCase();
}

/** The steps of a bookmark as small shapes; the tooltip and the screen reader have them in words. */
export function Marks({ bookmark }: { bookmark: Bookmark }) {
  const steps = stepsOf(bookmark).filter((step) => MARKED.includes(step.name));
  if (steps.length === 0) return null;
  const words = steps.map((step) => sentence(stepSays(step)));
  return (
    <span className={css.marks} title={words.join("\n")} role="img" aria-label={words.join(" ")}>
      {steps.map((step) => (
        <span key={step.name} data-tone={STATUSES[step.state].tone}>
          <Shape name={STATUSES[step.state].shape} size={12} />
        </span>
      ))}
    </span>
  );
}
