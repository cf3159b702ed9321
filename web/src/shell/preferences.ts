import { api, take } from "~/api/client";
import { isShared, keep, kept, keptNames, onKept, put, sent, unsent } from "./kept";

/** Choices follow a person to other browsers: the account has them all, each device those of the last one who signed in. */

const SYNCED = "synced"; // whose choices this device has
const PAUSE_MS = 1000;
const MOST_COLUMNS = 40; // arrangements of columns
const MOST_BYTES = 15_000; // of all choices: the account keeps 16 KiB

type Choices = Record<string, unknown>;

function asChoices(value: unknown): Choices {
  const found = typeof value === "object" && value !== null ? (value as Choices) : {};
  return Object.fromEntries(Object.entries(found).filter(([name]) => isShared(name)));
}

async function stored(): Promise<{ choices: Choices; isNew: boolean }> {
  const { value, updatedAt } = await take(api.GET("/api/me/preferences"));
  return { choices: asChoices(value), isNew: updatedAt === null };
}

/** Take what the account has, and send what was chosen here meanwhile. */
export async function synchronize(me: string): Promise<void> {
  const { choices, isNew } = await stored();
  const owner = kept<string>(SYNCED);
  if (owner !== undefined && owner !== me) {
    sent(unsent()); // they are somebody else's
    for (const name of keptNames()) if (!(name in choices)) keep(name, undefined, true);
  } else if (isNew) for (const name of keptNames()) keep(name, kept(name)); // from before there was an account for them
  put(SYNCED, me);
  const own = new Set(unsent());
  for (const [name, value] of Object.entries(choices)) {
    if (!own.has(name) && !isSame(kept(name), value)) keep(name, value, true);
  }
  if (own.size > 0) await send();
}

/** Send what the account does not have; of two devices that change different things, both count. */
async function send(): Promise<void> {
  const names = unsent().filter(isShared);
  if (names.length === 0) return;
  const { choices } = await stored();
  const given = names.map((name) => [name, kept(name)] as const);
  for (const [name, value] of given) {
    delete choices[name]; // what is changed is the newest: last
    if (value !== undefined) choices[name] = value;
  }
  await take(api.PUT("/api/me/preferences", { body: fitting(choices) }));
  sent(given.filter(([name, value]) => isSame(kept(name), value)).map(([name]) => name)); // others have changed meanwhile
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Without the oldest arrangements of columns, as far as there are too many or all is too large. */
export function fitting(choices: Choices): Choices {
  const columns = Object.keys(choices).filter((name) => name.startsWith("columns."));
  const fits = { ...choices };
  for (const [place, name] of columns.entries()) {
    if (columns.length - place <= MOST_COLUMNS && bytesOf(fits) <= MOST_BYTES) break;
    delete fits[name];
  }
  return fits;
}

function bytesOf(choices: Choices): number {
  return new TextEncoder().encode(JSON.stringify(choices)).length;
}

/** Keep this device and the account the same while the app is open. What cannot be sent now stays noted as unsent. */
export function follow(me: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (work: () => Promise<void>) => {
    clearTimeout(timer);
    timer = setTimeout(() => void work().catch(() => {}), PAUSE_MS); // the next change, or being online, tries again
  };
  const changed = () => (kept(SYNCED) === me ? send() : synchronize(me)); // first: what is unsent may be somebody else's
  const stop = onKept((name, isFromServer) => !isFromServer && isShared(name) && later(changed));
  const online = () => later(() => synchronize(me));
  addEventListener("online", online);
  void synchronize(me).catch(() => {}); // without a network: what is on this device is shown
  return () => {
    stop();
    clearTimeout(timer);
    removeEventListener("online", online);
  };
}
