import { useMutation } from "@tanstack/react-query";
import { api, queryClient, take } from "~/api/client";
import { type Item, isOpenItem, reprocess } from "~/api/items";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { failedToast, toast } from "~/shell/toasts";
import { Button } from "~/ui/button";

type Steer = "pause" | "resume" | "cancel";

const SAID = { pause: "Paused: none of its steps starts.", resume: "Resumed.", cancel: "Cancelled." } as const;
const FAILED = { pause: "It was not paused.", resume: "It was not resumed.", cancel: "It was not cancelled." } as const;
const NOT_STARTED = "It was not started again.";
const ENDED = ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"] as const;

function steerItem({ jobId, id }: Item, action: Steer) {
  const path = { params: { path: { job_id: jobId, item_id: id } } };
  return take(api.POST(`/api/jobs/{job_id}/items/{item_id}/${action}`, path));
}

function runAgain({ jobId, id }: Item, statuses: readonly (typeof ENDED)[number][]) {
  return reprocess(jobId, { scope: "items", itemIds: [id], statuses: [...statuses] });
}

/** Take the last action back: what was cancelled runs again. */
function undo(item: Item, action: Steer): void {
  const back = () =>
    action === "cancel" ? runAgain(item, ["SKIPPED"]) : steerItem(item, action === "pause" ? "resume" : "pause");
  back().then(
    () => queryClient.invalidateQueries(),
    (error: unknown) => failedToast("It could not be undone.", error, () => undo(item, action)),
  );
}

/** What can be done with an item: pause, resume and cancel while it is open, else run it again. */
export function ItemActions({ item }: { item: Item }) {
  const isOpen = isOpenItem(item);
  const isHeld = item.steps.some((step) => step.state === "HELD");
  const steer = useMutation({
    mutationFn: (action: Steer) => steerItem(item, action),
    onSuccess: (_, action) => {
      toast(SAID[action], { label: "Undo", run: () => undo(item, action) });
      void queryClient.invalidateQueries();
    },
  });
  const again = useHeld({
    words: () => "It runs again.",
    what: NOT_STARTED,
    send: () => runAgain(item, ENDED).then(() => queryClient.invalidateQueries()),
  });
  const toggle = () => steer.mutate(isHeld ? "resume" : "pause");
  useCommands([
    isOpen
      ? {
          id: "item-pause",
          title: isHeld ? "Resume the item" : "Pause the item",
          group: "Item",
          keys: "p",
          run: toggle,
        }
      : { id: "item-again", title: "Run the item again", group: "Item", keys: "r", run: () => again.mutate() },
  ]);
  return (
    <>
      {isOpen ? (
        <>
          <Button shortcut="p" busy={steer.isPending} onClick={toggle}>
            {isHeld ? "Resume" : "Pause"}
          </Button>
          <Button look="danger" busy={steer.isPending} onClick={() => steer.mutate("cancel")}>
            Cancel
          </Button>
        </>
      ) : (
        <Button shortcut="r" busy={again.isPending} onClick={() => again.mutate()}>
          Run again
        </Button>
      )}
      <Failed of={steer} what={FAILED[steer.variables ?? "pause"]} />
      <Failed of={again} what={NOT_STARTED} />
    </>
  );
}
