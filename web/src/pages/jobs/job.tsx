import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { countsOf, isOpen, type Job, jobQuery, rateOf } from "~/api/jobs";
import { graphQuery, whyQuery } from "~/api/why";
import { duration, exact, rate } from "~/format";
import { jobTitle } from "~/jobs/job-line";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Bar } from "~/ui/bar";
import { Pill } from "~/ui/pill";
import { Skeleton } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { plural } from "~/words";
import { JobActions } from "./actions";
import { Items } from "./items";
import css from "./jobs.module.css";
import { Overview } from "./overview";
import { Record } from "./record";

const route = getRouteApi("/jobs/$jobId");
const TABS = [
  { key: "overview", label: "Overview" },
  { key: "items", label: "Items" },
  { key: "pending", label: "Pending" },
  { key: "record", label: "Record" },
] as const;
type TabKey = (typeof TABS)[number]["key"];

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
  return <ShownJob job={query.data} />;
}

function LoadingJob() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton height={12} />
      <Skeleton height={220} />
    </div>
  );
}

function ShownJob({ job }: { job: Job }) {
  const { tab = "overview" } = route.useSearch();
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const pipeline = usePipeline(job.pipeline);
  const chosen: TabKey = TABS.some((each) => each.key === tab) ? (tab as TabKey) : "overview";
  const show = (key: TabKey) => void navigate({ search: { tab: key }, replace: true });
  useCommands(
    TABS.map(({ key, label }, index) => ({
      id: `job-tab-${key}`,
      title: `Show ${label.toLowerCase()}`,
      group: "Job",
      keys: String(index + 1),
      run: () => show(key),
    })),
  );
  const title = jobTitle(job, pipeline.title);
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
    >
      <Header job={job} noun={pipeline.noun} />
      {isOpen(job) && <Why jobId={job.id} />}
      <Tabs label="Parts of the job" tabs={[...TABS]} value={chosen} onChange={show}>
        {chosen === "overview" && <Overview job={job} />}
        {chosen === "items" && <Items jobId={job.id} />}
        {chosen === "pending" && <Items jobId={job.id} only={["PROCESSING", "PENDING"]} />}
        {chosen === "record" && <Record jobId={job.id} />}
      </Tabs>
    </Page>
  );
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
      <Bar counts={countsOf(job)} large label="Items" />
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
