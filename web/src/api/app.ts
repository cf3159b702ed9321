import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";
import { api, queryClient, type Schema, take } from "./client";

export type AppInfo = Schema<"AppInfo">;
export type PipelineInfo = Schema<"PipelineInfo">;

/** Who I am, what is switched on, which pipelines there are: loaded before the first page. */
export const appQuery = queryOptions({
  queryKey: ["app"],
  queryFn: ({ signal }) => take(api.GET("/api/app", { signal })),
  staleTime: 5 * 60_000,
  // Without an answer there is nothing to show: that is said at once (~/shell/unreachable), which asks again.
  networkMode: "always",
  retry: false,
});

export function useApp(): AppInfo {
  return useSuspenseQuery(appQuery).data;
}

export function useIsAdmin(): boolean {
  return useApp().me.role === "admin";
}

/** `beforeLoad` of routes for administrators: for others there is no such page. The root has loaded who it is. */
export function adminOnly(): void {
  if (queryClient.getQueryData(appQuery.queryKey)?.me.role !== "admin") throw notFound();
}

/** The words of a pipeline; of one that the server does not run any more, its name. */
export function usePipeline(name: string): { title: string; noun: string; info: PipelineInfo | undefined } {
  const info = useApp().pipelines.find((pipeline) => pipeline.name === name);
  return { title: info?.title ?? name, noun: info?.noun ?? "item", info };
}

export async function signOut(): Promise<void> {
  await take(api.DELETE("/api/session"));
  location.assign("/sign-in");
}
