import { useMutation } from "@tanstack/react-query";
import type { Schema } from "~/api/client";
import { Said } from "~/shell/failed";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { plural } from "~/words";
import { type Act, changeAll } from "./actions";

const WORDS: Record<Act, [title: string, button: string]> = {
  archive: ["Archive all that match?", "Archive"],
  unarchive: ["Move all that match out of the archive?", "Move"],
  crawl: ["Read all that match again?", "Read"],
  delete: ["Move all that match to the trash?", "Trash"],
};

interface AllDialogProps {
  does: Act;
  filter: Schema<"BulkFilter">;
  count: number;
  onClose: () => void;
  onDone: () => void;
}

/** The exact number is confirmed before more is changed than is loaded. */
export function AllDialog({ does, filter, count, onClose, onDone }: AllDialogProps) {
  const change = useMutation({ mutationFn: () => changeAll(filter, [{ do: does }]), onSuccess: onDone });
  const [title, verb] = WORDS[does];
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep them as they are</Button>
          <Button
            look={does === "delete" ? "danger" : "primary"}
            busy={change.isPending}
            onClick={() => change.mutate()}
          >
            {verb} {plural(count, "bookmark")}
          </Button>
        </>
      }
    >
      <p>These are also bookmarks that are not loaded here. There is no single step that takes it back.</p>
      <Said error={change.error} />
    </Dialog>
  );
}
