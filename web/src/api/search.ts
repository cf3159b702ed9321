import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, queryClient, type Schema, take } from "./client";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type Hit = Schema<"SearchHit">;
export type TextPart = Schema<"TextPart">;
export type SavedSearch = Schema<"SavedSearch">;
export type Question = Schema<"SearchQuestion">;
export type SearchFilter = Omit<NonNullable<paths["/api/search"]["get"]["parameters"]["query"]>, "after" | "pageSize">;
export type Mode = NonNullable<SearchFilter["mode"]>;

/** What is found, the best first. A question that is asked while the one before is under way cancels it. */
export function searchQuery(filter: SearchFilter) {
  return infiniteQueryOptions({
    queryKey: ["search", "hits", filter],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/search", { params: { query: { ...filter, pageSize: 20, ...pageFrom(pageParam) } }, signal })),
    ...forward,
    enabled: filter.q !== "",
    placeholderData: filter.q ? keepPreviousData : undefined,
    refetchOnWindowFocus: false,
  });
}

/** The first hits, for the box. */
export function answersQuery(q: string) {
  return queryOptions({
    queryKey: ["search", "answers", q],
    queryFn: ({ signal }) => take(api.GET("/api/search", { params: { query: { q, pageSize: 6 } }, signal })),
    enabled: q !== "",
    placeholderData: q ? keepPreviousData : undefined,
  });
}

/** What is like a thing. */
export function similarQuery(kind: string, ref: string) {
  return queryOptions({
    queryKey: ["search", "similar", kind, ref],
    queryFn: ({ signal }) =>
      take(api.GET("/api/search/similar", { params: { query: { ofKind: kind, ref, pageSize: 40 } }, signal })),
  });
}

export const savedSearchesQuery = queryOptions({
  queryKey: ["search", "saved"],
  queryFn: ({ signal }) => take(api.GET("/api/search/saved", { signal })),
});

export async function saveSearch(name: string, question: Question): Promise<SavedSearch> {
  const saved = await take(api.POST("/api/search/saved", { body: { name, question } }));
  void queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
  return saved;
}

export async function deleteSavedSearch(id: string): Promise<void> {
  await take(api.DELETE("/api/search/saved/{search_id}", { params: { path: { search_id: id } } }));
  void queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
}

/** A new address of the feed; the one before is not valid any more. */
export async function makeFeed(id: string): Promise<string> {
  const { url } = await take(api.POST("/api/search/saved/{search_id}/feed", { params: { path: { search_id: id } } }));
  void queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
  return url;
}

export async function revokeFeed(id: string): Promise<void> {
  await take(api.DELETE("/api/search/saved/{search_id}/feed", { params: { path: { search_id: id } } }));
  void queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
}
