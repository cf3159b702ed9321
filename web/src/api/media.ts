import { type InfiniteData, infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, queryClient, type Schema, take } from "./client";
import { newKey } from "./links";
import { forward, pageFrom } from "./pages";

export type Share = Schema<"Share">;
export type ShareKind = NonNullable<Share["kind"]>;

export interface ShareFilter {
  q?: string | undefined;
  kind?: ShareKind[] | undefined;
  state?: Share["downloadStatus"][] | undefined;
  playlistId?: string | undefined;
}

export function sharesQuery(filter: ShareFilter) {
  return infiniteQueryOptions({
    queryKey: ["shares", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/shares", { params: { query: { ...filter, ...pageFrom(pageParam) } }, signal })),
    ...forward,
    meta: { live: true },
  });
}

export function shareQuery(id: string) {
  return queryOptions({
    queryKey: ["share", id],
    queryFn: ({ signal }) => take(api.GET("/api/shares/{share_id}", { params: { path: { share_id: id } }, signal })),
    meta: { live: true },
  });
}

export function transcriptQuery(id: string) {
  return queryOptions({
    queryKey: ["share", id, "transcript"],
    queryFn: ({ signal }) =>
      take(api.GET("/api/shares/{share_id}/transcript", { params: { path: { share_id: id } }, signal })),
  });
}

export function refreshShares(client: QueryClient = queryClient): void {
  void client.invalidateQueries({ queryKey: ["shares"] });
  void client.invalidateQueries({ queryKey: ["share"] });
}

/** Download these links in the background; answers as soon as they are stored. */
export async function addShares(urls: string[]) {
  const { shares } = await take(
    api.POST("/api/shares", {
      params: { header: { "Idempotency-Key": newKey() } },
      body: { shares: urls.map((url) => ({ url })) },
    }),
  );
  refreshShares();
  return shares;
}

export async function retryShare(id: string): Promise<void> {
  await take(api.POST("/api/shares/{share_id}/retry", { params: { path: { share_id: id } } }));
  refreshShares();
}

/** Take a share out of the lists that are shown; they are asked for again when it has been deleted, or kept. */
export function hideShare(id: string): void {
  queryClient.setQueriesData<InfiniteData<Schema<"SharePage">>>(
    { queryKey: ["shares"] },
    (now) =>
      now && {
        ...now,
        pages: now.pages.map((page) => ({ ...page, shares: page.shares.filter((share) => share.id !== id) })),
      },
  );
}

export async function deleteShare(id: string): Promise<void> {
  await take(api.DELETE("/api/shares/{share_id}", { params: { path: { share_id: id } } }));
  queryClient.removeQueries({ queryKey: ["share", id] });
  void queryClient.invalidateQueries({ queryKey: ["shares"] });
}

// Events name jobs and items, not shares: what is shown is asked for again.
function refreshShown(client: QueryClient, values: { pipeline: string }[]): void {
  if (values.some(({ pipeline }) => pipeline === "media")) refreshSoon(client, ["shares"], ["share"]);
}
onLive("item", refreshShown);
onLive("job", refreshShown);
onLive("progress", (client) => refreshSoon(client, ["shares"], ["share"]));
