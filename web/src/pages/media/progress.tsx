import type { Share } from "~/api/media";
import css from "./media.module.css";
import { progressWords } from "./share-words";

/** How far the running step is: a bar, and in words. */
export function Progress({ progress }: { progress: NonNullable<Share["progress"]> }) {
  const words = progressWords(progress);
  return (
    <span className={css.progress}>
      <progress
        aria-label="Progress"
        aria-valuetext={words}
        max={1}
        {...(progress.fraction !== null && { value: progress.fraction })}
      />
      <span className={css.side}>{words}</span>
    </span>
  );
}
