import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { queryClient } from "~/api/client";
import { reprocess } from "~/api/items";
import { isOpen, type Job, steerJob } from "~/api/jobs";
import { Failed } from "~/shell/failed";
import { failedToast, held, toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { SelectionBar } from "~/ui/selection-bar";
import { plural } from "~/words";
import { type Act, legal, onEach } from "./bulk";

const DONE: Record<Act, string> = { pause: "paused", resume: "resumed", cancel: "cancelled", retry: "retried" };

function perform(jobs: Job[], act: Act): Promise<number> {
  if (act === "retry") return onEach(jobs, (job) => reprocess(job.id, { scope: "job", statuses: ["ERROR"] }));
  return onEach(jobs, (job) => steerJob(job.id, act));
}

/** Take it back; what was cancelled runs again. */
function undo(jobs: Job[], act: "pause" | "resume" | "cancel"): void {
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
  const run = useMutation({
    mutationFn: async (act: Act) => {
      const chosen = jobs.filter(legal[act]);
      const isRetry = act === "retry";
      if (isRetry && !(await held(`${plural(failures(chosen), "item")} of ${plural(chosen.length, "job")} run again.`)))
        return;
      await perform(chosen, act).finally(() => queryClient.invalidateQueries());
      if (!isRetry)
        toast(`${plural(chosen.length, "job")} ${DONE[act]}.`, { label: "Undo", run: () => undo(chosen, act) });
      onDone();
    },
  });
  if (jobs.length === 0) return null;
  const count = (act: Act) => jobs.filter(legal[act]).length;
  return (
    <SelectionBar label="Selected jobs">
      <span>{plural(jobs.length, "job")} selected</span>
      {count("pause") > 0 && (
        <Button busy={run.isPending} onClick={() => run.mutate("pause")}>
          Pause {count("pause")}
        </Button>
      )}
      {count("resume") > 0 && (
        <Button busy={run.isPending} onClick={() => run.mutate("resume")}>
          Resume {count("resume")}
        </Button>
      )}
      {count("retry") > 0 && (
        <Button busy={run.isPending} onClick={() => run.mutate("retry")}>
          Retry {count("retry")}
        </Button>
      )}
      {count("cancel") > 0 && (
        <Button look="danger" busy={run.isPending} onClick={() => setAsks(true)}>
          Cancel {count("cancel")}
        </Button>
      )}
      <Button look="plain" onClick={onDone}>
        Select none
      </Button>
      <Failed of={run} what="Not all jobs were changed." />
      {asks && (
        <CancelDialog jobs={jobs.filter(isOpen)} onClose={() => setAsks(false)} onCancel={() => run.mutate("cancel")} />
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
      <p>{plural(items, "item")} that have not ended will be skipped. What is done stays.</p>
    </Dialog>
  );
}
