import { api, queryClient, take } from "./client";

/** A key that makes a repeated request harmless. Plain HTTP has no crypto.randomUUID. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a person adds to a link. */
export interface LinkFields {
  title?: string;
  note?: string;
  tags?: string[];
}

export async function saveLink(
  url: string,
  more: LinkFields = {},
  key = newKey(),
): Promise<{ id: string; created: boolean }> {
  const saved = await take(api.POST("/api/bookmarks", { body: { url, ...more }, headers: { "Idempotency-Key": key } }));
  void queryClient.invalidateQueries({ queryKey: ["bookmarks"] });
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  return { id: saved.bookmark.id, created: saved.created };
}

/** Many links as one job. */
export async function importLinks(urls: string[]): Promise<{ jobId: string }> {
  const file = new File([JSON.stringify({ bookmarks: urls.map((url) => ({ url })) })], "links.json", {
    type: "application/json",
  });
  return importFile(file);
}

/** What an import of a file would do; nothing is saved. */
export function previewFile(file: File, signal: AbortSignal) {
  const body = new FormData();
  body.append("file", file);
  return take(
    api.POST("/api/bookmarks/import/preview", { body: body as never, bodySerializer: (form) => form, signal }),
  );
}

export async function importFile(file: File): Promise<{ jobId: string }> {
  const body = new FormData();
  body.append("file", file);
  const job = await take(
    api.POST("/api/bookmarks/import", {
      body: body as never,
      bodySerializer: (form) => form,
      headers: { "Idempotency-Key": newKey() },
    }),
  );
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  return { jobId: job.jobId };
}
