import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";
import { api, queryClient, type Schema, take } from "./client";
import { newKey } from "./links";
import { forward, pageFrom } from "./pages";

export type Article = Schema<"Article">;
export type WholeArticle = Schema<"WholeArticle">;
export type ArticleVersion = Schema<"ArticleVersion">;
export type EmbeddingState = Article["embedding"];
export type Priority = NonNullable<Schema<"NewArticle">["embeddingPriority"]>;
export type NewArticle = Schema<"NewArticle">;
export type ArticleChange = Schema<"ArticleChange">;
export type Draft = Schema<"Draft">;
export type DraftContent = Schema<"DraftContent">;

/** Articles in some states of their embedding or in all, the last changed first. */
export function articlesQuery(embedding: EmbeddingState[] = []) {
  return infiniteQueryOptions({
    queryKey: ["articles", "list", embedding],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...(embedding.length > 0 && { embedding }), ...pageFrom(pageParam), pageSize: 60 };
      return take(api.GET("/api/articles", { params: { query }, signal }));
    },
    ...forward,
    meta: { live: true },
  });
}

export function articleQuery(id: string) {
  return queryOptions({
    queryKey: ["article", id],
    queryFn: ({ signal }) =>
      take(api.GET("/api/articles/{article_id}", { params: { path: { article_id: id } }, signal })),
    meta: { live: true },
  });
}

export async function createArticle(body: NewArticle): Promise<Article> {
  const made = await take(api.POST("/api/articles", { body, headers: { "Idempotency-Key": newKey() } }));
  refreshArticles(queryClient);
  return made as Article;
}

/** Change an article of which this version was seen; a newer one is a problem 412. */
export async function changeArticle(id: string, version: number, body: ArticleChange): Promise<Article> {
  const params = { path: { article_id: id }, header: { "If-Match": tagOf(version) } };
  const changed = await take(api.PUT("/api/articles/{article_id}", { params, body }));
  refreshArticles(queryClient);
  return changed as Article;
}

/** It may be sent when the page is left. */
export async function deleteArticle({ id, version }: Article): Promise<void> {
  const params = { path: { article_id: id }, header: { "If-Match": tagOf(version) } };
  await take(api.DELETE("/api/articles/{article_id}", { params, keepalive: true }));
  refreshArticles(queryClient);
}

function tagOf(version: number): string {
  return `"${version}"`;
}

// Versions.

export function articleVersionsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["article", id, "versions"],
    queryFn: ({ signal, pageParam }) => {
      const params = { path: { article_id: id }, query: pageFrom(pageParam) };
      return take(api.GET("/api/articles/{article_id}/versions", { params, signal }));
    },
    ...forward,
    meta: { live: true },
  });
}

/** How one version differs from another: neither changes any more. */
export function articleDifferenceQuery(id: string, before: number, after: number) {
  return queryOptions({
    queryKey: ["article difference", id, before, after],
    queryFn: ({ signal }) => {
      const params = { path: { article_id: id }, query: { before, after } };
      return take(api.GET("/api/articles/{article_id}/difference", { params, signal }));
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}

export async function restoreVersion(article: Pick<Article, "id" | "version">, version: number): Promise<Article> {
  const params = { path: { article_id: article.id, version }, header: { "If-Match": tagOf(article.version) } };
  const restored = await take(api.POST("/api/articles/{article_id}/versions/{version}/restore", { params }));
  refreshArticles(queryClient);
  return restored as Article;
}

// Drafts.

export const draftsQuery = queryOptions({
  queryKey: ["article drafts"],
  queryFn: ({ signal }) => take(api.GET("/api/articles/drafts", { signal })),
  select: ({ drafts }) => drafts,
});

/** A draft with its whole text; null: there is none. The list says so: to ask for one that is not there is an error. */
export async function findDraft(key: string): Promise<Draft | null> {
  const { drafts } = await take(api.GET("/api/articles/drafts", { params: { query: { pageSize: 200 } } }));
  if (!drafts.some((draft) => draft.key === key)) return null;
  return take(api.GET("/api/articles/drafts/{key}", { params: { path: { key } } }));
}

const KEPT_ALIVE = 60_000; // bytes that a browser sends when the page is left

export async function keepDraft(key: string, body: DraftContent, isLast: boolean): Promise<Draft> {
  const isSmall = (body.content?.length ?? 0) * 3 < KEPT_ALIVE;
  const request = { params: { path: { key } }, body, keepalive: isLast && isSmall };
  const kept = await take(api.PUT("/api/articles/drafts/{key}", request));
  void queryClient.invalidateQueries({ queryKey: draftsQuery.queryKey });
  return kept;
}

export async function dropDraft(key: string): Promise<void> {
  await take(api.DELETE("/api/articles/drafts/{key}", { params: { path: { key } } }));
  void queryClient.invalidateQueries({ queryKey: draftsQuery.queryKey });
}

export function refreshArticles(client: QueryClient): void {
  for (const noun of ["articles", "article", "article drafts"]) void client.invalidateQueries({ queryKey: [noun] });
}

// Events name jobs and items, not articles: what is shown is asked for again.
function refreshIfArticles(client: QueryClient, values: { pipeline: string }[]): void {
  if (values.some(({ pipeline }) => pipeline.startsWith("article"))) refreshSoon(client, ["articles"], ["article"]);
}
onLive("item", refreshIfArticles);
onLive("job", refreshIfArticles);

// The tasks that embed articles.

export type EmbeddingTask = Schema<"EmbeddingTaskInfo">;
export type TaskStatus = EmbeddingTask["status"];

/** Exact numbers of tasks by status. */
export const articleStatsQuery = queryOptions({
  queryKey: ["articles", "stats"],
  queryFn: ({ signal }) => take(api.GET("/api/articles/stats", { signal })),
  meta: { live: true },
});

export function embeddingTasksQuery(status: TaskStatus[] = []) {
  return infiniteQueryOptions({
    queryKey: ["articles", "tasks", status],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...(status.length > 0 && { status }), ...pageFrom(pageParam) };
      return take(api.GET("/api/articles/tasks", { params: { query }, signal }));
    },
    ...forward,
    meta: { live: true },
  });
}

export async function embedArticle(id: string): Promise<void> {
  await take(api.POST("/api/articles/{article_id}/embed", { params: { path: { article_id: id } } }));
  refreshArticles(queryClient);
}

export async function retryFailedTasks(): Promise<number> {
  const { retried } = await take(api.POST("/api/articles/tasks/retry"));
  refreshArticles(queryClient);
  return retried;
}

export async function clearCompletedTasks(): Promise<number> {
  const { cleared } = await take(api.POST("/api/articles/tasks/clear"));
  refreshArticles(queryClient);
  return cleared;
}

export async function reindexArticles(): Promise<Schema<"ReindexJob">> {
  const made = await take(api.POST("/api/articles/reindex"));
  refreshArticles(queryClient);
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  return made;
}
