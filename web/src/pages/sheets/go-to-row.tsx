import { useState } from "react";
import { exact } from "~/format";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";

interface GoToRowProps {
  total: number;
  onGo: (row: number) => void;
  onClose: () => void;
}

export function GoToRow({ total, onGo, onClose }: GoToRowProps) {
  const [text, setText] = useState("");
  const row = Number(text.replaceAll(/[,.\s]/g, ""));
  const isRow = Number.isInteger(row) && row >= 1 && row <= total;
  const go = () => {
    if (!isRow) return;
    onClose();
    onGo(row);
  };
  return (
    <Dialog
      title="Go to row"
      onClose={onClose}
      actions={
        <Button look="primary" disabled={!isRow} onClick={go}>
          Go
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go();
        }}
      >
        <Field
          label={`Number, from 1 to ${exact(total)}`}
          inputMode="numeric"
          autoFocus
          value={text}
          wrong={text && !isRow ? `There are ${exact(total)} rows.` : undefined}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}
