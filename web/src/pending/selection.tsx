import { useMutation } from "@tanstack/react-query";
import { queryClient } from "~/api/client";
import { type ItemRow, isOpenItem, reprocess, steerItems } from "~/api/items";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { failedToast, toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { SelectionBar } from "~/ui/selection-bar";
import { plural, runsAgain } from "~/words";

type Ended = "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR";
const ENDED: Ended[] = ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"];

const NOT_STARTED = "The items do not run again.";

/** Run the items again: those of each job by a request, all at once, as the page may be left meanwhile. */
async function runAgain(rows: ItemRow[], statuses: Ended[]): Promise<void> {
  const byJob = Map.groupBy(rows, (row) => row.jobId);
  await Promise.all(
    [...byJob].map(([jobId, own]) => reprocess(jobId, { scope: "items", itemIds: own.map((row) => row.id), statuses })),
  );
}

type Steer = "pause" | "cancel";

/** Take it back; what was cancelled runs again. */
function undo(rows: ItemRow[], action: Steer): void {
  const back = action === "pause" ? steerItems(rows, "resume") : runAgain(rows, ["SKIPPED"]);
  back.then(
    () => queryClient.invalidateQueries(),
    (error: unknown) => failedToast("It could not be undone.", error, () => undo(rows, action)),
  );
}

/** "Reprocess selected", with the reason when it cannot help; for open items, what can be done with them. */
export function Selection({ rows, onDone }: { rows: ItemRow[]; onDone: () => void }) {
  const ended = rows.filter((row) => !isOpenItem(row));
  const open = rows.filter(isOpenItem);
  // The items are part of what is asked for: others may be selected when it is repeated.
  const again = useHeld({
    words: (chosen: ItemRow[]) => runsAgain(chosen.length, "item"),
    what: NOT_STARTED,
    send: async (chosen) => {
      await runAgain(chosen, ENDED).finally(() => queryClient.invalidateQueries());
      onDone();
    },
  });
  const steer = useMutation({
    mutationFn: ({ action, chosen }: { action: Steer; chosen: ItemRow[] }) => steerItems(chosen, action),
    onSuccess: (count, { action, chosen }) => {
      const words = `${plural(count, "item")} ${action === "pause" ? "paused" : "cancelled"}.`;
      toast(words, { label: "Undo", run: () => undo(chosen, action) });
      onDone();
    },
    onSettled: () => void queryClient.invalidateQueries(),
  });
  if (rows.length === 0 && !again.error && !steer.error) return null;
  return (
    <SelectionBar label="Selected items">
      <Failed of={again} what={NOT_STARTED} />
      <Failed of={steer} what="Not all items were changed." />
      <span>{plural(rows.length, "item")} selected</span>
      <Button busy={again.isPending} disabled={ended.length === 0} onClick={() => again.mutate(ended)}>
        Reprocess selected
      </Button>
      {open.length > 0 && (
        <>
          <span className="muted">
            {ended.length > 0
              ? `${plural(open.length, "open item runs", "open items run")} anyway.`
              : open.length === 1
                ? "This item is open: it runs anyway."
                : "These items are open: they run anyway."}
          </span>
          <Button busy={steer.isPending} onClick={() => steer.mutate({ action: "pause", chosen: open })}>
            Pause
          </Button>
          <Button look="danger" busy={steer.isPending} onClick={() => steer.mutate({ action: "cancel", chosen: open })}>
            Cancel
          </Button>
        </>
      )}
    </SelectionBar>
  );
}
