import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { overviewQuery, seriesQuery } from "~/api/ops";
import { duration } from "~/format";
import { StepGraph } from "~/graph/step-graph";
import { useTopics } from "~/live";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Section } from "~/ui/section";
import { Skeleton } from "~/ui/skeleton";
import { OpsPage, useWhose } from "./ops-page";
import { pipelineSteps } from "./pipeline-steps";

const route = getRouteApi("/ops/pipelines/$name");

export default function PipelinePage() {
  const { name } = route.useParams();
  const { title, info } = usePipeline(name);
  useTopics("overview");
  const overview = useQuery(overviewQuery(useWhose()));
  const series = useQuery(seriesQuery);
  return (
    <OpsPage
      title={title}
      subtitle={
        <>
          What has ended is of the last hour. <Link to="/ops/queues">All queues</Link>
        </>
      }
    >
      {info ? (
        <Loaded query={series} what="The attempts" loading={<Skeleton height={220} />}>
          {(ended) => (
            <Loaded query={overview} what="The steps" loading={<Skeleton height={220} />}>
              {(now) => (
                <>
                  <StepGraph
                    label={`Steps of ${title}`}
                    steps={pipelineSteps(info, now, ended)}
                    link={(step, inside, className) => (
                      <Link to="/ops/attempts" search={{ step: step.name }} className={className}>
                        {inside}
                      </Link>
                    )}
                  />
                  <Section title="Declared">
                    <Table label="Declared steps" columns={DECLARED} rows={info.steps} rowKey={(step) => step.name} />
                  </Section>
                </>
              )}
            </Loaded>
          )}
        </Loaded>
      ) : (
        <Empty title="The API does not run this pipeline">Its queues and attempts are on the other pages.</Empty>
      )}
    </OpsPage>
  );
}

type Step = NonNullable<ReturnType<typeof usePipeline>["info"]>["steps"][number];

const DECLARED: Column<Step>[] = [
  { key: "step", title: "Step", isClear: true, cell: (step) => step.name },
  { key: "kind", title: "Runs as", cell: (step) => step.kind },
  { key: "queue", title: "Queue", cell: (step) => step.queue },
  { key: "attempts", title: "Attempts", number: true, cell: (step) => step.retry.attempts },
  {
    key: "timeout",
    title: "Timeout",
    number: true,
    cell: (step) => (step.timeoutS === null ? "" : <span className="nowrap">{duration(step.timeoutS)}</span>),
  },
  { key: "batch", title: "Batch", number: true, cell: (step) => step.batch ?? "" },
  { key: "doc", title: "What it does", isClear: true, cell: (step) => step.doc },
];
