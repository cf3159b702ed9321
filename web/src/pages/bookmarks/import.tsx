import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ChangeEvent, type DragEvent, useRef, useState } from "react";
import { importFile, previewFile } from "~/api/links";
import { bytes, exact } from "~/format";
import { trackJob } from "~/jobs/tracked";
import { takeFiles } from "~/shell/handover";
import { Page } from "~/shell/page";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { sentence } from "~/words";
import css from "./bookmarks.module.css";

const FORMATS = [
  ["html", "HTML, for browsers"],
  ["csv", "CSV, for spreadsheets"],
  ["json", "JSON, with all fields"],
] as const;

/** Bookmarks from a file, and into a file. */
export default function ImportBookmarksPage() {
  const [file, setFile] = useState<File | undefined>(() => takeFiles()[0]);
  const field = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.nativeEvent.stopPropagation();
    setFile(event.dataTransfer.files[0]);
  };
  return (
    <Page title="Import and export">
      <section className={css.section} aria-labelledby="import">
        <h2 id="import">Import</h2>
        {file ? (
          <Preview key={`${file.name} ${file.lastModified}`} file={file} onOther={() => setFile(undefined)} />
        ) : (
          // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same
          <div className={css.drop} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
            <p>Drop the bookmarks file of a browser or of Pocket (HTML, CSV), or JSON.</p>
            <Button look="primary" onClick={() => field.current?.click()}>
              Choose a file
            </Button>
            <input
              ref={field}
              type="file"
              hidden
              aria-label="Bookmarks file"
              accept=".html,.htm,.json,.csv"
              onChange={(event: ChangeEvent<HTMLInputElement>) => setFile(event.target.files?.[0])}
            />
          </div>
        )}
      </section>
      <section className={css.section} aria-labelledby="export">
        <h2 id="export">Export</h2>
        <p className="muted">All bookmarks, also archived ones. The file is written while it is downloaded.</p>
        <div className="row">
          {FORMATS.map(([format, name]) => (
            <a key={format} href={`/api/bookmarks/export?format=${format}`} download className={buttonClass()}>
              {name}
            </a>
          ))}
        </div>
      </section>
    </Page>
  );
}

function Preview({ file, onOther }: { file: File; onOther: () => void }) {
  const navigate = useNavigate();
  const preview = useQuery({
    queryKey: ["import preview", file.name, file.size, file.lastModified],
    queryFn: ({ signal }) => previewFile(file, signal),
    gcTime: 0,
    retry: false,
  });
  const start = useMutation({
    mutationFn: () => importFile(file),
    onSuccess: ({ jobId }) => {
      trackJob({ jobId, title: `Import of ${file.name}`, href: `/jobs/${jobId}`, noun: "link" });
      void navigate({ to: "/jobs/$jobId", params: { jobId } });
    },
  });
  const found = preview.data;
  return (
    <>
      <p>
        <strong>{file.name}</strong> <span className="muted">{bytes(file.size)}</span>
      </p>
      {preview.error && (
        <Notice kind="warn" title="This file cannot be imported.">
          {sentence(preview.error.message)} Bookmarks files of browsers and Pocket are HTML or CSV with a column url;
          JSON has a list of bookmarks.
        </Notice>
      )}
      {!preview.error && (
        <div className={css.numbers} role="status">
          <Count value={found?.links} word={found?.links === 1 ? "link" : "links"} />
          <Count value={found && found.links - found.known - found.repeated - found.invalid} word="new" />
          <Count value={found?.known} word="already yours" />
          <Count value={found?.repeated} word="more than once in the file" />
          {found && found.invalid > 0 && <Count value={found.invalid} word="cannot be saved" />}
          <Count value={found?.folders} word={found?.folders === 1 ? "folder, a category" : "folders, as categories"} />
        </div>
      )}
      {start.error && (
        <Notice kind="error" title="Nothing was imported.">
          {sentence(start.error.message)}
        </Notice>
      )}
      <div className="row">
        <Button look="primary" busy={start.isPending} disabled={!found} onClick={() => start.mutate()}>
          {found ? `Import ${exact(found.links)}` : "Import"}
        </Button>
        <Button onClick={onOther}>Choose another file</Button>
      </div>
      <p className="muted">Links that you have already are not saved twice. Each link is an item of one job.</p>
    </>
  );
}

/** A number; a dash until it is known, so that nothing moves. */
function Count({ value, word }: { value: number | undefined; word: string }) {
  return (
    <span>
      <strong>{value === undefined ? "–" : exact(value)}</strong> <span className="muted">{word}</span>
    </span>
  );
}
