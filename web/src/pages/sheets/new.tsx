import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Job, jobQuery } from "~/api/jobs";
import { presetQuery, previewQuery, type ReadOptions, type Sheet, sheetQuery } from "~/api/sheets";
import { useTopics } from "~/live";
import { takeFiles } from "~/shell/handover";
import { Page } from "~/shell/page";
import { useStore } from "~/shell/store";
import { Loaded } from "~/shell/trouble";
import { Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { beginUpload, type Upload, uploads } from "~/uploads/upload";
import { sentence } from "~/words";
import { Ask } from "./ask";
import { Columns, type Mapping } from "./columns";
import { ChooseFile, FileProgress } from "./file";
import { isText } from "./local-preview";
import { Look } from "./look";
import css from "./sheets.module.css";

const route = getRouteApi("/sheets/new");

/** A new sheet in one page: its parts open as soon as what they show is there. */
export default function NewSheetPage() {
  const { job } = route.useSearch();
  const navigate = useNavigate({ from: "/sheets/new" });
  const [trouble, setTrouble] = useState<string>();
  const [file, setFile] = useState<File>();
  const begin = (chosen: File, known?: { id: string; jobId: string }) => {
    setTrouble(undefined);
    setFile(chosen);
    beginUpload(chosen, { paused: true }, known).then(
      (upload) => void navigate({ search: { job: upload.jobId }, replace: true }),
      (error: Error) => setTrouble(error.message),
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was dropped elsewhere is taken once
  useEffect(() => {
    const [dropped] = takeFiles();
    if (dropped) begin(dropped);
  }, []);
  return (
    <Page title="New sheet">
      <ol className={css.stretches}>
        {job ? (
          <OfJob jobId={job} file={file} onFile={begin} trouble={trouble} />
        ) : (
          <Stretch title="File">
            <ChooseFile onFile={begin} />
            {trouble && (
              <Notice kind="error" title="The upload was not begun.">
                {sentence(trouble)}
              </Notice>
            )}
          </Stretch>
        )}
      </ol>
    </Page>
  );
}

export function Stretch({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <li className={css.stretch}>
      <h2>{title}</h2>
      {children}
    </li>
  );
}

interface OfJobProps {
  jobId: string;
  file: File | undefined;
  onFile: (file: File, known?: { id: string; jobId: string }) => void;
  trouble: string | undefined;
}

function OfJob({ jobId, file, onFile, trouble }: OfJobProps) {
  useTopics("jobs");
  const sheet = useQuery(sheetQuery(jobId));
  const job = useQuery(jobQuery(jobId));
  const upload = useStore(uploads).find((each) => each.jobId === jobId);
  return (
    <Loaded query={sheet} what="The sheet" loading={<Skeleton height={96} />}>
      {(found) => (
        <Loaded query={job} what="Its job" loading={<Skeleton height={96} />}>
          {(of) => <Stretches sheet={found} job={of} upload={upload} file={file} onFile={onFile} trouble={trouble} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface StretchesProps extends Omit<OfJobProps, "jobId"> {
  sheet: Sheet;
  job: Job;
  upload: Upload | undefined;
}

function Stretches({ sheet, job, upload, file, onFile, trouble }: StretchesProps) {
  const [mapping, setMapping] = useState<Mapping>({});
  const [options, setOptions] = useState<ReadOptions>({});
  const preview = useQuery({ ...previewQuery(sheet.jobId, {}), enabled: sheet.fileId !== null });
  const preset = useQuery({ ...presetQuery(sheet.jobId), enabled: sheet.columns !== null });
  const isRead = sheet.columns !== null && !preview.isPending && !preset.isPending; // at once: nothing moves later
  const isTable = sheet.kind === "csv" || sheet.kind === "xlsx";
  const localFile = file && isText(file) ? file : undefined;
  const isLookedAt = sheet.fileId !== null && (isTable || sheet.problem !== null);
  return (
    <>
      <Stretch title="File">
        <FileProgress
          sheet={sheet}
          upload={upload}
          isChosen={file !== undefined && !trouble}
          onFile={(chosen) => onFile(chosen, sheet)}
        />
        {trouble && (
          <Notice kind="error" title="The upload does not go on.">
            {sentence(trouble)}
          </Notice>
        )}
        {sheet.problem && (
          <Notice kind="error" title="The file cannot be read.">
            {sentence(sheet.problem)}
          </Notice>
        )}
      </Stretch>
      {(isLookedAt || localFile) && (
        <Stretch title="Look">
          <Look sheet={sheet} file={localFile} options={options} onOptions={setOptions} />
        </Stretch>
      )}
      {isRead && isTable && !sheet.problem && (
        <Stretch title="Columns">
          <Columns sheet={sheet} changed={mapping} onChange={setMapping} />
        </Stretch>
      )}
      {isRead && !sheet.problem && (
        <Stretch title="Ask">
          <Ask sheet={sheet} job={job} mapping={mapping} onChange={setMapping} />
        </Stretch>
      )}
    </>
  );
}
