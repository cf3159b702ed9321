import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { queryClient } from "~/api/client";
import { reprocess } from "~/api/items";
import { isOpen, type Job, steerJob } from "~/api/jobs";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { failedToast, toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { SelectionBar } from "~/ui/selection-bar";
import { plural, runsAgain } from "~/words";
import { type Act, legal, onEach } from "./bulk";

type Steer = Exclude<Act, "retry">;

const DONE: Record<Steer, string> = { pause: "paused", resume: "resumed", cancel: "cancelled" };
const NOT_ALL = "Not all jobs were changed.";

function perform(jobs: Job[], act: Steer): Promise<number> {
  return onEach(jobs, (job) => steerJob(job.id, act));
}

/** At once: when the page is left, what would come later is never sent. */
function retryFailed(jobs: Job[]): Promise<number> {
  return onEach(jobs, (job) => reprocess(job.id, { scope: "job", statuses: ["ERROR"] }), { atOnce: true });
}

/** Take it back; what was cancelled runs again. */
function undo(jobs: Job[], act: Steer): void {
  const back =
    act === "cancel"
      ? onEach(jobs, (job) => reprocess(job.id, { scope: "job", statuses: ["SKIPPED"] }))
      : perform(jobs, act === "pause" ? "resume" : "pause");
  back.then(
    () => queryClient.invalidateQueries(),
    (error: unknown) => failedToast("Not all of it could be undone.", error, () => undo(jobs, act)),
  );
}

/** What can be done with the selected jobs: only what is possible with at least one of them, with their number. */
export function SelectedJobs({ jobs, onDone }: { jobs: Job[]; onDone: () => void }) {
  const [asks, setAsks] = useState(false);
  // The jobs are part of what is asked for: the selection may be another one when it is repeated.
  const steer = useMutation({
    mutationFn: async ({ act, chosen }: { act: Steer; chosen: Job[] }) => {
      await perform(chosen, act).finally(() => queryClient.invalidateQueries());
      toast(`${plural(chosen.length, "job")} ${DONE[act]}.`, { label: "Undo", run: () => undo(chosen, act) });
      onDone();
    },
  });
  const retry = useHeld({
    words: (chosen: Job[]) => runsAgain(failures(chosen), "item", ` of ${plural(chosen.length, "job")}`),
    what: NOT_ALL,
    send: async (chosen) => {
      await retryFailed(chosen).finally(() => queryClient.invalidateQueries());
      onDone();
    },
  });
  if (jobs.length === 0 && !steer.error && !retry.error) return null;
  const isBusy = steer.isPending || retry.isPending;
  const run = (act: Steer) => steer.mutate({ act, chosen: jobs.filter(legal[act]) });
  const count = (act: Act) => jobs.filter(legal[act]).length;
  return (
    <SelectionBar label="Selected jobs">
      <span>{plural(jobs.length, "job")} selected</span>
      {count("pause") > 0 && (
        <Button busy={isBusy} onClick={() => run("pause")}>
          Pause {count("pause")}
        </Button>
      )}
      {count("resume") > 0 && (
        <Button busy={isBusy} onClick={() => run("resume")}>
          Resume {count("resume")}
        </Button>
      )}
      {count("retry") > 0 && (
        <Button busy={isBusy} onClick={() => retry.mutate(jobs.filter(legal.retry))}>
          Retry {count("retry")}
        </Button>
      )}
      {count("cancel") > 0 && (
        <Button look="danger" busy={isBusy} onClick={() => setAsks(true)}>
          Cancel {count("cancel")}
        </Button>
      )}
      {jobs.length > 0 && (
        <Button look="plain" onClick={onDone}>
          Select none
        </Button>
      )}
      <Failed of={steer} what={NOT_ALL} />
      <Failed of={retry} what={NOT_ALL} />
      {asks && (
        <CancelDialog jobs={jobs.filter(isOpen)} onClose={() => setAsks(false)} onCancel={() => run("cancel")} />
      )}
    </SelectionBar>
  );
}

function failures(jobs: Job[]): number {
  return jobs.reduce((sum, job) => sum + job.counters.error, 0);
}

function CancelDialog({ jobs, onClose, onCancel }: { jobs: Job[]; onClose: () => void; onCancel: () => void }) {
  const items = jobs.reduce((sum, job) => sum + job.counters.pending, 0);
  const cancel = () => {
    onClose();
    onCancel();
  };
  return (
    <Dialog
      title={`Cancel ${plural(jobs.length, "job")}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep {jobs.length === 1 ? "it" : "them"}</Button>
          <Button look="danger" onClick={cancel}>
            Cancel {plural(items, "item")}
          </Button>
        </>
      }
    >
      <p>{plural(items, "item that has", "items that have")} not ended will be skipped. What is done stays.</p>
    </Dialog>
  );
}
