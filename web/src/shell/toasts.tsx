import { X } from "lucide-react";
import { ProblemError } from "~/api/problem";
import { sentence } from "~/words";
import { announced } from "./announce";
import { useCommands } from "./commands";
import { Store, useStore } from "./store";
import css from "./toasts.module.css";

export interface Toast {
  text: string;
  action?: { label: string; run: () => void };
  /** Until it is acted upon or put away. */
  stays?: boolean;
}

const LASTS_MS = 6000;
const MOST = 3;

const toasts = new Store<(Toast & { key: number })[]>([]);
let count = 0;

/** Say what has happened, for six seconds; with Undo where there is one. Errors that need action are no toasts. What
 * `stays` is there until its action is pressed or it is put away. */
export function toast(text: string, action?: Toast["action"], stays = false): void {
  const key = count++;
  toasts.update((shown) => newest([...shown, { text, action, key, stays }]));
  if (!stays) setTimeout(() => putAway(key), LASTS_MS);
}

/** At most three: the oldest one gives way, if possible one that does not stay. */
function newest<T extends Toast>(all: T[]): T[] {
  const first = all.slice(0, -1).findIndex(({ stays }) => !stays);
  return all.length > MOST ? all.toSpliced(Math.max(0, first), 1) : all;
}

/** Hold back what starts work, and cannot be taken back once it runs. It is sent when the toast has been seen for its time, or
 * at once when the page is left; returns false if the person has pressed Undo. */
export function held(words: string): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isSent: boolean) => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", leave);
      resolve(isSent);
    };
    const leave = () => document.hidden && end(true);
    const timer = setTimeout(() => end(true), LASTS_MS);
    document.addEventListener("visibilitychange", leave);
    toast(words, { label: "Undo", run: () => end(false) });
  });
}

/** What could not be undone or done where its place is gone: it stays until it is tried again or put away. */
export function failedToast(what: string, error: unknown, onRetry: () => void): void {
  const id = error instanceof ProblemError && error.requestId ? ` (request ${error.requestId})` : "";
  const said = sentence(error instanceof Error ? error.message : String(error));
  toast(`${what} ${said}${id}`, { label: "Try again", run: onRetry }, true);
}

function putAway(key: number): void {
  toasts.update((all) => all.filter((each) => each.key !== key));
}

function act({ key, action }: Toast & { key: number }): void {
  putAway(key);
  action?.run();
}

export function Toasts() {
  const shown = useStore(toasts);
  const undone = shown.findLast(({ action }) => action?.label === "Undo");
  useCommands(undone ? [{ id: "undo", title: "Undo", group: "Do", keys: "u", run: () => act(undone) }] : []);
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      <span className="only-heard">{useStore(announced)}</span>
      {shown.map((each) => (
        <div key={each.key} className={css.toast}>
          <span className={css.text}>{each.text}</span>
          {each.action && (
            <button type="button" className={css.action} onClick={() => act(each)}>
              {each.action.label}
            </button>
          )}
          {each.stays && (
            <button type="button" className={css.action} aria-label="Put away" onClick={() => putAway(each.key)}>
              <X />
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
