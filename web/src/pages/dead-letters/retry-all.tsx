import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type LetterFilter, retryMatching, retryPlanQuery } from "~/api/dead-letters";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Skeleton } from "~/ui/skeleton";
import { plural, runsAgain } from "~/words";
import { NOTHING_RUNS, noteStarted } from "./retries";

/** Run everything again that has failed for good, after it was counted. */
export function RetryAll({ filter }: { filter: LetterFilter }) {
  const [asks, setAsks] = useState(false);
  const again = useHeld({
    words: ({ items }: Asked) => runsAgain(items, "item"),
    what: NOTHING_RUNS,
    send: async (asked) => noteStarted(await retryMatching(asked.filter), undefined),
  });
  const run = (items: number) => {
    setAsks(false);
    again.mutate({ filter, items });
  };
  return (
    <>
      <Button busy={again.isPending} onClick={() => setAsks(true)}>
        Retry all
      </Button>
      <Failed of={again} what={NOTHING_RUNS} />
      {asks && <RetryDialog filter={filter} onRun={run} onClose={() => setAsks(false)} />}
    </>
  );
}

interface Asked {
  filter: LetterFilter;
  items: number;
}

interface RetryDialogProps {
  filter: LetterFilter;
  onRun: (items: number) => void;
  onClose: () => void;
}

function RetryDialog({ filter, onRun, onClose }: RetryDialogProps) {
  const plan = useQuery(retryPlanQuery(filter));
  const items = plan.data?.items;
  return (
    <Dialog
      title="Retry all dead letters"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!items} onClick={() => items && onRun(items)}>
            {items ? `Retry ${plural(items, "item")}` : "Retry"}
          </Button>
        </>
      }
    >
      <Loaded query={plan} what="The number of items" loading={<Skeleton height={44} />}>
        {({ jobs, items: count, leftOut, complete }) => (
          <>
            <p>
              {plural(count, "item")} of {plural(jobs, "job")} {count === 1 ? "runs" : "run"} again, from the step that
              failed.
            </p>
            {leftOut > 0 && (
              <p className="muted">
                {plural(leftOut, "item is", "items are")} done without the step that failed, and{" "}
                {leftOut === 1 ? "stays" : "stay"} so.
              </p>
            )}
            {!complete && <p className="muted">There are more: these are the newest. Repeat it afterwards.</p>}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
