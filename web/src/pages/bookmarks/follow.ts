import { useEffect } from "react";
import { type Bookmark, refreshBookmarks } from "~/api/bookmarks";
import { queryClient } from "~/api/client";
import { useLiveState, useTopics } from "~/live";

const MOST = 10; // jobs whose items are followed step by step

/** Follow the jobs of bookmarks that are being read. What has changed before the stream knew of a job is no event: when
 * it is live, they are asked for once more. */
export function useFollowed(bookmarks: Pick<Bookmark, "jobId" | "status">[]): void {
  const topics = bookmarks
    .filter(({ jobId, status }) => jobId && (status === "PENDING" || status === "PROCESSING"))
    .slice(0, MOST)
    .map(({ jobId }) => `items:${jobId}`);
  useTopics("jobs", ...topics);
  const isLive = useLiveState().is === "live";
  const joined = topics.join();
  useEffect(() => {
    if (isLive && joined) refreshBookmarks(queryClient);
  }, [isLive, joined]);
}
