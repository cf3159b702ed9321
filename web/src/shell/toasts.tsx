import { Store, useStore } from "./store";
import css from "./toasts.module.css";

export interface Toast {
  text: string;
  action?: { label: string; run: () => void };
}

const LASTS_MS = 6000;
const MOST = 3;

const toasts = new Store<(Toast & { key: number })[]>([]);
let count = 0;

/** Say what has happened, for six seconds; with Undo where there is one. Errors that need action are no toasts. What
 * `stays` is there until its action is pressed. */
export function toast(text: string, action?: Toast["action"], stays = false): void {
  const key = count++;
  toasts.update((shown) => [...shown, { text, action, key }].slice(-MOST));
  if (!stays) setTimeout(() => toasts.update((shown) => shown.filter((each) => each.key !== key)), LASTS_MS);
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map(({ key, text, action }) => (
        <div key={key} className={css.toast}>
          <span className={css.text}>{text}</span>
          {action && (
            <button
              type="button"
              className={css.action}
              onClick={() => {
                toasts.update((all) => all.filter((each) => each.key !== key));
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
