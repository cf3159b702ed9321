import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { usePipeline } from "~/api/app";
import { countsOf, isOpen, type Job, useSteerJob } from "~/api/jobs";
import { duration } from "~/format";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Amount } from "~/ui/amount";
import { Bar } from "~/ui/bar";
import { Button } from "~/ui/button";
import { List } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { Time } from "~/ui/time";
import { useWhyLines } from "~/why/lines";
import css from "./home.module.css";

/** The open jobs, each with its bar, what is left, and pause. */
export function Running({ jobs, shown, hasMore }: { jobs: Job[]; shown: number; hasMore: boolean }) {
  const why = useWhyLines(jobs.slice(0, shown));
  if (jobs.length === 0) return null;
  const more = jobs.length - shown;
  return (
    <Section
      title="Running"
      beside={
        more > 0 && (
          <Link to="/jobs" search={{ state: ["RUNNING"] }}>
            and {hasMore ? `more than ${more}` : more} more
          </Link>
        )
      }
    >
      <List label="Running jobs">
        {jobs.slice(0, shown).map((job) => (
          <RunningJob key={job.id} job={job} why={why.get(job.id)} />
        ))}
      </List>
    </Section>
  );
}

function RunningJob({ job, why }: { job: Job; why: string | undefined }) {
  const { title, noun } = usePipeline(job.pipeline);
  const steer = useSteerJob(job.id);
  const { total, pending } = job.counters;
  const isPaused = job.state === "PAUSED";
  const press = () => {
    const action = isPaused ? "resume" : "pause";
    steer.mutate(action, {
      onSuccess: () =>
        toast(isPaused ? "Resumed." : "Paused.", {
          label: "Undo",
          run: () => steer.mutate(isPaused ? "pause" : "resume"),
        }),
    });
  };
  return (
    <li className={css.job}>
      <span className={css.what}>
        <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
          {job.file ?? title}
        </Link>
        <span className={css.side}>
          job {job.id}
          {!why && (
            <>
              , <Time value={job.createdAt} />
            </>
          )}
          {why && (
            <>
              {". "}
              <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.why} title={why}>
                {why}
              </Link>
            </>
          )}
        </span>
      </span>
      <span>
        <Bar counts={countsOf(job)} label={title} />
        <span className={css.under}>
          <span>
            <Amount value={total - pending} /> of <Amount value={total} /> {total === 1 ? noun : `${noun}s`}
          </span>
          {job.etaSeconds !== null && !isPaused && <span>{duration(job.etaSeconds)} left</span>}
        </span>
      </span>
      <span>
        <Pill status={job.state} />
      </span>
      <Button
        icon
        look="plain"
        aria-label={`${isPaused ? "Resume" : "Pause"} job ${job.id}`}
        busy={steer.isPending}
        disabled={!isOpen(job)}
        onClick={press}
      >
        {isPaused ? <Play /> : <Pause />}
      </Button>
      <Failed of={steer} what={`Job ${job.id} was not ${isPaused ? "resumed" : "paused"}.`} />
    </li>
  );
}
