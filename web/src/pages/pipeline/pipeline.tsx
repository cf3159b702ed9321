import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type PipelineInfo, useApp } from "~/api/app";
import { foldedJobsQuery } from "~/api/jobs";
import { JobLine } from "~/jobs/job-line";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { type Column, List, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { plural } from "~/words";
import css from "./pipeline.module.css";
import { SubmitForm } from "./submit-form";

const route = getRouteApi("/pipelines/$name");

/** The page of a pipeline that brings no pages of its own. */
export default function PipelinePage() {
  const { name } = route.useParams();
  const info = useApp().pipelines.find((pipeline) => pipeline.name === name);
  if (!info) {
    return (
      <Page title={name}>
        <Empty title="There is no such pipeline">The server does not run it, or it has another name now.</Empty>
      </Page>
    );
  }
  return (
    <Page title={info.title}>
      <div className={css.columns}>
        <Section title={`Submit ${info.noun === "item" ? "a job" : `a ${info.noun}`}`}>
          <SubmitForm key={info.name} info={info} />
        </Section>
        <Section title="Steps">
          <Table label="Steps of the pipeline" columns={STEPS} rows={info.steps} rowKey={(step) => step.name} />
        </Section>
      </div>
      <Jobs info={info} />
    </Page>
  );
}

const STEPS: Column<PipelineInfo["steps"][number]>[] = [
  { key: "name", title: "Step", isClear: true, cell: (step) => step.name },
  { key: "after", title: "After", cell: (step) => (step.afterAll ? "all items" : step.after.join(", ")) },
  { key: "tries", title: "Attempts", number: true, cell: (step) => step.retry.attempts },
  { key: "doc", title: "What it does", isClear: true, cell: (step) => step.doc.split("\n")[0] },
];

function Jobs({ info }: { info: PipelineInfo }) {
  useTopics("jobs");
  const query = useInfiniteQuery(foldedJobsQuery({ pipeline: info.name }, true));
  const pages = query.data?.pages ?? [];
  const jobs = pages.flatMap((page) => page.entries.map((entry) => entry.job)).filter((job) => job !== null);
  const searched = pages.reduce((sum, page) => sum + page.searched, 0);
  return (
    <Section title="Jobs">
      <Loaded query={query} what="The jobs" loading={<SkeletonRows rows={4} height={56} />}>
        {() =>
          jobs.length > 0 ? (
            <List label="Jobs of the pipeline">
              {jobs.map((job) => (
                <li key={job.id}>
                  <JobLine job={job} />
                </li>
              ))}
            </List>
          ) : query.hasNextPage ? null : (
            <Empty title="No jobs yet">Fill in the form to submit the first one.</Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
        searched={`${plural(searched, "job")} looked at`}
      />
    </Section>
  );
}
