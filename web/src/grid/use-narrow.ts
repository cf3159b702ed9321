import { useSyncExternalStore } from "react";

const narrow = matchMedia("(max-width: 599px)");

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** Whether there is room for one column only, as on a phone. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}
