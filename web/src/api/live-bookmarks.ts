import type { QueryClient } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { refreshSoon } from "~/live/refresh";

/** The events of bookmarks: Home needs them, and nothing else of bookmarks. */

export function refreshBookmarks(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: ["bookmarks"] });
  void client.invalidateQueries({ queryKey: ["bookmark"] });
}

const PIPELINES = ["bookmarks", "bookmark_imports"];

// Events name jobs and items, not bookmarks: what is shown is asked for again.
function refreshShown(client: QueryClient): void {
  refreshSoon(client, ["bookmarks"], ["bookmark"]);
}
function refreshIfBookmarks(client: QueryClient, values: { pipeline: string }[]): void {
  if (values.some(({ pipeline }) => PIPELINES.includes(pipeline))) refreshShown(client);
}
onLive("item", refreshIfBookmarks);
onLive("job", refreshIfBookmarks);
onLive("progress", refreshShown); // a step has begun
