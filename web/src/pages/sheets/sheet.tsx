import { queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { gridQuery } from "~/api/grid";
import { countsOf, type Job, rateOf } from "~/api/jobs";
import { type Sheet, sheetQuery } from "~/api/sheets";
import { bytes, duration, rate } from "~/format";
import { JobView, type OwnPage, useWholeJob } from "~/jobs/job-view";
import type { JobTab } from "~/jobs/parts";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Bar } from "~/ui/bar";
import { buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Skeleton } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import { FileFacts } from "./file-facts";
import { jobParts } from "./routes";
import css from "./sheets.module.css";

const route = getRouteApi("/sheets/$jobId");

/** The page of a job, with the grid first, and what only a sheet has. */
export default function SheetPage() {
  const { jobId } = route.useParams();
  const sheet = useQuery(sheetQuery(jobId));
  const { query: job, isComplete } = useWholeJob(jobId);
  const grid = useQuery(gridQuery(jobId));
  const code = useQuery(gridCode).data; // loaded beside the data
  // The page is drawn once it is complete: what came later would move the rest.
  if (!sheet.data || !job.data || !isComplete || grid.isPending || !code) {
    return (
      <Page title={`Sheet ${jobId}`} wide>
        <Loaded query={sheet} what={`Sheet ${jobId}`} loading={<LoadingSheet />}>
          {() => (
            <Loaded query={job} what="The job of the sheet" loading={<LoadingSheet />}>
              {() => <LoadingSheet />}
            </Loaded>
          )}
        </Loaded>
      </Page>
    );
  }
  return <JobView key={jobId} job={job.data} own={ownPage(sheet.data, job.data, code.SheetGrid)} />;
}

const gridCode = queryOptions({
  queryKey: ["code", "sheet-grid"],
  queryFn: () => import("./sheet-grid").then(({ SheetGrid }) => ({ SheetGrid })),
  staleTime: Number.POSITIVE_INFINITY,
});

function ownPage(sheet: Sheet, job: Job, SheetGrid: JobTab["Content"]): OwnPage {
  return {
    first: "grid",
    title: sheet.name,
    subtitle: <Subtitle sheet={sheet} job={job} />,
    notice: stateNotice(sheet, job),
    tabs: [
      { key: "grid", label: "Grid", after: "overview", Content: SheetGrid },
      ...jobParts.tabs.filter(({ key }) => key !== "grid"),
      { key: "file", label: "File", after: "timeline", Content: FileTab },
    ],
  };
}

function FileTab({ job }: { job: Job }) {
  const { data } = useQuery(sheetQuery(job.id));
  return data && <FileFacts sheet={data} />;
}

function LoadingSheet() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton height={44} />
      <Skeleton height={400} />
    </div>
  );
}

function Subtitle({ sheet, job }: { sheet: Sheet; job: Job }) {
  const perSecond = rateOf(job);
  return (
    <span className={css.subtitle}>
      <Pill status={job.state} />
      <span>
        {plural(job.counters.total, "row")}
        {sheet.size !== null && `, ${bytes(sheet.size)}`}
        {perSecond !== undefined && `, ${rate(perSecond)}`}
        {job.etaSeconds !== null && job.state === "RUNNING" && `, ${duration(job.etaSeconds)} left`},{" "}
        <Time value={sheet.createdAt} />
      </span>
      <span className={css.progress}>
        <Bar counts={countsOf(job)} label="Rows" />
      </span>
    </span>
  );
}

/** What a person has to know before looking at rows. */
function stateNotice(sheet: Sheet, job: Job): ReactNode {
  if (sheet.replacedBy) {
    return (
      <Notice
        title="The file was read again."
        actions={
          <Link to="/sheets/$jobId" params={{ jobId: sheet.replacedBy }}>
            Open the sheet that has it now
          </Link>
        }
      />
    );
  }
  if (sheet.problem) {
    return (
      <Notice kind="error" title="The file cannot be read." actions={<Original sheet={sheet} />}>
        {sentence(sheet.problem)}
      </Notice>
    );
  }
  if (!sheet.intakeJobId) {
    return (
      <Notice
        kind="warn"
        title={`The upload is not complete: ${bytes(sheet.received)} of ${bytes(sheet.size ?? 0)} have come.`}
        actions={
          <Link to="/sheets/new" search={{ job: job.id }} className={buttonClass("primary")}>
            Go on with it
          </Link>
        }
      >
        What has come is kept.
      </Notice>
    );
  }
  const hasStarted = job.counters.pending < job.counters.total;
  if (job.state === "PAUSED" && !hasStarted) {
    return (
      <Notice
        title="It waits for your start."
        actions={
          <Link to="/sheets/new" search={{ job: job.id }} className={buttonClass("primary")}>
            Check the columns and start
          </Link>
        }
      >
        No row was looked up yet.
      </Notice>
    );
  }
  if (!job.sealed) return <Notice title={`The file is being read: ${plural(job.counters.total, "row")} so far.`} />;
  return null;
}

function Original({ sheet }: { sheet: Sheet }) {
  if (!sheet.fileId) return null;
  return <a href={`/api/files/${sheet.fileId}/content`}>Download the original</a>;
}
