import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useApp } from "~/api/app";
import type { Job } from "~/api/jobs";
import { type Export, exportLink, exportsQuery, startExport } from "~/api/sheets";
import { bytes, duration, exact } from "~/format";
import { trackJob } from "~/jobs/tracked";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, type Look } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { Dialog } from "~/ui/dialog";
import { List, Row } from "~/ui/list";
import { Menu } from "~/ui/menu";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import css from "./sheets.module.css";

type Choice = Parameters<typeof startExport>[1];
const FORMATS = { csv: "CSV", xlsx: "Excel workbook", jsonl: "JSON Lines" } as const;
type Format = keyof typeof FORMATS;

interface ExportButtonProps {
  jobId: string;
  choice: Choice;
  /** Rows of which no file can be made. */
  cannot?: string | undefined;
  look?: Look;
}

/** Make a file of the grid, in a format. */
export function ExportButton({ jobId, choice, cannot, look = "plain" }: ExportButtonProps) {
  const navigate = useNavigate(); // from the page of the sheet, or of its job
  const start = useMutation({
    mutationFn: (format: Format) => startExport(jobId, { ...choice, format }),
    onSuccess: (exportId) => {
      track(exportId, jobId);
      void navigate({ to: ".", search: { tab: "exports" } });
    },
  });
  return (
    <>
      <Menu
        align="end"
        button={{ children: "Export", busy: start.isPending, look }}
        items={Object.entries(FORMATS).map(([format, label]) => ({
          label,
          ...(cannot && { disabled: `An export takes rows or a status, not ${cannot}` }),
          onSelect: () => start.mutate(format as Format),
        }))}
      />
      <Failed of={start} what="No export was started." />
    </>
  );
}

/** The files that were made of a grid. */
export function Exports({ job: { id: jobId } }: { job: Job }) {
  const query = useInfiniteQuery(exportsQuery(jobId));
  const all = query.data?.pages.flatMap((page) => page.exports) ?? [];
  return (
    <div className={css.section}>
      <div className="row">
        <ExportButton jobId={jobId} choice={{}} look="normal" />
        <span className="muted">Makes a file of all rows, as they are now.</span>
      </div>
      <Loaded query={query} what="The exports" loading={<SkeletonRows rows={3} height={48} />}>
        {() =>
          all.length > 0 ? (
            <List label="Exports">
              {all.map((each) => (
                <li key={each.exportId}>
                  <ExportLine export={each} />
                </li>
              ))}
            </List>
          ) : (
            <Empty title="No exports yet">
              Export makes a file of the grid: the columns of your file and what was found, row by row.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </div>
  );
}

function ExportLine({ export: of }: { export: Export }) {
  const isWritten = of.writtenAt !== null;
  return (
    <Row>
      <Pill status={isWritten ? "DONE" : (of.state ?? "CANCELLED")} />
      <span className="grow">
        <strong>{FORMATS[of.format]}</strong> <span className="muted">{partWords(of.options)}</span>
        <br />
        <span className="muted">{progressWords(of)}</span>
      </span>
      <Time value={of.createdAt} />
      <Again of={of} />
      {isWritten && of.fileId && <FileLink of={of} />}
      {isWritten && of.fileId && <Download of={of} />}
    </Row>
  );
}

/** Make a file of the same part of the grid, as it is now. */
function Again({ of }: { of: Export }) {
  const start = useMutation({
    mutationFn: () => startExport(of.jobId, { ...choiceOf(of.options), format: of.format }),
    onSuccess: (exportId) => track(exportId, of.jobId),
  });
  return (
    <>
      <Button look="plain" busy={start.isPending} onClick={() => start.mutate()}>
        Again
      </Button>
      <Failed of={start} what="No export was started." />
    </>
  );
}

/** A link to send to somebody, who need not sign in. */
function FileLink({ of }: { of: Export }) {
  const { limits } = useApp();
  const make = useMutation({ mutationFn: () => exportLink(of.exportId) });
  return (
    <>
      <Button look="plain" busy={make.isPending} onClick={() => make.mutate()}>
        Link
      </Button>
      <Failed of={make} what="No link was made." />
      {make.data && (
        <Dialog title="A link to the file" onClose={() => make.reset()}>
          <p>Whoever has it can download the file, for {duration(limits.linkS)}.</p>
          <Copy text={new URL(make.data, location.origin).href} label="the link" />
        </Dialog>
      )}
    </>
  );
}

function Download({ of }: { of: Export }) {
  const open = useMutation({
    mutationFn: () => exportLink(of.exportId),
    onSuccess: (url) => (url ? location.assign(url) : toast("The file was deleted.")),
  });
  return (
    <>
      <Button busy={open.isPending} onClick={() => open.mutate()}>
        Download
      </Button>
      <Failed of={open} what="The file cannot be downloaded." />
    </>
  );
}

function progressWords({ writtenAt, rows, bytes: size, cut, error, progress }: Export): string {
  if (error) return sentence(error);
  if (!writtenAt) return progress === null ? "Not begun." : `${Math.floor(progress * 100)} percent.`;
  const said = [plural(rows ?? 0, "row"), size === null ? "" : bytes(size), cut ? `${exact(cut)} cells cut` : ""];
  return said.filter(Boolean).join(", ");
}

interface Part {
  show?: string[];
  raw?: boolean;
  statuses?: string[];
  first?: number;
  last?: number;
  ranges?: [number, number][];
}

/** The part of the grid that an export has, to ask for it again. */
export function choiceOf(options: unknown): Choice {
  const { statuses, show, raw, first, last, ranges } = (options ?? {}) as Part;
  return {
    ...(statuses && { statuses: statuses.join(",") }),
    ...(show && { show: show.join(",") }),
    ...(raw && { raw }),
    ...(first !== undefined && { from: first }),
    ...(last !== undefined && { to: last }),
    ...(ranges && { rows: ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",") }),
  };
}

/** Which part of the grid it has. */
export function partWords(options: unknown): string {
  const { statuses, first, last, ranges } = (options ?? {}) as Part;
  const selected = ranges?.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const said = [
    statuses?.map((each) => each.toLowerCase().replaceAll("_", " ")).join(", "),
    selected ? plural(selected, "selected row") : "",
    first !== undefined && last !== undefined ? `rows ${exact(first)} to ${exact(last)}` : "",
  ];
  return said.filter(Boolean).join(", ");
}

function track(exportId: string, jobId: string): void {
  trackJob({
    jobId: exportId,
    title: "Export",
    href: `/sheets/${jobId}?tab=exports`,
    noun: "part",
    done: "The file is ready.",
  });
}
