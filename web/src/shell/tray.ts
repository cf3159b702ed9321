import { Store, useStore } from "./store";

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
