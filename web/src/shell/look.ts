import { setZone } from "~/format";
import { keep, kept, onKept } from "./kept";
import { Store, useStore } from "./store";

/** How the app looks; theme.js reads the same before the first paint. */
export interface Look {
  theme?: "light" | "dark";
  density?: "compact" | "roomy";
  rail?: "narrow";
  keys?: "off";
  /** The path of the page that the app opens with; without, Home. */
  start?: string;
  /** The time zone of clocks and dates; without, that of the device. */
  zone?: string;
}

const NAME = "look";

const look = new Store<Look>(kept<Look>(NAME) ?? {});

export function useLook(): Look {
  return useStore(look);
}

export function currentLook(): Look {
  return look.get();
}

/** Where to begin: the chosen page if the app was opened at its root, and not by Reload or Back. */
export function startPage(): string | undefined {
  const [opened] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const isOpened = opened === undefined || opened.type === "navigate";
  const isRoot = location.pathname === "/" && !location.search && !location.hash;
  const { start } = look.get();
  return isOpened && isRoot && start?.startsWith("/") ? start : undefined;
}

export function setLook(change: Look): void {
  const next = { ...look.get(), ...change };
  show(next);
  keep(NAME, next);
}

function show(next: Look): void {
  look.set(next);
  setZone(next.zone);
  const root = document.documentElement;
  for (const name of ["theme", "density", "rail"] as const) {
    if (next[name]) root.dataset[name] = next[name];
    else delete root.dataset[name];
  }
}

setZone(look.get().zone);
onKept((name, isFromServer) => {
  if (name === NAME && isFromServer) show(kept<Look>(NAME) ?? {});
});
