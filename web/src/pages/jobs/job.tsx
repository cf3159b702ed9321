import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { usePipeline } from "~/api/app";
import { ribbonQuery } from "~/api/grid";
import { countsOf, isOpen, type Job, jobQuery, rateOf } from "~/api/jobs";
import { graphQuery, whyQuery } from "~/api/why";
import { duration, exact, rate } from "~/format";
import { RibbonBar } from "~/graph/ribbon-bar";
import { jobTitle } from "~/jobs/job-line";
import { type JobTab, partsOf } from "~/jobs/parts";
import { useTopics } from "~/live";
import { useAnnounced } from "~/shell/announce";
import { useCommands } from "~/shell/commands";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Bar } from "~/ui/bar";
import { Pill } from "~/ui/pill";
import { Skeleton } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { plural, statusWord } from "~/words";
import { JobActions } from "./actions";
import { Items } from "./items";
import css from "./jobs.module.css";
import { Overview } from "./overview";
import { Record } from "./record";
import { JobTimeline } from "./timeline";

const route = getRouteApi("/jobs/$jobId");

/** The tabs of a job; those of the package of its pipeline stand beside what they are most like. */
function tabsOf(own: JobTab[]): { key: string; label: string }[] {
  const after = (key: JobTab["after"]) => own.filter((tab) => tab.after === key);
  return [
    { key: "overview", label: "Overview" },
    ...after("overview"),
    { key: "items", label: "Items" },
    { key: "pending", label: "Pending" },
    { key: "timeline", label: "Timeline" },
    ...after("timeline"),
    { key: "record", label: "Record" },
  ];
}

export default function JobPage() {
  const { jobId } = route.useParams();
  const query = useQuery(jobQuery(jobId));
  // The page is drawn once it is complete: reasons and steps that came later would move the rest.
  const parts = useQueries({ queries: [whyQuery(jobId), graphQuery(jobId)] });
  useTopics("jobs", `items:${jobId}`);
  const isComplete = query.isError || parts.every((part) => !part.isPending);
  if (!query.data || !isComplete) {
    return (
      <Page title={`Job ${jobId}`}>
        <Loaded query={query} what={`Job ${jobId}`} loading={<LoadingJob />}>
          {() => <LoadingJob />}
        </Loaded>
      </Page>
    );
  }
  return <ShownJob key={jobId} job={query.data} />;
}

function LoadingJob() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton width={160} height={22} />
      <Skeleton height={12} />
      <Skeleton width={280} height={44} />
      <Skeleton width="60%" height={24} />
      <Skeleton width={464} height={100} />
    </div>
  );
}

function ShownJob({ job }: { job: Job }) {
  const { tab = "overview" } = route.useSearch();
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const pipeline = usePipeline(job.pipeline);
  const [wasOpen] = useState(isOpen(job));
  const own = partsOf(job)?.tabs ?? [];
  const tabs = tabsOf(own);
  const chosen = tabs.find((each) => each.key === tab)?.key ?? "overview";
  const shown = own.find((each) => each.key === chosen);
  const show = (key: string) => void navigate({ search: { tab: key }, replace: true });
  useCommands(
    tabs.map(({ key, label }, index) => ({
      id: `job-tab-${key}`,
      title: `Show ${label.toLowerCase()}`,
      group: "Job",
      keys: String(index + 1),
      run: () => show(key),
    })),
  );
  const title = jobTitle(job, pipeline.title);
  useAnnounced(`${title}: ${progressWords(job)}`);
  return (
    <Page
      title={title}
      heading={title}
      subtitle={
        <>
          {pipeline.title}, job {job.id}, by {job.owner}, <Time value={job.createdAt} />
          {job.parentId && (
            <>
              , part of{" "}
              <Link to="/jobs/$jobId" params={{ jobId: job.parentId }}>
                job {job.parentId}
              </Link>
            </>
          )}
        </>
      }
      actions={<JobActions job={job} noun={pipeline.noun} />}
      wide={shown?.isWide}
    >
      <Header job={job} noun={pipeline.noun} />
      {(wasOpen || isOpen(job)) && <Why jobId={job.id} />}
      <Tabs label="Parts of the job" tabs={tabs} value={chosen} onChange={show}>
        {chosen === "overview" && <Overview job={job} />}
        {chosen === "items" && <Items jobId={job.id} />}
        {chosen === "pending" && <Items key="pending" jobId={job.id} isPending />}
        {chosen === "timeline" && <JobTimeline job={job} />}
        {chosen === "record" && <Record job={job} />}
        {shown && (
          <Suspense fallback={<Skeleton height={480} />}>
            <shown.Content key={job.id} job={job} />
          </Suspense>
        )}
      </Tabs>
    </Page>
  );
}

/** How far it is, for a screen reader. */
function progressWords(job: Job): string {
  const { total, pending, error } = job.counters;
  const failed = error > 0 ? `, ${exact(error)} failed` : "";
  if (!isOpen(job)) return `${statusWord(job.state)}${failed}`;
  return `${total > 0 ? Math.floor((100 * (total - pending)) / total) : 0} percent${failed}`;
}

const LARGE = 1000; // items: where in the job something happens matters more than how much
const RIBBON_MS = 5000;

function Progress({ job }: { job: Job }) {
  const isLarge = job.counters.total > LARGE;
  const { data } = useQuery({
    ...ribbonQuery(job.id),
    enabled: isLarge,
    refetchInterval: job.state === "RUNNING" ? RIBBON_MS : false,
  });
  const counts = countsOf(job);
  if (isLarge && data && data.slices.length > 0)
    return <RibbonBar label="Items" slices={data.slices} counts={counts} />;
  return <Bar counts={counts} large label="Items" />;
}

const COUNTERS = [
  ["done", "DONE", "done"],
  ["notFound", "NOT_FOUND", "not found"],
  ["skipped", "SKIPPED", "skipped"],
  ["error", "ERROR", "failed"],
  ["pending", "PENDING", "open"],
] as const;

function Header({ job, noun }: { job: Job; noun: string }) {
  const perSecond = rateOf(job);
  return (
    <div className={css.header}>
      <div className="row">
        <Pill status={job.state} />
        <span className="muted">
          {plural(job.counters.total, noun)}
          {!job.sealed && ", more are being added"}
          {perSecond !== undefined && `, ${rate(perSecond)}`}
          {job.etaSeconds !== null &&
            isOpen(job) &&
            `, ${duration(job.etaSeconds)} left at the pace of the last minute`}
          {job.finishedAt &&
            job.startedAt &&
            `, took ${duration((Date.parse(job.finishedAt) - Date.parse(job.startedAt)) / 1000)}`}
        </span>
      </div>
      <Progress job={job} />
      <div className={css.counts}>
        {COUNTERS.filter(([name]) => job.counters[name] > 0).map(([name, status, word]) => (
          <Link
            key={name}
            to="/jobs/$jobId"
            params={{ jobId: job.id }}
            search={{ tab: "items", status: status === "PENDING" ? ["PENDING", "PROCESSING"] : [status] }}
            className={css.count}
          >
            <strong>{exact(job.counters[name])}</strong>
            <span>{word}</span>
          </Link>
        ))}
      </div>
    </div>
  );
}
