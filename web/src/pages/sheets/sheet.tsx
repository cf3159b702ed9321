import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { gridQuery } from "~/api/grid";
import { countsOf, isOpen, type Job, jobQuery, rateOf, useSteerJob } from "~/api/jobs";
import { type Sheet, sheetQuery } from "~/api/sheets";
import { bytes, duration, rate } from "~/format";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Bar } from "~/ui/bar";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Skeleton } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import { Exports } from "./exports";
import { FileFacts } from "./file-facts";
import { SheetGrid } from "./sheet-grid";
import css from "./sheets.module.css";

const route = getRouteApi("/sheets/$jobId");
const TABS = [
  { key: "grid", label: "Grid" },
  { key: "exports", label: "Exports" },
  { key: "file", label: "File" },
] as const;
type TabKey = (typeof TABS)[number]["key"];

export default function SheetPage() {
  const { jobId } = route.useParams();
  useTopics("jobs");
  const sheet = useQuery(sheetQuery(jobId));
  const job = useQuery(jobQuery(jobId));
  const grid = useQuery(gridQuery(jobId));
  // The page is drawn once it is complete: what came later would move the rest.
  if (!sheet.data || !job.data || grid.isPending) {
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
  return <ShownSheet sheet={sheet.data} job={job.data} />;
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

function ShownSheet({ sheet, job }: { sheet: Sheet; job: Job }) {
  const { tab } = route.useSearch();
  const navigate = useNavigate({ from: "/sheets/$jobId" });
  const chosen: TabKey = TABS.find((each) => each.key === tab)?.key ?? "grid";
  const show = (key: TabKey) => void navigate({ search: { tab: key === "grid" ? undefined : key }, replace: true });
  useCommands(
    TABS.map(({ key, label }, index) => ({
      id: `sheet-tab-${key}`,
      title: `Show ${label.toLowerCase()}`,
      group: "Sheet",
      keys: String(index + 1),
      run: () => show(key),
    })),
  );
  return (
    <Page title={sheet.name} subtitle={<Subtitle sheet={sheet} job={job} />} actions={<Actions job={job} />} wide>
      <State sheet={sheet} job={job} />
      <Tabs label="Parts of the sheet" tabs={[...TABS]} value={chosen} onChange={show}>
        {chosen === "grid" && <SheetGrid key={job.id} job={job} />}
        {chosen === "exports" && <Exports job={job} />}
        {chosen === "file" && <FileFacts sheet={sheet} />}
      </Tabs>
    </Page>
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

function Actions({ job }: { job: Job }) {
  const steer = useSteerJob(job.id);
  const isPaused = job.state === "PAUSED";
  const toggle = () =>
    steer.mutate(isPaused ? "resume" : "pause", {
      onSuccess: () =>
        toast(isPaused ? "Resumed." : "Paused: what runs now ends, nothing else starts.", {
          label: "Undo",
          run: () => steer.mutate(isPaused ? "pause" : "resume"),
        }),
      onError: (error) => toast(error.message),
    });
  const word = isPaused ? "Resume" : "Pause";
  useCommands(
    isOpen(job) ? [{ id: "sheet-pause", title: `${word} the sheet`, group: "Sheet", keys: "p", run: toggle }] : [],
  );
  return (
    <>
      {isOpen(job) && (
        <Button shortcut="p" busy={steer.isPending} onClick={toggle}>
          {word}
        </Button>
      )}
      <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={buttonClass()}>
        Job
      </Link>
    </>
  );
}

/** What a person has to know before looking at rows. */
function State({ sheet, job }: { sheet: Sheet; job: Job }) {
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
