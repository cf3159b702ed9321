import { X } from "lucide-react";
import { Button } from "~/ui/button";
import { plural } from "~/words";
import { Store, useStore } from "./store";
import css from "./tray.module.css";

/** Something that goes on while one looks at other pages: an upload, an export, an import. */
export interface Activity {
  id: string;
  title: string;
  /** Bytes, speed, time left; or why it stopped. */
  detail?: string;
  /** From 0 to 1; undefined: not known. */
  fraction?: number;
  href?: string;
  isOver?: boolean;
  /** It has ended well: nobody has to do anything, so it leaves by itself. */
  isDone?: boolean;
  /** Give it up; without, it only leaves the list. */
  onCancel?: () => void;
}

const LASTS_MS = 6000;

const activities = new Store<Activity[]>([]);

/** Show an activity, or change it. */
export function putActivity(activity: Activity): void {
  activities.update((all) => [...all.filter((each) => each.id !== activity.id), activity].sort(byId));
  if (activity.isDone) setTimeout(() => activities.update((all) => all.filter((each) => each !== activity)), LASTS_MS);
}

export function dropActivity(id: string): void {
  activities.update((all) => all.filter((each) => each.id !== id));
}

function byId(a: Activity, b: Activity): number {
  return a.id < b.id ? -1 : 1;
}

export function useActivities(): Activity[] {
  return useStore(activities);
}

export function Tray() {
  const shown = useActivities();
  if (shown.length === 0) return null;
  const running = shown.filter((each) => !each.isOver).length;
  return (
    <section aria-label="Activities in the background">
      <details className={css.tray} open>
        <summary>{running > 0 ? `${plural(running, "activity", "activities")} running` : "Finished"}</summary>
        <ul className={css.list} aria-label="Activities">
          {shown.map((each) => (
            <li key={each.id} className={css.activity}>
              {each.href ? <a href={each.href}>{each.title}</a> : <span>{each.title}</span>}
              <Button
                look="plain"
                icon
                aria-label={each.isOver ? `Remove ${each.title}` : `Cancel ${each.title}`}
                onClick={() => (each.onCancel ? each.onCancel() : dropActivity(each.id))}
              >
                <X />
              </Button>
              {each.detail && <span className={css.detail}>{each.detail}</span>}
              {each.fraction !== undefined && !each.isOver && (
                <div
                  className={css.progress}
                  role="progressbar"
                  aria-label={each.title}
                  aria-valuenow={Math.round(each.fraction * 100)}
                >
                  <span style={{ transform: `scaleX(${each.fraction})` }} />
                </div>
              )}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
