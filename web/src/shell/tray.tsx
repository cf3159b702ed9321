import { X } from "lucide-react";
import type { MouseEvent } from "react";
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
  /** It has left the list. */
  onRemove?: () => void;
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

/** A press that opens no other tab or window. */
function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

function remove({ id, onRemove }: Activity): void {
  dropActivity(id);
  onRemove?.();
}

interface TrayProps {
  /** The page where one is: its own activity is not shown. */
  here?: string;
  /** Go to a page without loading the app again, which would interrupt uploads. */
  onGo?: (href: string) => void;
}

export function Tray({ here, onGo }: TrayProps) {
  const shown = useActivities().filter(({ href }) => href === undefined || href !== here);
  if (shown.length === 0) return null;
  const running = shown.filter((each) => !each.isOver).length;
  const goTo = (event: MouseEvent, href: string) => {
    if (!onGo) return;
    event.preventDefault();
    onGo(href);
  };
  return (
    <section aria-label="Activities in the background">
      <details className={css.tray} open>
        <summary>{running > 0 ? `${plural(running, "activity", "activities")} running` : "Finished"}</summary>
        <ul className={css.list} aria-label="Activities">
          {shown.map((each) => (
            <li key={each.id} className={css.activity}>
              {each.href ? (
                <a href={each.href} onClick={(event) => isPlain(event) && goTo(event, each.href!)}>
                  {each.title}
                </a>
              ) : (
                <span>{each.title}</span>
              )}
              <Button
                look="plain"
                icon
                aria-label={each.onCancel && !each.isOver ? `Cancel ${each.title}` : `Remove ${each.title}`}
                onClick={() => (each.onCancel ? each.onCancel() : remove(each))}
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
