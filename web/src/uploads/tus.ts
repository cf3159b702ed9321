import { send } from "~/api/client";
import { ProblemError, problemOf } from "~/api/problem";

const VERSION = "1.0.0";

export interface Announced {
  id: string;
  jobId: string;
}

/** Text in Base64, as the metadata of an upload need it. */
export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

async function call(path: string, method: string, headers: Record<string, string>, more: RequestInit = {}) {
  const request = new Request(new URL(path, location.origin), {
    method,
    headers: { "Tus-Resumable": VERSION, ...headers },
    ...more,
  });
  const response = await send(request);
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Announce a file to the uploads of a pipeline package. */
export async function announce(path: string, file: File, options: object): Promise<Announced> {
  const metadata = `filename ${base64(file.name)},options ${base64(JSON.stringify(options))}`;
  const response = await call(path, "POST", { "Upload-Length": String(file.size), "Upload-Metadata": metadata });
  const said = (await response.json()) as { jobId: string; sheetId?: string; uploadId?: string };
  return { id: said.sheetId ?? said.uploadId ?? "", jobId: said.jobId };
}

/** How many bytes the server has; undefined: the upload is not there any more. */
export async function offsetOf(path: string, id: string): Promise<number | undefined> {
  try {
    const response = await call(`${path}/${id}`, "HEAD", {});
    return Number(response.headers.get("Upload-Offset"));
  } catch (error) {
    if (error instanceof ProblemError && error.isGone) return undefined;
    throw error;
  }
}

/** Send the next bytes; returns how many the server has then. */
export async function sendPart(path: string, id: string, offset: number, part: Blob, signal: AbortSignal) {
  const headers = { "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" };
  const response = await call(`${path}/${id}`, "PATCH", headers, { body: part, signal });
  return Number(response.headers.get("Upload-Offset"));
}

export async function giveUp(path: string, id: string): Promise<void> {
  await call(`${path}/${id}`, "DELETE", {});
}
