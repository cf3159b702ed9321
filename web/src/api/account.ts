import { queryOptions } from "@tanstack/react-query";
import { api, queryClient, type Schema, take } from "./client";

export type Session = Schema<"SessionRow">;
export type Token = Schema<"TokenRow">;
export type Scope = "read" | "write" | "admin";

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => take(api.GET("/api/sessions", { signal })),
});

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => take(api.GET("/api/tokens", { signal })),
});

export async function endSessions(ids: string[]): Promise<void> {
  for (const id of ids) await take(api.DELETE("/api/sessions/{session_id}", { params: { path: { session_id: id } } }));
  await queryClient.invalidateQueries({ queryKey: ["sessions"] });
}

export async function makeToken(body: Schema<"NewToken">): Promise<Schema<"TokenMade">> {
  const made = await take(api.POST("/api/tokens", { body }));
  void queryClient.invalidateQueries({ queryKey: ["tokens"] });
  return made;
}

export async function revokeToken(id: string): Promise<void> {
  await take(api.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }));
  await queryClient.invalidateQueries({ queryKey: ["tokens"] });
}

export function changePassword(body: Schema<"NewPassword">): Promise<unknown> {
  return take(api.PUT("/api/me/password", { body }));
}
