import { useInfiniteQuery } from "@tanstack/react-query";
import type { Schema } from "~/api/client";
import { attemptsQuery, auditQuery } from "~/api/record";
import { duration } from "~/format";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./jobs.module.css";

const AUDIT: Column<Schema<"AuditRow">>[] = [
  { key: "at", title: "When", cell: (row) => <Time value={row.at} /> },
  { key: "actor", title: "Who", cell: (row) => row.actor },
  { key: "action", title: "What", cell: (row) => row.action.replaceAll("_", " ") },
  { key: "item", title: "Item", number: true, cell: (row) => row.itemId ?? "" },
  { key: "detail", title: "Detail", cell: (row) => (row.detail ? JSON.stringify(row.detail) : "") },
];

const ATTEMPTS: Column<Schema<"Attempt">>[] = [
  { key: "at", title: "Ended", cell: (row) => <Time value={row.endedAt} /> },
  { key: "item", title: "Item", number: true, cell: (row) => row.itemId },
  { key: "step", title: "Step", cell: (row) => row.step },
  { key: "attempt", title: "Attempt", number: true, cell: (row) => row.attempt },
  { key: "outcome", title: "Outcome", cell: (row) => <Pill status={row.outcome} /> },
  {
    key: "took",
    title: "Took",
    number: true,
    cell: (row) => duration((Date.parse(row.endedAt) - Date.parse(row.startedAt)) / 1000),
  },
  { key: "worker", title: "Worker", cell: (row) => row.worker },
  { key: "reason", title: "Reason", cell: (row) => <span className="cut">{row.reason ?? ""}</span> },
];

/** Who did what with the job, and every attempt of its tasks. */
export function Record({ jobId }: { jobId: string }) {
  const audit = useInfiniteQuery(auditQuery({ jobId }));
  const attempts = useInfiniteQuery(attemptsQuery({ jobId }));
  if (audit.isPending || attempts.isPending) return <SkeletonRows rows={6} height={32} />; // both at once: nothing moves
  const done = audit.data?.pages.flatMap((page) => page.audit) ?? [];
  const tried = attempts.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <div className={css.section}>
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
