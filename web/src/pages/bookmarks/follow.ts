import { useRef } from "react";
import type { Bookmark } from "~/api/bookmarks";
import { useTopics } from "~/live";
import { followed } from "~/live/followed";

const MOST = 40; // of the 50 jobs that a stream follows

/** Follow the steps of the bookmarks that are being read. */
export function useFollowed(bookmarks: Pick<Bookmark, "jobId" | "status" | "steps">[]): void {
  const jobs = useRef<readonly string[]>([]);
  const listed = bookmarks.flatMap(({ jobId, status, steps }) =>
    jobId
      ? {
          jobId,
          isOpen: status === "PENDING" || status === "PROCESSING",
          isRunning: status === "PROCESSING" || (steps?.some((step) => step.state === "RUNNING") ?? false),
        }
      : [],
  );
  jobs.current = followed(jobs.current, listed, MOST);
  useTopics("jobs", ...jobs.current.map((jobId) => `items:${jobId}`));
}
