import { useSyncExternalStore } from "react";
import { exactTime, relative } from "~/format";

/** One clock for the page: seconds while something younger than a minute is shown, else minutes. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A time relative to now; exact on hover. It renders again only when its words change. */
export function Time({ value }: { value: string | Date }) {
  const time = typeof value === "string" ? new Date(value) : value;
  const words = useSyncExternalStore(subscribe, () => relative(time, new Date(Math.max(now, Date.now() - 1000))));
  return (
    <time dateTime={time.toISOString()} title={exactTime(time)} className="nowrap">
      {words}
    </time>
  );
}
