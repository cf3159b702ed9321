/** Uploads that were begun on this device, so that they go on when the same file is chosen again after a reload. */
export interface Begun {
  /** The upload, which is the sheet. */
  id: string;
  jobId: string;
  name: string;
  size: number;
  changed: number;
  /** Bytes that have come, as far as this device knows. */
  sent: number;
}

const KEY = "forebay.uploads";
const MOST = 20;

export function begun(): Begun[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? (found as Begun[]) : [];
  } catch {
    return [];
  }
}

export function remember(upload: Begun): void {
  store([...begun().filter((each) => each.id !== upload.id), upload].slice(-MOST));
}

export function forget(id: string): void {
  store(begun().filter((each) => each.id !== id));
}

/** The upload of this file, if one was begun: a file is the same if its name, size and time are. */
export function begunFor(file: File): Begun | undefined {
  return begun().find(
    (each) => each.name === file.name && each.size === file.size && each.changed === file.lastModified,
  );
}

function store(all: Begun[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Storage may be full or forbidden: the upload then goes on only until the page is left.
  }
}
