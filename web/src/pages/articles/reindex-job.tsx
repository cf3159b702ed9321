import { Link } from "@tanstack/react-router";
import { countsOf, type Job, useSteerJob } from "~/api/jobs";
import { duration, exact } from "~/format";
import { Failed } from "~/shell/failed";
import { Bar } from "~/ui/bar";
import { Button } from "~/ui/button";
import { Pill } from "~/ui/pill";
import { plural } from "~/words";
import css from "./articles.module.css";

/** A job that embeds many articles: how far it is, and pause. */
export function ReindexJob({ job }: { job: Job }) {
  const steer = useSteerJob(job.id);
  const isPaused = job.state === "PAUSED";
  const { total, pending } = job.counters;
  return (
    <div className={css.reindex}>
      <div className={css.what}>
        <Bar counts={countsOf(job)} label="Articles" />
        <span className={css.side}>
          {exact(total - pending)} of {plural(total, "article")}
          {job.etaSeconds !== null && !isPaused && `, ${duration(job.etaSeconds)} left`},{" "}
          <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
            job {job.id}
          </Link>
        </span>
      </div>
      <Pill status={job.state} />
      <Button busy={steer.isPending} onClick={() => steer.mutate(isPaused ? "resume" : "pause")}>
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Failed of={steer} what={`The job was not ${isPaused ? "resumed" : "paused"}.`} />
    </div>
  );
}
