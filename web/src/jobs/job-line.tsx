import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { useApp, usePipeline } from "~/api/app";
import type { Schema } from "~/api/client";
import { countsOf, isOpen, type Job, rateOf } from "~/api/jobs";
import { clock, duration, exact, rate } from "~/format";
import { Bar, countWords } from "~/ui/bar";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./job-line.module.css";

/** What a job is about, in words. */
export function jobTitle(job: Job, pipelineTitle: string): string {
  return job.subject?.title ?? job.file ?? job.key ?? `${pipelineTitle} ${job.id}`;
}

/** A job as a row of a list; it is drawn again when its job has changed. */
export const JobLine = memo(function JobLine({ job, why }: { job: Job; why?: string | undefined }) {
  const { title, noun } = usePipeline(job.pipeline);
  const { me } = useApp();
  const { total, pending } = job.counters;
  const perSecond = rateOf(job);
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.line}>
      <span className={css.what}>
        <span className={css.title}>{jobTitle(job, title)}</span>
        <span className={css.side}>
          {!why && `${title}, `}job {job.id}
          {job.owner !== me.name && `, ${job.owner}`}
          {why && <span title={why}>. {why}</span>}
        </span>
      </span>
      <span className={css.far}>
        {total > 1 && <Bar counts={countsOf(job)} label={title} />}
        <span className={css.side}>
          {total > 1
            ? isOpen(job)
              ? `${exact(total - pending)} of ${plural(total, noun)}`
              : countWords(countsOf(job))
            : total === 1
              ? `1 ${noun}`
              : "no items yet"}
        </span>
      </span>
      <span className={css.pace}>
        {perSecond !== undefined && <span>{rate(perSecond)}</span>}
        {job.etaSeconds !== null && job.state === "RUNNING" && <span>{duration(job.etaSeconds)} left</span>}
      </span>
      <span>
        <Pill status={job.state} />
      </span>
      <span className={css.age}>
        <Time value={job.finishedAt ?? job.createdAt} />
      </span>
    </Link>
  );
});

const HOUR_MS = 3_600_000;

/** The parameters that show the jobs of a group one by one. */
export function searchOfGroup({ pipeline, hour }: Schema<"JobGroup">) {
  const to = new Date(Date.parse(hour) + HOUR_MS).toISOString();
  return { pipeline: [pipeline], from: hour, to, each: true };
}

/** Jobs of one item, together: "128 links". */
export function JobsLine({ group }: { group: Schema<"JobGroup"> }) {
  const { title, noun } = usePipeline(group.pipeline);
  const began = new Date(group.hour);
  const { running, queued, paused, failed } = group.states;
  const state = failed ? "FAILED" : running || queued ? "RUNNING" : paused ? "PAUSED" : "DONE";
  const { done, notFound, skipped, error, pending } = group.counters;
  const counts = { done, notFound, skipped, error, pending };
  const ends = new Date(began.getTime() + HOUR_MS);
  return (
    <Link to="/jobs" search={searchOfGroup(group)} className={css.line}>
      <span className={css.what}>
        <span className={css.title}>{plural(group.jobs, noun)}</span>
        <span className={css.side}>
          {title}, {clock(began)} to {clock(ends)}
        </span>
      </span>
      <span className={css.far}>
        <Bar counts={counts} label={title} />
        <span className={css.side}>{countWords(counts)}</span>
      </span>
      <span className={css.pace} />
      <span>
        <Pill status={state} />
      </span>
      <span className={css.age}>{ends.getTime() > Date.now() ? "this hour" : <Time value={ends} />}</span>
    </Link>
  );
}
