import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useApp } from "~/api/app";
import { api, queryClient, take } from "~/api/client";
import { reprocess } from "~/api/items";
import { isOpen, type Job, useSteerJob } from "~/api/jobs";
import { partsOf } from "~/jobs/parts";
import { trackJob } from "~/jobs/tracked";
import { useCommands } from "~/shell/commands";
import { toast } from "~/shell/toasts";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Check } from "~/ui/field";
import { plural } from "~/words";

type Status = "ERROR" | "NOT_FOUND" | "SKIPPED" | "DONE";
const AGAIN: [Status, "error" | "notFound" | "skipped" | "done", string][] = [
  ["ERROR", "error", "failed"],
  ["NOT_FOUND", "notFound", "not found"],
  ["SKIPPED", "skipped", "skipped"],
  ["DONE", "done", "done"],
];

/** What can be done with a job in its state. */
export function JobActions({ job, noun }: { job: Job; noun: string }) {
  const [asks, setAsks] = useState<"cancel" | "again">();
  const steer = useSteerJob(job.id);
  const { features } = useApp();
  const isPaused = job.state === "PAUSED";
  const own = partsOf(job)?.page;
  const ended = job.counters.total - job.counters.pending;
  const toggle = () => {
    const action = isPaused ? "resume" : "pause";
    steer.mutate(action, {
      onSuccess: () =>
        toast(isPaused ? "Resumed." : "Paused: what runs now ends, nothing else starts.", {
          label: "Undo",
          run: () => steer.mutate(isPaused ? "pause" : "resume"),
        }),
      onError: (error) => toast(error.message),
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
        <Button shortcut="r" onClick={() => setAsks("again")}>
          Run again
        </Button>
      )}
      {own && (
        <Link to={own.to(job.id)} className={buttonClass()}>
          {own.label}
        </Link>
      )}
      {isOpen(job) && (
        <Button look="danger" onClick={() => setAsks("cancel")}>
          Cancel
        </Button>
      )}
      {asks === "cancel" && <CancelDialog job={job} noun={noun} onClose={() => setAsks(undefined)} />}
      {asks === "again" && <AgainDialog job={job} noun={noun} onClose={() => setAsks(undefined)} />}
    </>
  );
}

/** Runs tasks of the job in the API, a few seconds at a time, until it is stopped or nothing can start. */
function RunHere({ jobId }: { jobId: string }) {
  const [settled, setSettled] = useState<number>();
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
      toast(error instanceof Error ? error.message : String(error));
    }
    setSettled(undefined);
    void queryClient.invalidateQueries();
  };
  if (settled === undefined) {
    return (
      <Button title="Run tasks of this job in the API, until you stop it" onClick={() => void run()}>
        Run here
      </Button>
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

function CancelDialog({ job, noun, onClose }: AskProps) {
  const steer = useSteerJob(job.id);
  const cancel = () =>
    steer.mutate("cancel", {
      onSuccess: () => {
        onClose();
        toast("Cancelled.", {
          label: "Undo",
          run: () =>
            void reprocess(job.id, { scope: "job", statuses: ["SKIPPED"] })
              .then(() => queryClient.invalidateQueries())
              .catch((error: Error) => toast(error.message)),
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
      {steer.error && <p role="alert">{steer.error.message}</p>}
    </Dialog>
  );
}

function AgainDialog({ job, noun, onClose }: AskProps) {
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
  const run = useMutation({
    mutationFn: () => reprocess(job.id, { scope: "job", statuses: chosen, restart, resetAttempts: !keepsAttempts }),
    onSuccess: ({ items }) => {
      onClose();
      toast(`${plural(items, noun)} run${items === 1 ? "s" : ""} again.`);
      trackJob({ jobId: job.id, title: `Job ${job.id} runs again`, href: `/jobs/${job.id}`, noun });
      void queryClient.invalidateQueries();
    },
  });
  return (
    <Dialog
      title="Run items again"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" disabled={count === 0} busy={run.isPending} onClick={() => run.mutate()}>
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
      {run.error && <p role="alert">{run.error.message}</p>}
    </Dialog>
  );
}
