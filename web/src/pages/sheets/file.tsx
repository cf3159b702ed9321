import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useApp } from "~/api/app";
import type { Sheet } from "~/api/sheets";
import { bytes } from "~/format";
import { Failed } from "~/shell/failed";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { cancelUpload, type Upload, uploadWords } from "~/uploads/upload";
import css from "./sheets.module.css";

/** A place to drop a file, or to choose it. */
export function ChooseFile({ onFile, again }: { onFile: (file: File) => void; again?: string }) {
  const { limits } = useApp();
  const id = useId();
  const [isOver, setOver] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const choose = (file: File | undefined) => {
    if (!file) return;
    if (file.size === 0) setWrong(`${file.name} is empty.`);
    else if (file.size > limits.uploadBytes) {
      setWrong(`${file.name} has ${bytes(file.size)}; at most ${bytes(limits.uploadBytes)} are taken.`);
    } else {
      setWrong(undefined);
      onFile(file);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field inside is the way by keyboard
    <div
      className={classes(css.drop, isOver && css.over)}
      onDragOver={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        choose(event.dataTransfer.files[0]);
      }}
    >
      <label htmlFor={id}>{again ?? "Drop a file here, or choose one"}</label>
      <input id={id} type="file" onChange={(event) => choose(event.currentTarget.files?.[0])} />
      <span className="muted">
        CSV, Excel (XLSX), a picture, or a ZIP of pictures, up to {bytes(limits.uploadBytes)}. The upload begins at
        once; no row is looked up before you press Start.
      </span>
      {wrong && <span role="alert">{wrong}</span>}
    </div>
  );
}

interface FileProgressProps {
  sheet: Sheet;
  upload: Upload | undefined;
  /** A file was chosen, and its upload begins. */
  isChosen: boolean;
  onFile: (file: File) => void;
}

/** The file on its way. What follows it stays where it is: its place is kept when it has come. */
export function FileProgress({ sheet, upload, isChosen, onFile }: FileProgressProps) {
  const size = sheet.size ?? 0;
  const hasCome = sheet.intakeJobId !== null || upload?.state === "done";
  const isMissing = !hasCome && (upload ? upload.state === "failed" : !isChosen);
  const sent = upload?.sent ?? sheet.received;
  const giveUp = useMutation({ mutationFn: () => cancelUpload(sheet.id) });
  return (
    <>
      <div className={css.transfer}>
        <div className="row">
          <strong>{sheet.name}</strong>
          <span className="muted grow" role="status">
            {hasCome ? comeWords(sheet) : upload ? uploadWords(upload) : receivedWords(sheet)}
          </span>
          {!hasCome && (
            <Button look="plain" busy={giveUp.isPending} onClick={() => giveUp.mutate()}>
              Give up
            </Button>
          )}
        </div>
        <Failed of={giveUp} what="The upload was not given up." />
        {!hasCome && (
          <div
            className={css.gauge}
            role="progressbar"
            aria-label="Upload"
            aria-valuenow={Math.round((100 * sent) / Math.max(1, size))}
          >
            <span style={{ transform: `scaleX(${sent / Math.max(1, size)})` }} />
          </div>
        )}
      </div>
      {isMissing && <ChooseFile onFile={onFile} again={`Choose ${sheet.name} again to go on where it stopped`} />}
    </>
  );
}

function comeWords({ size, receivedAt, problem }: Sheet): string {
  return bytes(size ?? 0) + (receivedAt || problem ? "" : ": it has come, and is put together");
}

function receivedWords({ received, size }: Sheet): string {
  return `${bytes(received)} of ${bytes(size ?? 0)} have come, and are kept.`;
}
