import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, queryClient, type Schema, take } from "./client";
import { refreshBookmarks } from "./live-bookmarks";
import { forward, pageFrom } from "./pages";
import type { paths } from "./schema";

export type Bookmark = Schema<"Bookmark"> & { snippet?: string };
export type WholeBookmark = Schema<"WholeBookmark">;
export type BookmarkStep = Schema<"BookmarkStep">;
export type Facets = Schema<"BookmarkFacets">;
export type Category = Schema<"Category">;
export type BookmarkFilter = Omit<
  NonNullable<paths["/api/bookmarks"]["get"]["parameters"]["query"]>,
  "after" | "pageSize" | "sort"
>;
export type BulkAction = Omit<Schema<"BulkRequest">, "ids" | "filter" | "after" | "dryRun">;
type Which = { ids: string[] } | { filter: Schema<"BulkFilter"> };

/** All pages of bookmarks: by age, or by relevance if the filter has words. */
export function bookmarksQuery(filter: BookmarkFilter, sort: "newest" | "oldest" = "newest") {
  return infiniteQueryOptions({
    queryKey: ["bookmarks", "list", filter, sort],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/bookmarks", {
          params: { query: { ...filter, sort, pageSize: 60, ...pageFrom(pageParam) } },
          signal,
        }),
      ),
    ...forward,
    meta: { live: true },
  });
}

/** How many bookmarks match, by kind, tag, category, site and status. */
export function facetsQuery(filter: BookmarkFilter) {
  return queryOptions({
    queryKey: ["bookmarks", "facets", filter],
    queryFn: ({ signal }) => take(api.GET("/api/bookmarks/facets", { params: { query: filter }, signal })),
    placeholderData: keepPreviousData,
    meta: { live: true },
  });
}

export function bookmarkQuery(id: string) {
  return queryOptions({
    queryKey: ["bookmark", id],
    queryFn: ({ signal }) =>
      take(api.GET("/api/bookmarks/{bookmark_id}", { params: { path: { bookmark_id: id } }, signal })),
    meta: { live: true },
  });
}

/** The changes of the page that crawls have found. */
export function versionsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["bookmark", id, "changes"],
    queryFn: ({ signal, pageParam }) =>
      take(
        api.GET("/api/bookmarks/{bookmark_id}/changes", {
          params: { path: { bookmark_id: id }, query: pageFrom(pageParam) },
          signal,
        }),
      ),
    ...forward,
  });
}

export const categoriesQuery = queryOptions({
  queryKey: ["bookmarks", "categories"],
  queryFn: ({ signal }) => take(api.GET("/api/bookmarks/categories", { signal })),
  select: ({ categories }) => categories,
});

export const tagsQuery = queryOptions({
  queryKey: ["bookmarks", "tags"],
  queryFn: ({ signal }) => take(api.GET("/api/bookmarks/tags", { signal })),
  select: ({ tags }) => tags,
});

/** Change many bookmarks. The server changes a thousand at a time; the last page has no `next`. */
export async function changeBookmarks(which: Which, action: BulkAction): Promise<number> {
  let changed = 0;
  let after: string | null = null;
  do {
    const body: Schema<"BulkRequest"> = { ...which, ...action, ...(after && { after }) };
    const done: Schema<"BulkResult"> = await take(api.POST("/api/bookmarks/bulk", { body }));
    changed += done.changed;
    after = done.next;
  } while (after);
  refreshBookmarks(queryClient);
  return changed;
}

export async function changeBookmark(id: string, change: Schema<"BookmarkChange">): Promise<void> {
  await take(api.PATCH("/api/bookmarks/{bookmark_id}", { params: { path: { bookmark_id: id } }, body: change }));
  refreshBookmarks(queryClient);
}

/** Read the page again: all of it, or single steps. */
export async function crawl(id: string, only?: BookmarkStep["name"][]): Promise<void> {
  await take(
    api.POST("/api/bookmarks/{bookmark_id}/crawl", {
      params: { path: { bookmark_id: id } },
      body: only ? { only } : null,
    }),
  );
  refreshBookmarks(queryClient);
}

/** Add its tags and note to the bookmark that it repeats, which stays. */
export async function mergeDuplicate(id: string): Promise<string> {
  const kept = await take(api.POST("/api/bookmarks/{bookmark_id}/merge", { params: { path: { bookmark_id: id } } }));
  refreshBookmarks(queryClient);
  return kept.id;
}

/** Give a tag another name; the name of another tag merges the two. */
export async function renameTag(tag: string, name: string): Promise<number> {
  const filter = { tags: [tag], archived: null };
  const changed = await changeBookmarks({ filter }, { do: "tag", tags: [name] });
  const removed = await changeBookmarks({ filter }, { do: "untag", tags: [tag] });
  return Math.max(changed, removed);
}

/** Change bookmarks wherever they are cached, before the server has answered. */
export function putBookmarks(ids: ReadonlySet<string>, change: (bookmark: Bookmark) => Bookmark | undefined): void {
  type Pages = { pages: { bookmarks: Bookmark[]; next: string | null }[]; pageParams: unknown[] };
  const changed = (bookmark: Bookmark) => (ids.has(bookmark.id) ? change(bookmark) : bookmark);
  queryClient.setQueriesData<Pages>({ queryKey: ["bookmarks", "list"] }, (data) => {
    if (!data) return data;
    const pages = data.pages.map((page) => ({
      ...page,
      bookmarks: page.bookmarks.map(changed).filter((each) => each !== undefined),
    }));
    return { ...data, pages };
  });
}
