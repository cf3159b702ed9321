import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Job } from "~/api/jobs";
import { graphQuery } from "~/api/why";
import { StepGraph } from "~/graph/step-graph";
import { Loaded } from "~/shell/trouble";
import { Skeleton } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import css from "./jobs.module.css";

/** The step graph, the last error and the facts of a job. */
export function Overview({ job }: { job: Job }) {
  const graph = useQuery(graphQuery(job.id));
  return (
    <div className={css.section}>
      <Loaded query={graph} what="The steps" loading={<Skeleton height={104} />}>
        {({ steps }) => <StepGraph label="Steps of the job" steps={steps} />}
      </Loaded>
      {job.lastError && (
        <p>
          <strong>Last error</strong> in {job.lastError.step}, attempt {job.lastError.attempt},{" "}
          <Time value={job.lastError.at} />: {sentence(job.lastError.reason ?? job.lastError.class ?? "unknown")}{" "}
          <Link to="/jobs/$jobId/items/$n" params={{ jobId: job.id, n: job.lastError.item }}>
            item {job.lastError.item}
          </Link>
        </p>
      )}
      <dl className={css.facts}>
        {facts(job).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
    </div>
  );
}

function facts(job: Job): [string, string][] {
  const found: [string, string | null][] = [
    ["Key", job.key],
    ["File", job.file],
    ["Priority", job.priority ? String(job.priority) : null],
    ["Submitted from", job.ip],
    ["About it", job.meta && Object.keys(job.meta).length > 0 ? JSON.stringify(job.meta) : null],
  ];
  return found.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
