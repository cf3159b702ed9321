import { Store } from "./store";

/** Files that were dropped on another page; the page that they belong to takes them when it opens. */
const files = new Store<File[]>([]);

export function handOver(dropped: File[]): void {
  files.set(dropped);
}

/** The dropped files, once. */
export function takeFiles(): File[] {
  const found = files.get();
  files.set([]);
  return found;
}
