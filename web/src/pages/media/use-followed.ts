import { useRef } from "react";
import type { Share } from "~/api/media";
import { useTopics } from "~/live";
import { followed } from "~/live/followed";

const MOST = 40; // of the 50 jobs that a stream follows

/** Follow the downloads that are shown and not there yet. */
export function useFollowedShares(shares: Share[]): void {
  const jobs = useRef<readonly string[]>([]);
  const listed = shares.flatMap(({ jobId, status, progress }) =>
    jobId ? { jobId, isOpen: status === "PENDING" || status === "PROCESSING", isRunning: progress !== null } : [],
  );
  jobs.current = followed(jobs.current, listed, MOST);
  useTopics("jobs", ...jobs.current.map((jobId) => `items:${jobId}`));
}
