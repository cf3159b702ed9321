import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useApp } from "~/api/app";
import type { Schema } from "~/api/client";
import { WHOLE } from "~/api/items";
import type { Job } from "~/api/jobs";
import { attemptsQuery, auditQuery, type OfJob, ofJob, wholeRecord } from "~/api/record";
import { took } from "~/format";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { detailWords } from "./detail-words";
import css from "./jobs.module.css";
import { recordCsv } from "./record-csv";

const AUDIT: Column<Schema<"AuditRow">>[] = [
  { key: "at", title: "When", isClear: true, cell: (row) => <Time value={row.at} /> },
  { key: "actor", title: "Who", isClear: true, cell: (row) => row.actor },
  { key: "action", title: "What", isClear: true, cell: (row) => row.action.replaceAll("_", " ") },
  { key: "item", title: "Item", number: true, cell: (row) => row.itemId ?? "" },
  { key: "detail", title: "Detail", isClear: true, cell: (row) => detailWords(row.detail) },
];

const ATTEMPTS: Column<Schema<"Attempt">>[] = [
  { key: "at", title: "Ended", isClear: true, cell: (row) => <Time value={row.endedAt} /> },
  { key: "item", title: "Item", number: true, cell: (row) => (row.itemId === WHOLE ? "all" : row.itemId) },
  { key: "step", title: "Step", isClear: true, cell: (row) => row.step },
  { key: "attempt", title: "Attempt", number: true, cell: (row) => row.attempt },
  { key: "outcome", title: "Outcome", isClear: true, cell: (row) => <Pill status={row.outcome} /> },
  {
    key: "took",
    title: "Took",
    number: true,
    cell: (row) => took(row.startedAt, row.endedAt),
  },
  { key: "worker", title: "Worker", cell: (row) => row.worker },
  { key: "reason", title: "Reason", isClear: true, cell: (row) => <span className="cut">{row.reason ?? ""}</span> },
];

/** Who did what with the job, and every attempt of its tasks. */
export function Record({ job }: { job: Job }) {
  const where = ofJob(job, useApp().me);
  const audit = useInfiniteQuery(auditQuery(where));
  const attempts = useInfiniteQuery(attemptsQuery(where));
  if (audit.isPending || attempts.isPending) return <SkeletonRows rows={6} height={32} />; // both at once: nothing moves
  const done = audit.data?.pages.flatMap((page) => page.audit) ?? [];
  const tried = attempts.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <div className={css.section}>
      <RecordFiles
        where={where}
        onPrint={async () => {
          await loadAll(audit);
          await loadAll(attempts);
        }}
      />
      <h2>Actions</h2>
      <Loaded query={audit} what="The actions" loading={<SkeletonRows rows={3} height={32} />}>
        {() =>
          done.length > 0 ? (
            <Table label="Actions" columns={AUDIT} rows={done} rowKey={(row) => row.id} />
          ) : (
            <p className="muted">Nobody has changed anything since it was submitted.</p>
          )
        }
      </Loaded>
      <More
        hasMore={audit.hasNextPage}
        isLoading={audit.isFetchingNextPage}
        onMore={() => void audit.fetchNextPage()}
      />
      <h2>Attempts</h2>
      <Loaded query={attempts} what="The attempts" loading={<SkeletonRows rows={5} height={32} />}>
        {() =>
          tried.length > 0 ? (
            <Table
              label="Attempts"
              columns={ATTEMPTS}
              rows={tried}
              rowKey={(row) => `${row.itemId} ${row.step} ${row.startedAt} ${row.attempt}`}
            />
          ) : (
            <Empty title="No attempt has ended yet" />
          )
        }
      </Loaded>
      <More
        hasMore={attempts.hasNextPage}
        isLoading={attempts.isFetchingNextPage}
        onMore={() => void attempts.fetchNextPage()}
      />
    </div>
  );
}

interface Pages {
  hasNextPage: boolean;
  fetchNextPage: () => Promise<Pages>;
}

const MOST_PRINTED = 50; // pages of a list

async function loadAll(query: Pages): Promise<void> {
  let now = query;
  for (let page = 0; page < MOST_PRINTED && now.hasNextPage; page++) now = await now.fetchNextPage();
}

/** The record on paper or as a file: complete, not only what is loaded. */
function RecordFiles({ where, onPrint }: { where: OfJob; onPrint: () => Promise<void> }) {
  const print = useMutation({
    mutationFn: onPrint,
    onSuccess: () => setTimeout(() => globalThis.print()), // after the rows are drawn
  });
  const save = useMutation({
    mutationFn: async (format: "json" | "csv") => {
      const record = await wholeRecord(where);
      saveFile(
        `job-${where.jobId}-record.${format}`,
        format === "json" ? JSON.stringify(record, null, 2) : recordCsv(record),
      );
      if (record.isCut) toast("It has the newest 20,000 entries of each list.");
    },
  });
  return (
    <div className="row">
      <Button busy={print.isPending} onClick={() => print.mutate()}>
        Print
      </Button>
      <Button busy={save.isPending} onClick={() => save.mutate("json")}>
        JSON
      </Button>
      <Button busy={save.isPending} onClick={() => save.mutate("csv")}>
        CSV
      </Button>
      <Failed of={print} what="The record could not be printed." />
      <Failed of={save} what="The record could not be saved." />
    </div>
  );
}

function saveFile(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
