import { useMutation } from "@tanstack/react-query";
import { api, queryClient, take } from "~/api/client";
import { type Item, isOpenItem, reprocess } from "~/api/items";
import { useCommands } from "~/shell/commands";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";

/** What can be done with an item: pause, resume and cancel while it is open, else run it again. */
export function ItemActions({ item }: { item: Item }) {
  const isOpen = isOpenItem(item);
  const path = { params: { path: { job_id: item.jobId, item_id: item.id } } };
  const isHeld = item.steps.some((step) => step.state === "HELD");
  const done = () => void queryClient.invalidateQueries();
  const fail = (error: Error) => toast(error.message);
  const steer = useMutation({
    mutationFn: (action: "pause" | "resume" | "cancel") =>
      take(api.POST(`/api/jobs/{job_id}/items/{item_id}/${action}`, path)),
    onSuccess: done,
    onError: fail,
  });
  const again = useMutation({
    mutationFn: () =>
      reprocess(item.jobId, {
        scope: "items",
        itemIds: [item.id],
        statuses: ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"],
      }),
    onSuccess: () => {
      toast("It runs again.");
      done();
    },
    onError: fail,
  });
  useCommands([
    isOpen
      ? {
          id: "item-pause",
          title: isHeld ? "Resume the item" : "Pause the item",
          group: "Item",
          keys: "p",
          run: () => steer.mutate(isHeld ? "resume" : "pause"),
        }
      : { id: "item-again", title: "Run the item again", group: "Item", keys: "r", run: () => again.mutate() },
  ]);
  if (!isOpen) {
    return (
      <Button shortcut="r" busy={again.isPending} onClick={() => again.mutate()}>
        Run again
      </Button>
    );
  }
  return (
    <>
      <Button shortcut="p" busy={steer.isPending} onClick={() => steer.mutate(isHeld ? "resume" : "pause")}>
        {isHeld ? "Resume" : "Pause"}
      </Button>
      <Button look="danger" busy={steer.isPending} onClick={() => steer.mutate("cancel")}>
        Cancel
      </Button>
    </>
  );
}
