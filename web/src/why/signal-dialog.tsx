import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, queryClient, take } from "~/api/client";
import { Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { TextArea } from "~/ui/field";
import { plural } from "~/words";
import type { Reason } from "./words";

interface SignalDialogProps {
  facts: Reason["facts"];
  onClose: () => void;
}

/** Send the signal for which a task waits, with a payload of JSON or none. */
export function SignalDialog({ facts, onClose }: SignalDialogProps) {
  const [text, setText] = useState("");
  const payload = parsed(text);
  const send = useMutation({
    mutationFn: () =>
      take(
        api.POST("/api/signals", {
          body: { name: facts.signal ?? "", key: facts.key ?? "", payload },
        }),
      ),
    onSuccess: ({ tasks }) => {
      onClose();
      toast(`The signal reached ${plural(tasks, "task")}.`);
      void queryClient.invalidateQueries();
    },
  });
  const isInvalid = payload === undefined;
  return (
    <Dialog
      title={`Send the signal ${facts.signal}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" busy={send.isPending} disabled={isInvalid} onClick={() => send.mutate()}>
            Send it
          </Button>
        </>
      }
    >
      <p>
        All of your tasks that wait for {facts.signal} with the key {facts.key} go on.
      </p>
      <TextArea
        label="Payload"
        hint="JSON that the step gets, or nothing"
        rows={4}
        value={text}
        {...(isInvalid && { wrong: "This is not JSON." })}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Said error={send.error} />
    </Dialog>
  );
}

/** The payload; undefined if it is not JSON. */
function parsed(text: string): unknown {
  if (!text.trim()) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
