import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queryClient } from "~/api/client";
import { type LetterFilter, retryMatching, retryPlanQuery } from "~/api/dead-letters";
import { Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Skeleton } from "~/ui/skeleton";
import { plural } from "~/words";
import { startedWords } from "./retries";

/** Run everything again that has failed for good, after it was counted. */
export function RetryAll({ filter }: { filter: LetterFilter }) {
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button onClick={() => setAsks(true)}>Retry all</Button>
      {asks && <RetryDialog filter={filter} onClose={() => setAsks(false)} />}
    </>
  );
}

function RetryDialog({ filter, onClose }: { filter: LetterFilter; onClose: () => void }) {
  const plan = useQuery(retryPlanQuery(filter));
  const again = useMutation({
    mutationFn: () => retryMatching(filter),
    onSuccess: (done) => {
      toast(startedWords(done));
      void queryClient.invalidateQueries({ queryKey: ["dead-letters"] });
      onClose();
    },
  });
  const items = plan.data?.items;
  return (
    <Dialog
      title="Retry all dead letters"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={again.isPending} disabled={!items} onClick={() => again.mutate()}>
            {items ? `Retry ${plural(items, "item")}` : "Retry"}
          </Button>
        </>
      }
    >
      <Loaded query={plan} what="The number of items" loading={<Skeleton height={44} />}>
        {({ jobs, items: count, leftOut, complete }) => (
          <>
            <p>
              {plural(count, "item")} of {plural(jobs, "job")} run again, from the step that failed.
            </p>
            {leftOut > 0 && (
              <p className="muted">{plural(leftOut, "item")} are done without the step that failed, and stay so.</p>
            )}
            {!complete && <p className="muted">There are more: these are the newest. Repeat it afterwards.</p>}
          </>
        )}
      </Loaded>
      <Said error={again.error} />
    </Dialog>
  );
}
