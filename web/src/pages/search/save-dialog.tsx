import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { saveSearch } from "~/api/search";
import { Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import type { Asked } from "./found";

/** Keep a search under a name. Times are not kept with it: it finds what will be new. */
export function SaveDialog({ asked, onClose }: { asked: Asked; onClose: () => void }) {
  const [name, setName] = useState(asked.q.slice(0, 200));
  const save = useMutation({
    mutationFn: () =>
      saveSearch(name.trim(), {
        q: asked.q,
        mode: asked.mode ?? "both",
        kinds: asked.kind ? [asked.kind] : [],
        tags: asked.tag ? [asked.tag] : [],
      }),
    onSuccess: () => {
      onClose();
      toast("Saved. It is listed on this page while nothing is typed, and can be a feed.");
    },
  });
  return (
    <Dialog
      title="Save this search"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={save.isPending} disabled={!name.trim()} onClick={() => save.mutate()}>
            Save
          </Button>
        </>
      }
    >
      <Field
        label="Name"
        value={name}
        maxLength={200}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        hint="A search that has this name already is replaced."
      />
      <Said error={save.error} />
    </Dialog>
  );
}
