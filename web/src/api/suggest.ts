import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schema, take } from "./client";

export type Suggested = Schema<"SuggestedThing">;

/** Up to eight things whose names are like a text. */
export function suggestQuery(q: string) {
  return queryOptions({
    queryKey: ["suggest", q],
    queryFn: ({ signal }) => take(api.GET("/api/suggest", { params: { query: { q } }, signal })),
    enabled: q.length > 0,
    placeholderData: q ? keepPreviousData : undefined,
  });
}
