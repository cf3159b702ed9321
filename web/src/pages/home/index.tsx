import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useApp } from "~/api/app";
import { savedQuery } from "~/api/home";
import { isOpen, jobsQuery } from "~/api/jobs";
import { useTopics } from "~/live";
import { Box, fillBox } from "~/shell/box";
import { Page } from "~/shell/page";
import { Trouble } from "~/shell/trouble";
import { SkeletonRows } from "~/ui/skeleton";
import { First } from "./first";
import { union } from "./group";
import css from "./home.module.css";
import { NeedsYou } from "./needs-you";
import { Recent } from "./recent";
import { Running } from "./running";
import { SavedCards } from "./saved-cards";

const NEWEST = { pageSize: 60 };
const SHOWN = 10;

/** Put something in, see it happen, see what needs you. */
export default function Home() {
  const { pipelines } = useApp();
  const hasBookmarks = pipelines.some((pipeline) => pipeline.package === "bookmarks");
  // Reading a file or writing an export is part of something else, which is listed itself.
  const internal = new Set(pipelines.filter((pipeline) => pipeline.internal).map((pipeline) => pipeline.name));
  const newest = useQuery(jobsQuery(NEWEST));
  const running = useQuery(jobsQuery({ state: "RUNNING", pageSize: 60 }));
  const paused = useQuery(jobsQuery({ state: "PAUSED", pageSize: 60 }));
  const saved = useQuery({ ...savedQuery, enabled: hasBookmarks });

  const jobs = union(newest.data?.jobs, running.data?.jobs, paused.data?.jobs);
  const isLink = (pipeline: string) => hasBookmarks && pipeline === "bookmarks";
  const open = jobs.filter((job) => isOpen(job) && !isLink(job.pipeline));
  const openLinks = jobs.filter((job) => isOpen(job) && isLink(job.pipeline));
  useTopics("jobs", ...[...openLinks, ...open].slice(0, SHOWN).map((job) => `items:${job.id}`));
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) fillBox();
  }, []);

  const isEmpty = newest.isSuccess && jobs.length === 0 && (saved.data ?? []).length === 0 && !saved.isPending;
  const hasMore = Boolean(running.data?.next);
  return (
    <Page title="Home" hideTitle>
      <div className={css.home}>
        <Box large />
        <NeedsYou />
        {newest.isError && !newest.data && (
          <Trouble error={newest.error} what="What is running" onRetry={() => void newest.refetch()} />
        )}
        {newest.isPending && <SkeletonRows rows={4} height={64} />}
        {isEmpty && <First />}
        <Running jobs={open} shown={SHOWN} hasMore={hasMore} />
        <SavedCards saved={saved.data ?? []} open={openLinks} />
        <Recent
          jobs={jobs.filter((job) => !isOpen(job) && !isLink(job.pipeline) && !internal.has(job.pipeline))}
          saved={saved.data ?? []}
        />
      </div>
    </Page>
  );
}
