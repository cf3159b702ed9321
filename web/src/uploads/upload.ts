import { queryClient } from "~/api/client";
import { ProblemError } from "~/api/problem";
import { bytes, duration } from "~/format";
import { Store } from "~/shell/store";
import { dropActivity, putActivity } from "~/shell/tray";
import { begunFor, forget, remember } from "./memory";
import * as tus from "./tus";

const PART = 8 << 20;
const LONGEST_WAIT_MS = 15_000;
export const PATH = "/api/uploads";

/** An upload on this page: it goes on while one looks at other pages. */
export interface Upload {
  id: string;
  jobId: string;
  name: string;
  size: number;
  sent: number;
  /** Bytes per second. */
  speed: number | undefined;
  state: "sending" | "waiting" | "done" | "failed";
  /** Why it waits or has failed. */
  why?: string;
}

export const uploads = new Store<Upload[]>([]);
const flights = new Map<string, AbortController>();

function put(upload: Upload): void {
  uploads.update((all) => [...all.filter((each) => each.id !== upload.id), upload]);
  putActivity({
    id: `upload-${upload.id}`,
    title: upload.name,
    detail: uploadWords(upload),
    fraction: upload.sent / upload.size,
    href: `/sheets/new?job=${upload.jobId}`,
    isOver: upload.state === "done" || upload.state === "failed",
    isDone: upload.state === "done",
    ...(upload.state !== "done" && upload.state !== "failed" && { onCancel: () => void cancelUpload(upload.id) }),
  });
}

export function uploadWords({ sent, size, speed, state, why }: Upload): string {
  const far = `${bytes(sent)} of ${bytes(size)}`;
  if (state === "done") return `${bytes(size)} have come.`;
  if (state === "failed") return `${far}: ${why ?? "it failed"}`;
  if (state === "waiting") return `${far}, waiting for the connection: ${why ?? ""}`;
  if (!speed) return far;
  return `${far}, ${bytes(speed)}/s, ${duration((size - sent) / speed)} left`;
}

/** Begin the upload of a file, or go on with it. Returns as soon as its job is known. */
export async function beginUpload(file: File, options: object, known?: { id: string; jobId: string }): Promise<Upload> {
  const before = known ?? begunFor(file);
  const offset = before ? await tus.offsetOf(PATH, before.id) : undefined;
  const { id, jobId } = before && offset !== undefined ? before : await tus.announce(PATH, file, options);
  const upload: Upload = {
    id,
    jobId,
    name: file.name,
    size: file.size,
    sent: offset ?? 0,
    speed: undefined,
    state: "sending",
  };
  remember({ id, jobId, name: file.name, size: file.size, changed: file.lastModified, sent: upload.sent });
  put(upload);
  if (!flights.has(id)) void sendAll(file, upload);
  return upload;
}

async function sendAll(file: File, begin: Upload): Promise<void> {
  const flight = new AbortController();
  flights.set(begin.id, flight);
  let now = begin;
  let failures = 0;
  while (now.sent < now.size) {
    try {
      const since = performance.now();
      const part = file.slice(now.sent, now.sent + PART);
      const sent = await tus.sendPart(PATH, now.id, now.sent, part, flight.signal);
      const speed = ((sent - now.sent) * 1000) / Math.max(1, performance.now() - since);
      now = { ...now, sent, speed: now.speed ? (now.speed * 3 + speed) / 4 : speed, state: "sending" };
      failures = 0;
      remember({ id: now.id, jobId: now.jobId, name: now.name, size: now.size, changed: file.lastModified, sent });
    } catch (error) {
      if (flight.signal.aborted) return;
      failures += 1;
      const next = await afterFailure(now, error, failures);
      if (!next) break;
      now = next;
    }
    put(now);
  }
  flights.delete(now.id);
  if (now.sent < now.size) return;
  forget(now.id);
  put({ ...now, state: "done" });
  for (const noun of ["sheet", "sheets", "jobs"]) void queryClient.invalidateQueries({ queryKey: [noun] });
}

/** Wait, and ask the server how far it is; undefined: there is no going on. */
async function afterFailure(upload: Upload, error: unknown, failures: number): Promise<Upload | undefined> {
  const why = error instanceof Error ? error.message : String(error);
  const isPassing = error instanceof ProblemError && (error.isPassing || error.status === 409);
  if (!isPassing && error instanceof ProblemError) {
    put({ ...upload, state: "failed", why });
    return undefined;
  }
  put({ ...upload, state: "waiting", why });
  await pause(Math.min(LONGEST_WAIT_MS, 500 * 2 ** Math.min(failures, 6)));
  try {
    const sent = await tus.offsetOf(PATH, upload.id);
    if (sent !== undefined) return { ...upload, sent, state: "sending" };
    forget(upload.id);
    put({ ...upload, state: "failed", why: "the server has given it up: choose the file again" });
    return undefined;
  } catch {
    return { ...upload, state: "waiting", why }; // the next part fails as well, and waits longer
  }
}

/** Until the time has passed, or the network is back. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    globalThis.addEventListener("online", done);
  });
}

export async function cancelUpload(id: string): Promise<void> {
  flights.get(id)?.abort();
  flights.delete(id);
  await tus.giveUp(PATH, id);
  forget(id);
  uploads.update((all) => all.filter((each) => each.id !== id));
  dropActivity(`upload-${id}`);
  for (const noun of ["sheet", "sheets", "jobs"]) void queryClient.invalidateQueries({ queryKey: [noun] });
}
