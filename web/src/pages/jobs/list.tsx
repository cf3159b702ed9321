import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useApp, useIsAdmin } from "~/api/app";
import { foldedJobsQuery, type JobState, jobCountsQuery } from "~/api/jobs";
import { dayOf, exact, startOfDay } from "~/format";
import { JobLine, JobsLine, searchOfGroup } from "~/jobs/job-line";
import { WhoseSelect } from "~/jobs/whose-select";
import { useTopics } from "~/live";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { useSelection } from "~/shell/selection";
import { Loaded } from "~/shell/trouble";
import { TryLink, TrySheet } from "~/shell/try-sample";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Check, Field, Select } from "~/ui/field";
import { Filters } from "~/ui/filters";
import { List } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SelectBox } from "~/ui/select-box";
import { SkeletonRows } from "~/ui/skeleton";
import { useWhyLines } from "~/why/lines";
import { plural, statusWord } from "~/words";
import css from "./list.module.css";
import { SelectedJobs } from "./selected-jobs";

const STATES = ["RUNNING", "QUEUED", "PAUSED", "FAILED", "DONE", "CANCELLED"] as const;
const route = getRouteApi("/jobs");

export default function JobsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/jobs" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const { pipelines } = useApp();
  const has = (name: string) => pipelines.some((pipeline) => pipeline.name === name);
  const isAdmin = useIsAdmin();
  useTopics("jobs");
  const counts = useQuery(jobCountsQuery(search.owner ? { userId: search.owner } : {}));
  const query = useInfiniteQuery(
    foldedJobsQuery(
      {
        ...(search.state && { state: search.state.join(",") }),
        ...(search.pipeline && { pipeline: search.pipeline.join(",") }),
        ...(search.from && { from: search.from }),
        ...(search.to && { to: search.to }),
        ...(search.q && { q: search.q }),
        ...(search.owner && { userId: search.owner }),
      },
      search.each ?? false,
    ),
  );
  const pages = query.data?.pages ?? [];
  const entries = pages.flatMap((page) => page.entries);
  const searched = pages.reduce((sum, page) => sum + page.searched, 0);
  const isFiltered = Object.keys(search).length > 0;
  const open = (index: number) => {
    const { job, group } = entries[index] ?? {};
    if (job) void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } });
    else if (group) void navigate({ to: "/jobs", search: searchOfGroup(group) });
  };
  const jobs = entries.flatMap(({ job }) => job ?? []);
  const selection = useSelection(jobs.map((job) => job.id));
  const keys = useListKeys({
    group: "Jobs",
    count: entries.length,
    onOpen: open,
    onSelect: (index, isRange) => {
      const job = entries[index]?.job;
      if (job) selection.select(jobs.indexOf(job), isRange);
    },
  });
  const why = useWhyLines(jobs);
  const state = (search.state ?? []).filter((each): each is JobState => STATES.includes(each as JobState));
  return (
    <Page title="Jobs">
      <Filters
        chips={
          <Chips
            label="State"
            chosen={state}
            onChange={(chosen) => set({ state: chosen.length > 0 ? chosen : undefined })}
            chips={STATES.map((value) => ({
              value,
              label: statusWord(value),
              count: countWord(counts.data?.states[value.toLowerCase() as Lowercase<JobState>], counts.data?.exact),
            }))}
          />
        }
        search={<SearchField key={search.q} value={search.q} onChange={(q) => set({ q })} />}
        chosen={[search.pipeline, search.from, search.to, search.owner, search.each].filter(Boolean).length}
      >
        <Select
          label="Pipeline"
          value={search.pipeline?.[0] ?? ""}
          onChange={(value) => set({ pipeline: value ? [value] : undefined })}
          options={[
            { value: "", label: "All pipelines" },
            ...pipelines.map((pipeline) => ({ value: pipeline.name, label: pipeline.title })),
          ]}
        />
        <DayField label="From" value={search.from} onChange={(from) => set({ from })} />
        <DayField label="To" value={search.to} later={1} onChange={(to) => set({ to })} />
        {isAdmin && <WhoseSelect owner={search.owner} onChange={(owner) => set({ owner })} />}
        <Check
          label="Also jobs of one item one by one"
          checked={search.each ?? false}
          onChange={(event) => set({ each: event.currentTarget.checked || undefined })}
        />
      </Filters>
      <Loaded query={query} what="The jobs" loading={<SkeletonRows rows={8} height={56} />}>
        {() =>
          entries.length > 0 ? (
            <List label="Jobs">
              {entries.map(({ job, group }, index) => (
                <li key={job?.id ?? `${group?.pipeline} ${group?.hour}`} {...keys.rowProps(index)} className={css.item}>
                  <span className={css.select}>
                    {job && (
                      <SelectBox
                        label={`Select job ${job.id}`}
                        checked={selection.ids.has(job.id)}
                        onSelect={(isRange) => selection.select(jobs.indexOf(job), isRange)}
                      />
                    )}
                  </span>
                  {job && <JobLine job={job} why={why.get(job.id)} />}
                  {group && <JobsLine group={group} />}
                </li>
              ))}
            </List>
          ) : query.hasNextPage ? null : isFiltered ? (
            <Empty
              title="No job matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>}
            >
              {plural(searched, "job")} {searched === 1 ? "was" : "were"} looked at.
            </Empty>
          ) : (
            <Empty
              title="No jobs yet"
              actions={
                <>
                  {has("bookmarks") && <TryLink />}
                  {has("sheets") && <TrySheet />}
                </>
              }
            >
              Everything that runs in the background is a job: a saved link, a sheet, an import. Paste a link or drop a
              file to make the first one.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
        searched={`${plural(searched, "job")} looked at`}
      />
      <SelectedJobs jobs={jobs.filter((job) => selection.ids.has(job.id))} onDone={selection.clear} />
    </Page>
  );
}

function countWord(count: number | undefined, isExact: boolean | undefined): string | undefined {
  if (!count) return undefined;
  return isExact ? exact(count) : `${exact(count)}+`;
}

interface DayFieldProps {
  label: string;
  value: string | undefined;
  /** Days to the instant in the URL: the last day counts as a whole. */
  later?: number;
  onChange: (value: string | undefined) => void;
}

/** A day; the URL has the instant, as links to an hour do. */
function DayField({ label, value, later = 0, onChange }: DayFieldProps) {
  const shown = value && dayOf(new Date(Date.parse(value) - later)); // a millisecond before: that day
  return (
    <Field
      label={label}
      type="date"
      value={shown ?? ""}
      onChange={({ currentTarget: { value: day } }) => onChange(day ? startOfDay(day, later).toISOString() : undefined)}
    />
  );
}

/** The text goes into the URL when it is complete: by Enter, or when the field is left. */
function SearchField({ value, onChange }: { value: string | undefined; onChange: (q: string | undefined) => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(String(new FormData(event.currentTarget).get("q")).trim() || undefined);
      }}
    >
      <Field
        label="File, key or number"
        hideLabel
        name="q"
        type="search"
        placeholder="File, key or number"
        defaultValue={value ?? ""}
        onBlur={(event) => onChange(event.currentTarget.value.trim() || undefined)}
      />
    </form>
  );
}
