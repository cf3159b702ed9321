import { useEffect, useRef, useState } from "react";
import { type Draft, type DraftContent, dropDraft, keepDraft } from "~/api/articles";
import { DraftKeeper, type DraftState } from "./draft-keeper";

type Of = Pick<DraftContent, "articleId" | "baseVersion">;

/** Keep what is typed under this key; what is not kept yet is sent when the page is left. */
export function useDraft(key: string, draft: Draft | null, of: Of) {
  const [state, setState] = useState<DraftState>({ is: "unchanged" });
  const latest = useRef(of);
  latest.current = of;
  const exists = useRef(draft !== null);
  const [keeper] = useState(
    () =>
      new DraftKeeper(async (content, isLast) => {
        const kept = await keepDraft(key, { ...content, ...latest.current }, isLast);
        exists.current = true;
        return kept;
      }, setState),
  );
  useEffect(() => {
    const leave = () => document.hidden && keeper.flush();
    document.addEventListener("visibilitychange", leave);
    return () => {
      document.removeEventListener("visibilitychange", leave);
      keeper.flush();
    };
  }, [keeper]);
  return {
    state,
    change: ({ title, content }: { title: string; content: string }) =>
      keeper.change({ title: title.slice(0, 500), content }),
    stop: () => keeper.stop(),
    resume: () => keeper.resume(),
    discard: async () => {
      await keeper.stop();
      if (exists.current) await dropDraft(key);
    },
  };
}
