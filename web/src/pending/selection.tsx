import { useMutation } from "@tanstack/react-query";
import { queryClient } from "~/api/client";
import { type ItemRow, isOpenItem, reprocess, steerItems } from "~/api/items";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { SelectionBar } from "~/ui/selection-bar";
import { plural } from "~/words";

type Ended = "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR";
const ENDED: Ended[] = ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"];

/** Run the items again, job by job. Returns how many do. */
async function runAgain(rows: ItemRow[], statuses: Ended[]): Promise<number> {
  const byJob = Map.groupBy(rows, (row) => row.jobId);
  const answers = await Promise.all(
    [...byJob].map(([jobId, own]) => reprocess(jobId, { scope: "items", itemIds: own.map((row) => row.id), statuses })),
  );
  return answers.reduce((sum, answer) => sum + answer.items, 0);
}

/** "Reprocess selected", with the reason when it cannot help; for open items, what can be done with them. */
export function Selection({ rows, onDone }: { rows: ItemRow[]; onDone: () => void }) {
  const ended = rows.filter((row) => !isOpenItem(row));
  const open = rows.filter(isOpenItem);
  const after = (words: string, undo?: () => Promise<unknown>) => {
    const reload = () => queryClient.invalidateQueries();
    const run = () => void undo?.().then(reload, (error: Error) => toast(error.message));
    toast(words, undo && { label: "Undo", run });
    onDone();
    void reload();
  };
  const again = useMutation({
    mutationFn: () => runAgain(ended, ENDED),
    onSuccess: (count) => after(`${plural(count, "item")} run${count === 1 ? "s" : ""} again.`),
  });
  const steer = useMutation({
    mutationFn: (action: "pause" | "cancel") => steerItems(open, action),
    onSuccess: (count, action) =>
      action === "pause"
        ? after(`${plural(count, "item")} paused.`, () => steerItems(open, "resume"))
        : after(`${plural(count, "item")} cancelled.`, () => runAgain(open, ["SKIPPED"])),
  });
  if (rows.length === 0) return null;
  return (
    <SelectionBar label="Selected items">
      <Failed of={again} what="The items do not run again." />
      <Failed of={steer} what="Not all items were changed." />
      <span>{plural(rows.length, "item")} selected</span>
      <Button busy={again.isPending} disabled={ended.length === 0} onClick={() => again.mutate()}>
        Reprocess selected
      </Button>
      {open.length > 0 && (
        <>
          <span className="muted">
            {ended.length > 0
              ? `${plural(open.length, "open item")} run anyway.`
              : "These items are open: they run anyway."}
          </span>
          <Button busy={steer.isPending} onClick={() => steer.mutate("pause")}>
            Pause
          </Button>
          <Button look="danger" busy={steer.isPending} onClick={() => steer.mutate("cancel")}>
            Cancel
          </Button>
        </>
      )}
    </SelectionBar>
  );
}
