import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { itemQuery } from "~/api/items";
import { isOpen, jobQuery } from "~/api/jobs";
import { bytes, exact } from "~/format";
import { useTopics } from "~/live";
import { Failed } from "~/shell/failed";
import { takeFiles } from "~/shell/handover";
import { Page } from "~/shell/page";
import { Button } from "~/ui/button";
import { Check } from "~/ui/field";
import { List } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { plural, sentence } from "~/words";
import css from "./articles.module.css";
import { ArticlePlaces } from "./places";
import { importArticles } from "./uploading";

const ACCEPTED = ".md,.markdown,.html,.htm,.txt,.pdf,.zip";

/** Articles from files: each file is sent, read and saved by a job. */
export default function ImportArticlesPage() {
  const [files, setFiles] = useState<File[]>(takeFiles);
  const [skips, setSkips] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const add = (list: FileList | null) => setFiles((now) => [...now, ...(list ?? [])]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.nativeEvent.stopPropagation();
    add(event.dataTransfer.files);
  };
  return (
    <Page
      title="Import articles"
      subtitle="Each text becomes an article. One whose file name you have already becomes its next version."
    >
      <ArticlePlaces />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button does the same */}
      <div className={css.drop} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        <p>Drop Markdown, HTML, text or PDF files, or a ZIP of a folder of these.</p>
        <Button look="primary" onClick={() => field.current?.click()}>
          Choose files
        </Button>
        <Check
          label="Only by their words: do not embed them"
          checked={skips}
          onChange={({ currentTarget }) => setSkips(currentTarget.checked)}
        />
        <input
          ref={field}
          type="file"
          multiple
          hidden
          aria-label="Files with articles"
          accept={ACCEPTED}
          onChange={({ target }) => {
            add(target.files);
            target.value = "";
          }}
        />
      </div>
      {files.length > 0 && (
        <List label="Files">
          {files.map((file, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: files are only added, and may have the same name
            <li key={index} className={css.file}>
              <ImportedFile file={file} skips={skips} />
            </li>
          ))}
        </List>
      )}
    </Page>
  );
}

function ImportedFile({ file, skips }: { file: File; skips: boolean }) {
  const [sent, setSent] = useState(0);
  const options = { skipEmbedding: skips, embeddingPriority: "high" as const };
  const upload = useMutation({ mutationFn: () => importArticles(file, options, setSent) });
  const isBegun = useRef(false);
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    upload.mutate();
  }, [upload.mutate]);
  return (
    <>
      <span className={css.what}>
        <span className={css.name}>{file.name}</span>
        {upload.data ? (
          <Result jobId={upload.data} />
        ) : (
          <span className={css.side}>
            {bytes(sent)} of {bytes(file.size)}
          </span>
        )}
      </span>
      {!upload.data && !upload.error && <Pill status="RUNNING">Sending</Pill>}
      <Failed of={upload} what={`${file.name} was not imported.`} />
    </>
  );
}

/** What became of a file, as the only item of its job says it. */
function Result({ jobId }: { jobId: string }) {
  useTopics("jobs", `items:${jobId}`);
  const job = useQuery(jobQuery(jobId)).data;
  const isOver = job !== undefined && job.counters.total > 0 && !isOpen(job);
  const item = useQuery({ ...itemQuery(jobId, "1"), enabled: isOver }).data;
  const link = (
    <Link to="/jobs/$jobId" params={{ jobId }}>
      job {jobId}
    </Link>
  );
  if (!isOver || !item) return <span className={css.side}>Being read, {link}</span>;
  if (item.error)
    return (
      <span className={css.side}>
        {sentence(item.error.reason ?? "It could not be read")} {link}
      </span>
    );
  const { created = 0, updated = 0, unchanged = 0, problems = [] } = foundIn(item.result);
  return (
    <span className={css.side}>
      {plural(created, "new article")}, {exact(updated)} changed, {exact(unchanged)} unchanged, {link}
      {problems.map(({ name, reason }) => (
        <span key={name} className={css.problem}>
          {name}: {sentence(reason)}
        </span>
      ))}
    </span>
  );
}

interface Imported {
  created?: number;
  updated?: number;
  unchanged?: number;
  problems?: { name: string; reason: string }[];
}

/** The result of the step that saves. */
export function foundIn(result: unknown): Imported {
  const found = typeof result === "object" && result !== null ? (result as Record<string, unknown>) : {};
  return (("created" in found ? found : found.save) ?? {}) as Imported;
}
