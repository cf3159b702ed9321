import { type LinkFields, saveLink } from "~/api/links";
import { ProblemError } from "~/api/problem";

/** Links that were saved without a network: kept on this device, sent when there is one. */
interface Kept extends LinkFields {
  key: string;
  url: string;
}

function database(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open("forebay", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("links", { keyPath: "key" });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

async function inStore<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opened = await database();
  try {
    return await new Promise((resolve, reject) => {
      const asked = act(opened.transaction("links", mode).objectStore("links"));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
  } finally {
    opened.close();
  }
}

/** Keep a link with the key of its request, so that sending it twice saves it once. */
export async function keepLink(kept: Kept): Promise<void> {
  await inStore("readwrite", (store) => store.put(kept));
}

/** Send what was kept. Returns how many links were saved, and why others were refused. */
export async function sendKept(): Promise<{ saved: number; refused: string[] }> {
  if (!("indexedDB" in globalThis)) return { saved: 0, refused: [] };
  const kept: Kept[] = await inStore("readonly", (store) => store.getAll());
  const refused: string[] = [];
  let saved = 0;
  for (const { key, url, ...fields } of kept) {
    try {
      await saveLink(url, fields, key);
      saved += 1;
    } catch (error) {
      if (!(error instanceof ProblemError) || error.isPassing) break;
      refused.push(`${url}: ${error.detail}`);
    }
    await inStore("readwrite", (store) => store.delete(key));
  }
  return { saved, refused };
}
