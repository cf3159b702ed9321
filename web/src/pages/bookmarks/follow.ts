import { useEffect } from "react";
import { type Bookmark, refreshBookmarks } from "~/api/bookmarks";
import { queryClient } from "~/api/client";
import { useLiveState, useTopics } from "~/live";

const MOST = 10; // jobs whose items are followed step by step
const AGAIN_MS = 2000;

/** Follow the jobs of bookmarks that are being read. What has changed before the stream knew of a job is no event: when
 * it is live, they are asked for once more. */
export function useFollowed(bookmarks: Pick<Bookmark, "jobId" | "status" | "steps">[]): void {
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
  // Under load, cards were seen to stay at a step that had ended. Until it is known why: ask while one runs, and once after.
  const isRunning = bookmarks.some(({ steps }) => steps?.some((step) => step.state === "RUNNING"));
  useEffect(() => {
    const ask = () => refreshBookmarks(queryClient);
    if (!isRunning) return;
    const timer = setInterval(ask, AGAIN_MS);
    return () => {
      clearInterval(timer);
      setTimeout(ask, AGAIN_MS);
    };
  }, [isRunning]);
}
