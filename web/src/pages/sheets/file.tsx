import { useId, useState } from "react";
import { useApp } from "~/api/app";
import type { Sheet } from "~/api/sheets";
import { bytes } from "~/format";
import { toast } from "~/shell/toasts";
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
  onFile: (file: File) => void;
}

export function FileProgress({ sheet, upload, onFile }: FileProgressProps) {
  const size = sheet.size ?? 0;
  if (sheet.intakeJobId || upload?.state === "done") {
    return (
      <p>
        <strong>{sheet.name}</strong>
        <span className="muted">
          , {bytes(size)}
          {!sheet.receivedAt && !sheet.problem && ": it has come, and is put together"}
        </span>
      </p>
    );
  }
  const isGoing = upload && upload.state !== "failed";
  const sent = upload?.sent ?? sheet.received;
  return (
    <>
      <div className="row">
        <strong>{sheet.name}</strong>
        <span className="muted" role="status">
          {upload ? uploadWords(upload) : `${bytes(sheet.received)} of ${bytes(size)} have come, and are kept.`}
        </span>
        <Button look="plain" onClick={() => void cancelUpload(sheet.id).catch((error: Error) => toast(error.message))}>
          Give up
        </Button>
      </div>
      <div
        className={css.gauge}
        role="progressbar"
        aria-label="Upload"
        aria-valuenow={Math.round((100 * sent) / Math.max(1, size))}
      >
        <span style={{ transform: `scaleX(${sent / Math.max(1, size)})` }} />
      </div>
      {!isGoing && <ChooseFile onFile={onFile} again={`Choose ${sheet.name} again to go on where it stopped`} />}
    </>
  );
}
