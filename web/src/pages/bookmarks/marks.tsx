import type { Bookmark, BookmarkStep } from "~/api/bookmarks";
import { Shape } from "~/ui/shape";
import { STATUSES, sentence } from "~/words";
import css from "./bookmarks.module.css";

export const STEP_WORDS: Record<BookmarkStep["name"], string> = {
  screenshot: "Screenshot",
  metadata: "Title and text",
  images: "Picture",
  favicon: "Icon",
  ocr: "Text in the picture",
  caption: "Caption",
};
const MARKED: BookmarkStep["name"][] = ["screenshot", "metadata", "images", "ocr"];

/** What a step does now, in words: "Screenshot: running". */
export function stepSays(step: BookmarkStep): string {
  const word = STATUSES[step.state].word.toLowerCase();
  return `${STEP_WORDS[step.name]}: ${word}${step.reason ? `, ${step.reason}` : ""}`;
}

/** The steps of a bookmark as small shapes; the tooltip and the screen reader have them in words. */
export function Marks({ bookmark }: { bookmark: Bookmark }) {
  const steps = (bookmark.steps ?? []).filter((step) => MARKED.includes(step.name));
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
