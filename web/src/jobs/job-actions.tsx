import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useApp } from "~/api/app";
import { api, queryClient, take } from "~/api/client";
import { reprocess } from "~/api/items";
import { isOpen, type Job, useSteerJob } from "~/api/jobs";
import { useCommands } from "~/shell/commands";
import { Failed, Failure, Said } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { failedToast, toast } from "~/shell/toasts";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Check } from "~/ui/field";
import { plural, runsAgain } from "~/words";
import { trackJob } from "./tracked";

const NOT_STARTED = "The items were not started again.";

type Status = "ERROR" | "NOT_FOUND" | "SKIPPED" | "DONE";
const AGAIN: [Status, "error" | "notFound" | "skipped" | "done", string][] = [
  ["ERROR", "error", "failed"],
  ["NOT_FOUND", "notFound", "not found"],
  ["SKIPPED", "skipped", "skipped"],
  ["DONE", "done", "done"],
];

interface JobActionsProps {
  job: Job;
  noun: string;
  /** Another page of the same job. */
  other: { label: string; href: string } | undefined;
}

/** What can be done with a job in its state. */
export function JobActions({ job, noun, other }: JobActionsProps) {
  const [asks, setAsks] = useState<"cancel" | "again">();
  const steer = useSteerJob(job.id);
  const { features } = useApp();
  const isPaused = job.state === "PAUSED";
  const ended = job.counters.total - job.counters.pending;
  const again = useRunAgain(job, noun);
  const toggle = () => {
    const action = isPaused ? "resume" : "pause";
    steer.mutate(action, {
      onSuccess: () =>
        toast(isPaused ? "Resumed." : "Paused: what runs now ends, nothing else starts.", {
          label: "Undo",
          run: () => steer.mutate(isPaused ? "pause" : "resume"),
        }),
    });
  };
  useCommands([
    ...(isOpen(job)
      ? [
          {
            id: "job-pause",
            title: isPaused ? "Resume the job" : "Pause the job",
            group: "Job",
            keys: "p",
            run: toggle,
          },
        ]
      : []),
    ...(ended > 0
      ? [{ id: "job-again", title: "Run items again", group: "Job", keys: "r", run: () => setAsks("again") }]
      : []),
  ]);
  return (
    <>
      {isOpen(job) && (
        <Button shortcut="p" busy={steer.isPending} onClick={toggle}>
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      {isOpen(job) && !isPaused && features.kickoff && <RunHere jobId={job.id} />}
      {ended > 0 && (
        <Button shortcut="r" busy={again.isPending} onClick={() => setAsks("again")}>
          Run again
        </Button>
      )}
      {other && (
        <Link to={other.href} className={buttonClass()}>
          {other.label}
        </Link>
      )}
      {isOpen(job) && (
        <Button look="danger" onClick={() => setAsks("cancel")}>
          Cancel
        </Button>
      )}
      <Failed of={steer} what={`The job was not ${steer.variables === "resume" ? "resumed" : "paused"}.`} />
      <Failed of={again} what={NOT_STARTED} />
      {asks === "cancel" && <CancelDialog job={job} noun={noun} onClose={() => setAsks(undefined)} />}
      {asks === "again" && (
        <AgainDialog job={job} noun={noun} onRun={again.mutate} onClose={() => setAsks(undefined)} />
      )}
    </>
  );
}

/** Runs tasks of the job in the API, a few seconds at a time, until it is stopped or nothing can start. */
function RunHere({ jobId }: { jobId: string }) {
  const [settled, setSettled] = useState<number>();
  const [trouble, setTrouble] = useState<unknown>();
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it stops when the page is left
  useEffect(() => stop, []);
  const run = async () => {
    isStopped.current = false;
    let count = 0;
    setSettled(count);
    setTrouble(undefined);
    try {
      while (!isStopped.current) {
        const answer = await take(api.POST("/api/jobs/{job_id}/kickoff", { params: { path: { job_id: jobId } } }));
        count += answer.settled;
        setSettled(count);
        void queryClient.invalidateQueries({ queryKey: ["job", jobId] });
        if (answer.settled === 0 || !("state" in answer.job) || !isOpen(answer.job)) break;
      }
      toast(count > 0 ? `${plural(count, "task")} ended here.` : "Nothing could start here now.");
    } catch (error) {
      setTrouble(error);
    }
    setSettled(undefined);
    void queryClient.invalidateQueries();
  };
  if (settled === undefined) {
    return (
      <>
        <Button title="Run tasks of this job in the API, until you stop it" onClick={() => void run()}>
          Run here
        </Button>
        {trouble !== undefined && (
          <Failure
            error={trouble}
            what="It did not run to its end."
            onRetry={() => void run()}
            onClose={() => setTrouble(undefined)}
          />
        )}
      </>
    );
  }
  return (
    <Button aria-live="polite" onClick={stop}>
      Stop ({plural(settled, "task")} ended here)
    </Button>
  );
}

interface AskProps {
  job: Job;
  noun: string;
  onClose: () => void;
}

/** Undo of a cancel: what it has skipped runs again. */
function takeBack(jobId: string): void {
  reprocess(jobId, { scope: "job", statuses: ["SKIPPED"] }).then(
    () => queryClient.invalidateQueries(),
    (error: unknown) => failedToast("It could not be undone.", error, () => takeBack(jobId)),
  );
}

function CancelDialog({ job, noun, onClose }: AskProps) {
  const steer = useSteerJob(job.id);
  const cancel = () =>
    steer.mutate("cancel", {
      onSuccess: () => {
        onClose();
        toast("Cancelled.", {
          label: "Undo",
          run: () => takeBack(job.id),
        });
      },
    });
  return (
    <Dialog
      title="Cancel this job?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" busy={steer.isPending} onClick={cancel}>
            Cancel {plural(job.counters.pending, noun)}
          </Button>
        </>
      }
    >
      <p>
        {plural(job.counters.pending, noun)} that {job.counters.pending === 1 ? "has" : "have"} not ended will be
        skipped. What is done stays.
      </p>
      <Said error={steer.error} />
    </Dialog>
  );
}

interface Again {
  count: number;
  statuses: Status[];
  restart: boolean;
  resetAttempts: boolean;
}

/** Run items of the job again, if the person does not take it back at once. */
function useRunAgain(job: Job, noun: string) {
  return useHeld({
    words: ({ count }: Again) => runsAgain(count, noun),
    what: NOT_STARTED,
    send: async ({ count: _, ...choice }) => {
      await reprocess(job.id, { scope: "job", ...choice });
      trackJob({ jobId: job.id, title: `Job ${job.id} runs again`, href: `/jobs/${job.id}`, noun });
      await queryClient.invalidateQueries();
    },
  });
}

function AgainDialog({ job, noun, onRun, onClose }: AskProps & { onRun: (again: Again) => void }) {
  const offered = AGAIN.filter(([, counter]) => job.counters[counter] > 0);
  const [chosen, setChosen] = useState<Status[]>(() => {
    const first = offered.find(([status]) => status !== "DONE") ?? offered[0];
    return first ? [first[0]] : [];
  });
  const [restart, setRestart] = useState(false);
  const [keepsAttempts, setKeepsAttempts] = useState(false);
  const count = offered.reduce(
    (sum, [status, counter]) => sum + (chosen.includes(status) ? job.counters[counter] : 0),
    0,
  );
  const run = () => {
    onClose();
    onRun({ count, statuses: chosen, restart, resetAttempts: !keepsAttempts });
  };
  return (
    <Dialog
      title="Run items again"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" disabled={count === 0} onClick={run}>
            Run {plural(count, noun)}
          </Button>
        </>
      }
    >
      <fieldset className="stack">
        <legend>Which</legend>
        {offered.map(([status, counter, word]) => (
          <Check
            key={status}
            label={`${plural(job.counters[counter], noun)} ${word}`}
            checked={chosen.includes(status)}
            onChange={(event) =>
              setChosen(event.currentTarget.checked ? [...chosen, status] : chosen.filter((each) => each !== status))
            }
          />
        ))}
      </fieldset>
      <Check
        label="Start over: also repeat steps that are done"
        checked={restart}
        onChange={(event) => setRestart(event.currentTarget.checked)}
      />
      <Check
        label="Keep attempts: what has failed often has fewer attempts left"
        checked={keepsAttempts}
        onChange={(event) => setKeepsAttempts(event.currentTarget.checked)}
      />
    </Dialog>
  );
}
