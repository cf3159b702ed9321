import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useApp } from "~/api/app";
import type { Schema } from "~/api/client";
import { type LetterGroup, lettersSummaryQuery } from "~/api/dead-letters";
import { isOpen, type Job } from "~/api/jobs";
import { auditQuery, ofJob } from "~/api/record";
import { graphQuery } from "~/api/why";
import { exact } from "~/format";
import { usePaced } from "~/graph/rates";
import { type StepCounts, StepGraph } from "~/graph/step-graph";
import { Loaded } from "~/shell/trouble";
import { Facts } from "~/ui/facts";
import { Section } from "~/ui/section";
import { Skeleton } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import { detailWords } from "./detail-words";
import css from "./jobs.module.css";

/** The step graph, the facts of a job, the last error, what failed and who did what. */
export function Overview({ job }: { job: Job }) {
  const graph = useQuery(graphQuery(job.id));
  const steps = usePaced(graph.data?.steps, graph.dataUpdatedAt, isOpen(job));
  return (
    <div className={css.section}>
      <Loaded query={graph} what="The steps" loading={<Skeleton height={104} />}>
        {(answer) => <StepGraph label="Steps of the job" steps={steps ?? answer.steps} link={stepLink} />}
      </Loaded>
      <Facts
        facts={[
          ["Key", job.key],
          ["File", job.file],
          ["Priority", job.priority ? String(job.priority) : null],
          ["Submitted from", job.ip],
          ["About it", detailWords(job.meta) || null],
        ]}
      />
      {job.lastError && (
        <p>
          <strong>Last error</strong> in {job.lastError.step}, attempt {job.lastError.attempt},{" "}
          <Time value={job.lastError.at} />: {sentence(job.lastError.reason ?? job.lastError.class ?? "unknown")}{" "}
          <Link to="/jobs/$jobId/items/$n" params={{ jobId: job.id, n: job.lastError.item }}>
            item {job.lastError.item}
          </Link>
        </p>
      )}
      <Happened job={job} />
    </div>
  );
}

/** A step leads to the items that are there or have failed there; one that runs for the whole job has none. */
function stepLink(step: StepCounts, inside: ReactNode, className: string) {
  if (step.afterAll) return <div className={className}>{inside}</div>;
  return (
    <Link to="." search={{ tab: "items", step: step.name }} className={className} title={`Items in ${step.name}`}>
      {inside}
    </Link>
  );
}

const SHOWN = 5;

/** What failed, in groups of the same reason, and who did what; drawn together, so that nothing moves. */
function Happened({ job }: { job: Job }) {
  const where = ofJob(job, useApp().me);
  const hasFailures = job.counters.error > 0;
  const letters = useQuery({ ...lettersSummaryQuery({ ...where, by: "step,reason" }), enabled: hasFailures });
  const audit = useInfiniteQuery(auditQuery({ ...where, pageSize: SHOWN }));
  if ((hasFailures && letters.isPending) || audit.isPending) return null;
  const groups = hasFailures ? (letters.data?.groups ?? []) : [];
  return (
    <>
      {groups.length > 0 && <Failures groups={groups} />}
      {audit.data && <LastActions page={audit.data.pages[0]!} />}
    </>
  );
}

function Failures({ groups }: { groups: LetterGroup[] }) {
  return (
    <Section title="What failed">
      <ul className={css.groups}>
        {groups.slice(0, SHOWN).map((group) => (
          <li key={`${group.step} ${group.reason}`}>
            <strong>{exact(group.count)}</strong> in {group.step}: {sentence(group.reason ?? "no reason was given")}
          </li>
        ))}
      </ul>
      <Link to="." search={{ tab: "items", status: ["ERROR"] }}>
        {groups.length > SHOWN ? `${groups.length - SHOWN} more reasons, and the items` : "Show the items"}
      </Link>
    </Section>
  );
}

function LastActions({ page }: { page: Schema<"AuditPage"> }) {
  if (page.audit.length === 0) return null;
  return (
    <Section title="Who did what">
      <ul className={css.groups}>
        {page.audit.map((row) => (
          <li key={row.id}>
            {row.actor}: {row.action.replaceAll("_", " ")}
            {row.itemId && ` ${row.itemId}`}, <Time value={row.at} />
          </li>
        ))}
      </ul>
      {page.next && (
        <Link to="." search={{ tab: "record" }}>
          The whole record
        </Link>
      )}
    </Section>
  );
}
