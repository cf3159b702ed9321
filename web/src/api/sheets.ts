import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, queryClient, type Schema, take } from "./client";
import { newKey } from "./links";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type Sheet = Schema<"SheetInfo">;
export type ListedSheet = Schema<"ListedSheet">;
export type Preview = Schema<"SheetPreview">;
export type Preset = Schema<"Preset">;
export type ReadOptions = Schema<"ReadOptions">;
export type Provider = Schema<"ProviderInfo">;
export type Catalogue = Schema<"Catalogue">;
export type Source = Schema<"SourceInfo">;
export type Export = Schema<"Export">;
type ExportChoice = NonNullable<paths["/api/jobs/{job_id}/export"]["post"]["parameters"]["query"]>;

/** The fields that columns are mapped to, and what is lost without them. */
export const FIELDS = [
  "title",
  "brand",
  "sku",
  "mpn",
  "gtin",
  "price",
  "currency",
  "quantity",
  "url",
  "image",
  "description",
  "category",
] as const;

export const FIELD_TITLES: Record<(typeof FIELDS)[number], string> = {
  title: "Title",
  brand: "Brand",
  sku: "SKU",
  mpn: "Manufacturer’s number",
  gtin: "GTIN, EAN or UPC",
  price: "Price",
  currency: "Currency",
  quantity: "Quantity",
  url: "Link",
  image: "Picture",
  description: "Description",
  category: "Category",
};

export function sheetsQuery() {
  return infiniteQueryOptions({
    queryKey: ["sheets"],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/sheets", { params: { query: pageFrom(pageParam) }, signal })),
    ...forward,
    meta: { live: true },
  });
}

export function sheetQuery(jobId: string) {
  return queryOptions({
    queryKey: ["sheet", jobId],
    queryFn: ({ signal }) => take(api.GET("/api/sheets/{job_id}", { params: { path: { job_id: jobId } }, signal })),
    meta: { live: true },
  });
}

/** Options that are not given are detected. */
function chosen(options: ReadOptions): ReadOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null && value !== undefined));
}

export function previewQuery(jobId: string, options: ReadOptions) {
  const query = chosen(options);
  return queryOptions({
    queryKey: ["preview", jobId, query],
    queryFn: ({ signal }) =>
      take(
        api.GET("/api/sheets/{job_id}/preview", {
          params: { path: { job_id: jobId }, query: query as Record<string, never> },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Read the file again: with other options, which choose the columns anew, or with other columns for duplicates. */
export function reread(jobId: string, how: { options: ReadOptions } | { key: string[] }) {
  return take(
    api.POST("/api/sheets/{job_id}/reread", {
      params: { path: { job_id: jobId }, header: { "Idempotency-Key": newKey() } },
      body: "options" in how ? { options: chosen(how.options) } : how,
    }),
  );
}

/** The mapping that was kept for a file with the same columns. */
export function presetQuery(jobId: string) {
  return queryOptions({
    queryKey: ["preset", jobId],
    queryFn: ({ signal }) =>
      take(api.GET("/api/sheets/{job_id}/preset", { params: { path: { job_id: jobId } }, signal })),
  });
}

export async function keepPreset(jobId: string): Promise<void> {
  await take(api.PUT("/api/sheets/{job_id}/preset", { params: { path: { job_id: jobId } } }));
}

/** How long the rows would take at the present pace. */
export function estimateQuery(jobId: string, rows: number) {
  return queryOptions({
    queryKey: ["estimate", jobId, rows],
    queryFn: ({ signal }) =>
      take(api.GET("/api/sheets/{job_id}/estimate", { params: { path: { job_id: jobId } }, signal })),
  });
}

export async function changeSheet(jobId: string, body: Schema<"ChangedSheet">): Promise<void> {
  await take(api.PATCH("/api/sheets/{job_id}", { params: { path: { job_id: jobId } }, body }));
  void queryClient.invalidateQueries({ queryKey: ["sheet", jobId] });
}

export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: ({ signal }) => take(api.GET("/api/providers", { signal })),
});

export const cataloguesQuery = queryOptions({
  queryKey: ["catalogues"],
  queryFn: ({ signal }) => take(api.GET("/api/catalogues", { signal })),
  meta: { live: true },
});

export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: ({ signal }) => take(api.GET("/api/ingestion/sources", { signal })),
});

export async function dropCatalogue(name: string): Promise<void> {
  await take(api.DELETE("/api/catalogues/{name}", { params: { path: { name } } }));
  void queryClient.invalidateQueries({ queryKey: ["catalogues"] });
}

export async function shareCatalogue(name: string, shared: boolean): Promise<void> {
  const action = shared ? "share" : "unshare";
  await take(api.POST(`/api/catalogues/{name}/${action}`, { params: { path: { name } } }));
  void queryClient.invalidateQueries({ queryKey: ["catalogues"] });
}

export function scanSource(source: string) {
  return take(
    api.POST("/api/ingestion/scan", { params: { header: { "Idempotency-Key": newKey() } }, body: { source } }),
  );
}

export function exportsQuery(jobId: string) {
  return infiniteQueryOptions({
    queryKey: ["exports", jobId],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/jobs/{job_id}/exports", {
          params: { path: { job_id: jobId }, query: pageFrom(pageParam) },
          signal,
        }),
      ),
    ...forward,
    meta: { live: true },
  });
}

export async function startExport(jobId: string, choice: ExportChoice): Promise<string> {
  const { exportId } = await take(
    api.POST("/api/jobs/{job_id}/export", {
      params: { path: { job_id: jobId }, query: choice, header: { "Idempotency-Key": newKey() } },
    }),
  );
  void queryClient.invalidateQueries({ queryKey: ["exports", jobId] });
  return exportId;
}

/** A link to the file of an export, which works for a while. */
export async function exportLink(exportId: string): Promise<string | null> {
  const { url } = await take(api.GET("/api/exports/{export_id}", { params: { path: { export_id: exportId } } }));
  return url ?? null;
}

// Sheets, catalogues and exports have no events of their own, but their jobs have, which say what they are about.
onLive("job", (client, jobs: Schema<"Job">[]) => {
  if (jobs.some(({ subject }) => subject?.kind === "sheet"))
    refreshSoon(client, ["sheets"], ["sheet"], ["catalogues"], ["exports"]);
});
