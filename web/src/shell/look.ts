import { Store, useStore } from "./store";

/** How the app looks on this device; theme.js reads the same before the first paint. */
export interface Look {
  theme?: "light" | "dark";
  density?: "compact" | "roomy";
  rail?: "narrow";
  keys?: "off";
  /** The path of the page that the app opens with; without, Home. */
  start?: string;
}

const KEY = "forebay.look";

function stored(): Look {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Look;
  } catch {
    return {};
  }
}

const look = new Store<Look>(stored());

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
  look.set(next);
  const root = document.documentElement;
  for (const name of ["theme", "density", "rail"] as const) {
    if (next[name]) root.dataset[name] = next[name];
    else delete root.dataset[name];
  }
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Storage may be full or forbidden: the choice then lasts until the page is left.
  }
}
