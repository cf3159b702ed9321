import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { usePipeline } from "~/api/app";
import { ribbonQuery } from "~/api/grid";
import { countsOf, isOpen, type Job, jobQuery, rateOf } from "~/api/jobs";
import { graphQuery, whyQuery } from "~/api/why";
import { duration, exact, rate } from "~/format";
import { RibbonBar } from "~/graph/ribbon-bar";
import { useTopics } from "~/live";
import { useAnnounced } from "~/shell/announce";
import { useCommands } from "~/shell/commands";
import { Page } from "~/shell/page";
import { Bar } from "~/ui/bar";
import { Pill } from "~/ui/pill";
import { Skeleton } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { plural, statusWord } from "~/words";
import { JobActions } from "./job-actions";
import { jobTitle } from "./job-line";
import { useJobSearch } from "./job-search";
import css from "./jobs.module.css";
import { type JobTab, partsOf } from "./parts";

const Overview = lazy(() => import("./overview").then((found) => ({ default: found.Overview })));
const Items = lazy(() => import("./job-items").then((found) => ({ default: found.Items })));
const JobTimeline = lazy(() => import("./timeline").then((found) => ({ default: found.JobTimeline })));
const Record = lazy(() => import("./record").then((found) => ({ default: found.Record })));

/** What the page of a package, such as that of a sheet, has in place of what all jobs have. */
export interface OwnPage {
  /** The tab that is shown first. */
  first: string;
  title: string;
  subtitle: ReactNode;
  /** What must be known before anything else; why the job waits is left out then. */
  notice: ReactNode;
  /** In place of those that its package adds to the page of a job. */
  tabs: JobTab[];
}

/** The tabs of a job; those of the package of its pipeline stand beside what they are most like. */
export function tabsOf(own: JobTab[], first = "overview"): { key: string; label: string }[] {
  const after = (key: JobTab["after"]) => own.filter((tab) => tab.after === key);
  const tabs = [
    { key: "overview", label: "Overview" },
    ...after("overview"),
    { key: "items", label: "Items" },
    { key: "pending", label: "Pending" },
    { key: "timeline", label: "Timeline" },
    ...after("timeline"),
    { key: "record", label: "Record" },
  ];
  return [...tabs.filter(({ key }) => key === first), ...tabs.filter(({ key }) => key !== first)];
}

/** A job with what its page is drawn of. */
export function useWholeJob(jobId: string) {
  const query = useQuery(jobQuery(jobId));
  // The page is drawn once it is complete: reasons and steps that came later would move the rest.
  const parts = useQueries({ queries: [whyQuery(jobId), graphQuery(jobId)] });
  useTopics("jobs", `items:${jobId}`);
  return { query, isComplete: query.isError || parts.every((part) => !part.isPending) };
}

export function LoadingJob() {
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

/** The page of a job: what can be done with it, how far it is, why it waits, and its parts. */
export function JobView({ job, own }: { job: Job; own?: OwnPage }) {
  const { search, show: showTab } = useJobSearch();
  const pipeline = usePipeline(job.pipeline);
  const [wasOpen] = useState(isOpen(job));
  const parts = partsOf(job);
  const added = own?.tabs ?? parts?.tabs ?? [];
  const tabs = tabsOf(added, own?.first);
  const chosen = tabs.find((each) => each.key === search.tab)?.key ?? tabs[0]!.key;
  const shown = added.find((each) => each.key === chosen);
  const show = (key: string) => showTab(key === tabs[0]!.key ? undefined : key);
  useCommands(
    tabs.map(({ key, label }, index) => ({
      id: `job-tab-${key}`,
      title: `Show ${label.toLowerCase()}`,
      group: "Job",
      keys: String(index + 1),
      run: () => show(key),
    })),
  );
  const title = own?.title ?? jobTitle(job, pipeline.title);
  const other = own
    ? { label: "Job", href: `/jobs/${job.id}` }
    : parts && { label: parts.page.label, href: parts.page.to(job.id) };
  useAnnounced(`${title}: ${progressWords(job)}`);
  return (
    <Page
      title={title}
      heading={title}
      subtitle={own?.subtitle ?? <Origin job={job} title={pipeline.title} />}
      actions={<JobActions job={job} noun={pipeline.noun} other={other} />}
      wide={own !== undefined || shown?.isWide}
    >
      {!own && <Header job={job} noun={pipeline.noun} />}
      {own?.notice ?? (
        <div className={wasOpen || isOpen(job) ? css.why : undefined}>
          {(wasOpen || isOpen(job)) && <Why jobId={job.id} />}
        </div>
      )}
      <Tabs label="Parts of the job" tabs={tabs} value={chosen} onChange={show}>
        <Suspense fallback={<Skeleton height={480} />}>
          {chosen === "overview" && (
            <div className={css.section}>
              {own && <Counts job={job} />}
              <Overview job={job} />
            </div>
          )}
          {chosen === "items" && <Items key="items" jobId={job.id} />}
          {chosen === "pending" && <Items key="pending" jobId={job.id} isPending />}
          {chosen === "timeline" && <JobTimeline job={job} />}
          {chosen === "record" && <Record job={job} />}
          {shown && <shown.Content key={job.id} job={job} />}
        </Suspense>
      </Tabs>
    </Page>
  );
}

function Origin({ job, title }: { job: Job; title: string }) {
  return (
    <>
      {title}, job {job.id}, by {job.owner}, <Time value={job.createdAt} />
      {job.parentId && (
        <>
          , part of{" "}
          <Link to="/jobs/$jobId" params={{ jobId: job.parentId }}>
            job {job.parentId}
          </Link>
        </>
      )}
    </>
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
      <Counts job={job} />
    </div>
  );
}

/** The counters; each leads to its items. */
function Counts({ job }: { job: Job }) {
  return (
    <div className={css.counts}>
      {COUNTERS.filter(([name]) => job.counters[name] > 0).map(([name, status, word]) => (
        <Link
          key={name}
          to="."
          search={{ tab: "items", status: status === "PENDING" ? ["PENDING", "PROCESSING"] : [status] }}
          className={css.count}
        >
          <strong>{exact(job.counters[name])}</strong>
          <span>{word}</span>
        </Link>
      ))}
    </div>
  );
}
