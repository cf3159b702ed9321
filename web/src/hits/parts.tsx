import type { TextPart } from "~/api/search";
import css from "./hits.module.css";

/** A text in which what was looked for is marked: pieces of text, never HTML. */
export function Parts({ parts }: { parts: TextPart[] }) {
  return parts.map((part, index) =>
    part.found ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
      <mark key={index} className={css.found}>
        {part.text}
      </mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
      <span key={index}>{part.text}</span>
    ),
  );
}
