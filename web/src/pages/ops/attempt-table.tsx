import { Link } from "@tanstack/react-router";
import type { Schema } from "~/api/client";
import { WHOLE } from "~/api/items";
import { took } from "~/format";
import { type Column, Table } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import css from "./ops.module.css";

type Attempt = Schema<"Attempt">;

const COLUMNS: Column<Attempt>[] = [
  { key: "at", title: "Ended", isClear: true, cell: (row) => <Time value={row.endedAt} /> },
  { key: "outcome", title: "Outcome", isClear: true, cell: (row) => <Pill status={row.outcome} /> },
  {
    key: "item",
    title: "Item",
    isClear: true,
    cell: (row) => (
      <Link to="/jobs/$jobId/items/$n" params={{ jobId: row.jobId, n: row.itemId }} className="nowrap">
        {row.itemId === WHOLE ? "all" : row.itemId} of job {row.jobId}
      </Link>
    ),
  },
  { key: "step", title: "Step", isClear: true, cell: (row) => `${row.pipeline}.${row.step}` },
  { key: "attempt", title: "Attempt", number: true, cell: (row) => row.attempt },
  {
    key: "took",
    title: "Took",
    number: true,
    cell: (row) => <span className="nowrap">{took(row.startedAt, row.endedAt)}</span>,
  },
  { key: "owner", title: "Owner", cell: (row) => row.owner },
  { key: "worker", title: "Worker", cell: (row) => <span className="nowrap">{row.worker}</span> },
  {
    key: "reason",
    title: "Reason",
    isClear: true,
    cell: (row) => <span className={css.detail}>{[row.errorClass, row.reason].filter(Boolean).join(": ")}</span>,
  },
];

export function AttemptTable({ rows }: { rows: Attempt[] }) {
  return (
    <Table
      label="Attempts"
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => `${row.jobId} ${row.itemId} ${row.step} ${row.startedAt} ${row.attempt}`}
    />
  );
}
