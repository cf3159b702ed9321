/** What a person has chosen: kept on this device, where the first paint and a page without a network find it, and sent to
 * the account by preferences.ts, which brings it to other browsers. */

const PREFIX = "forebay.";
const UNSENT = "unsent";

type Listener = (name: string, isFromServer: boolean) => void;
const listeners = new Set<Listener>();

export function kept<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined; // without storage, or with something else in it
  }
}

/** Keep a choice; undefined forgets it. */
export function keep(name: string, value: unknown, isFromServer = false): void {
  put(name, value);
  if (!isFromServer) put(UNSENT, [...new Set([...unsent(), name])]);
  for (const listener of listeners) listener(name, isFromServer);
}

/** The names of choices that the account does not have yet. */
export function unsent(): string[] {
  const names = kept<unknown>(UNSENT);
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** Note what only this device needs to know. */
export function put(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage may be full or forbidden: the choice then lasts until the page is left.
  }
}

export function sent(names: readonly string[]): void {
  put(
    UNSENT,
    unsent().filter((name) => !names.includes(name)),
  );
}

export function onKept(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The names of all choices on this device that belong to the account. */
export function keptNames(): string[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => key.slice(PREFIX.length))
    .filter(isShared);
}

/** Uploads, the width of the panel and places in texts belong to the device. */
export function isShared(name: string): boolean {
  return name === "look" || name === "reader" || name.startsWith("columns.");
}
