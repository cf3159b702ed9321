import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { overviewQuery, seriesQuery } from "~/api/ops";
import { StepGraph } from "~/graph/step-graph";
import { useTopics } from "~/live";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import css from "./ops.module.css";
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
                  <section className={css.section} aria-labelledby="declared">
                    <h2 id="declared">Declared</h2>
                    <Table label="Declared steps" columns={DECLARED} rows={info.steps} rowKey={(step) => step.name} />
                  </section>
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
  { key: "step", title: "Step", cell: (step) => step.name },
  { key: "kind", title: "Runs as", cell: (step) => step.kind },
  { key: "queue", title: "Queue", cell: (step) => step.queue },
  { key: "attempts", title: "Attempts", number: true, cell: (step) => step.retry.attempts },
  {
    key: "timeout",
    title: "Timeout",
    number: true,
    cell: (step) => (step.timeoutS === null ? "" : <span className="nowrap">{step.timeoutS} s</span>),
  },
  { key: "batch", title: "Batch", number: true, cell: (step) => step.batch ?? "" },
  { key: "doc", title: "What it does", cell: (step) => step.doc },
];
