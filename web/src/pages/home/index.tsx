import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef } from "react";
import { useApp } from "~/api/app";
import { newestLettersQuery, parkedQuery, savedQuery, waitingSheetsQuery } from "~/api/home";
import { isOpen, type Job, jobsQuery } from "~/api/jobs";
import { useTopics } from "~/live";
import { followed } from "~/live/followed";
import { Box, fillBox } from "~/shell/box";
import { Page } from "~/shell/page";
import { Trouble } from "~/shell/trouble";
import { SkeletonRows } from "~/ui/skeleton";
import { union } from "./group";
import css from "./home.module.css";
import { NeedsYou } from "./needs-you";
import { Recent } from "./recent";
import { Running } from "./running";
import { SavedCards } from "./saved-cards";

// Only a new server has nothing to show.
const First = lazy(() => import("./first"));
const NEWEST = { pageSize: 60 };
const SHOWN = 10;
const FOLLOWED = 20;

/** Put something in, see it happen, see what needs you. */
export default function Home() {
  const { pipelines } = useApp();
  const has = (name: string) => pipelines.some((pipeline) => pipeline.package === name);
  const hasBookmarks = has("bookmarks");
  // Reading a file or writing an export is part of something else, which is listed itself.
  const internal = new Set(pipelines.filter((pipeline) => pipeline.internal).map((pipeline) => pipeline.name));
  const newest = useQuery(jobsQuery(NEWEST));
  const running = useQuery(jobsQuery({ state: "RUNNING", pageSize: 60 }));
  const paused = useQuery(jobsQuery({ state: "PAUSED", pageSize: 60 }));
  const saved = useQuery({ ...savedQuery, enabled: hasBookmarks });

  const letters = useQuery(newestLettersQuery);
  const parked = useQuery(parkedQuery);
  const sheets = useQuery({ ...waitingSheetsQuery, enabled: has("sheets") });
  // All of it at once: what came later would push away what one is about to press.
  const isLoading =
    [newest, running, paused, letters, parked].some((query) => query.isPending) || saved.isLoading || sheets.isLoading;

  const jobs = union(newest.data?.jobs, running.data?.jobs, paused.data?.jobs);
  const isShownOpen = useSeenOpen(jobs);
  const isLink = (pipeline: string) => hasBookmarks && pipeline === "bookmarks";
  const open = jobs.filter((job) => isShownOpen(job) && !isLink(job.pipeline));
  const openLinks = jobs.filter((job) => isShownOpen(job) && isLink(job.pipeline));
  useFollowedJobs([...openLinks, ...open]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) fillBox();
  }, []);

  const isEmpty = newest.isSuccess && jobs.length === 0 && (saved.data ?? []).length === 0;
  const hasMore = Boolean(running.data?.next);
  const ended = jobs.filter((job) => !isShownOpen(job) && !isLink(job.pipeline) && !internal.has(job.pipeline));
  const reading = new Set(openLinks.map((job) => job.id));
  return (
    <Page title="Home" hideTitle>
      <div className={css.home}>
        <Box large />
        {isLoading ? (
          <SkeletonRows rows={4} height={64} />
        ) : (
          <>
            <NeedsYou page={letters.data} parked={parked.data ?? []} sheets={sheets.data ?? []} />
            {newest.isError && !newest.data && (
              <Trouble error={newest.error} what="What is running" onRetry={() => void newest.refetch()} />
            )}
            {isEmpty && (
              <Suspense fallback={<SkeletonRows rows={4} height={64} />}>
                <First />
              </Suspense>
            )}
            <Running jobs={open} shown={SHOWN} hasMore={hasMore} />
            <SavedCards saved={saved.data ?? []} open={openLinks} />
            <Recent jobs={ended} saved={(saved.data ?? []).filter((each) => !reading.has(each.jobId ?? ""))} />
          </>
        )}
      </div>
    </Page>
  );
}

/** Follow the items of the open jobs, first of those that run. */
function useFollowedJobs(jobs: Job[]): void {
  const ids = useRef<readonly string[]>([]);
  const listed = jobs.map((job) => ({ jobId: job.id, isOpen: isOpen(job), isRunning: job.state === "RUNNING" }));
  ids.current = followed(ids.current, listed, FOLLOWED);
  useTopics("jobs", ...ids.current.map((id) => `items:${id}`));
}

/** Whether a job is open, or was when this page was opened: what ends in between stays in its place. */
function useSeenOpen(jobs: Job[]): (job: Job) => boolean {
  const seen = useRef(new Set<string>());
  for (const job of jobs) if (isOpen(job)) seen.current.add(job.id);
  return (job) => seen.current.has(job.id);
}
