import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApp } from "~/api/app";
import { queryClient } from "~/api/client";
import { type ItemRow, itemTitle, reprocess } from "~/api/items";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { plural } from "~/words";
import css from "./pending.module.css";

const isOpen = (row: ItemRow) => row.status === "PENDING" || row.status === "PROCESSING";
const keyOf = (row: ItemRow) => `${row.jobId} ${row.id}`;

/** Open items with exactly the columns and actions of the Pending screens, in a job and over all jobs. */
export function PendingTable({ rows }: { rows: ItemRow[] }) {
  const { pipelines } = useApp();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [why, setWhy] = useState<string>();
  const shown = [...new Map(rows.map((row) => [keyOf(row), row])).values()]; // a moved item may be on two pages
  const selected = shown.filter((row) => chosen.has(keyOf(row)));
  const asked = shown.find((row) => keyOf(row) === why);
  const toggle = (row: ItemRow) => {
    const next = new Set(chosen);
    if (!next.delete(keyOf(row))) next.add(keyOf(row));
    setChosen(next);
  };
  const columns: Column<ItemRow>[] = [
    {
      key: "select",
      title: <span className="only-heard">Select</span>,
      cell: (row) => (
        <input
          type="checkbox"
          aria-label={`Select item ${row.id} of job ${row.jobId}`}
          checked={chosen.has(keyOf(row))}
          onChange={() => toggle(row)}
        />
      ),
    },
    {
      key: "id",
      title: "Item ID",
      number: true,
      cell: (row) => (
        <Link to="/jobs/$jobId/items/$n" params={{ jobId: row.jobId, n: row.id }}>
          {row.id}
        </Link>
      ),
    },
    {
      key: "job",
      title: "Job ID",
      number: true,
      cell: (row) => (
        <Link to="/jobs/$jobId" params={{ jobId: row.jobId }} title="Go to Job">
          {row.jobId}
        </Link>
      ),
    },
    { key: "title", title: "Title/Brand", cell: (row) => <span className={css.title}>{itemTitle(row)}</span> },
    { key: "status", title: "Status", cell: (row) => <Pill status={row.status} /> },
    { key: "attempts", title: "Attempts", number: true, cell: (row) => row.attempts },
    { key: "locked", title: "LockedBy", cell: (row) => row.lockedBy ?? "" },
    { key: "updated", title: "UpdatedAt", cell: (row) => <Time value={row.updatedAt} /> },
    {
      key: "type",
      title: "JobType",
      cell: (row) => (
        <span className={css.type}>{pipelines.find((each) => each.name === row.pipeline)?.title ?? row.pipeline}</span>
      ),
    },
    { key: "progress", title: "Progress", cell: (row) => <Progress row={row} /> },
    {
      key: "why",
      title: <span className="only-heard">Why it waits</span>,
      cell: (row) =>
        isOpen(row) && (
          <Button look="plain" aria-label={`Why does item ${row.id} wait?`} onClick={() => setWhy(keyOf(row))}>
            Why?
          </Button>
        ),
    },
  ];
  return (
    <div className={css.pending}>
      <Selection rows={selected} onDone={() => setChosen(new Set())} />
      {asked && (
        <div className={css.asked}>
          <p className="muted">
            Item {asked.id} of job {asked.jobId}
          </p>
          <Why jobId={asked.jobId} itemId={asked.id} />
        </div>
      )}
      <Table
        label="Pending items"
        columns={columns}
        rows={shown}
        rowKey={keyOf}
        isSelected={(row) => chosen.has(keyOf(row))}
      />
    </div>
  );
}

function Progress({ row }: { row: ItemRow }) {
  const { fraction, note } = row.progress ?? {};
  if (fraction == null && !note) return null;
  return (
    <span className={css.progress} title={note ?? undefined}>
      {fraction == null ? note : `${Math.round(100 * fraction)} %`}
    </span>
  );
}

/** "Reprocess selected", with the reason when it cannot help. */
function Selection({ rows, onDone }: { rows: ItemRow[]; onDone: () => void }) {
  const ended = rows.filter((row) => !isOpen(row));
  const again = useMutation({
    mutationFn: async () => {
      const byJob = Map.groupBy(ended, (row) => row.jobId);
      const answers = await Promise.all(
        [...byJob].map(([jobId, own]) =>
          reprocess(jobId, {
            scope: "items",
            itemIds: own.map((row) => row.id),
            statuses: ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"],
          }),
        ),
      );
      return answers.reduce((sum, answer) => sum + answer.items, 0);
    },
    onSuccess: (count) => {
      toast(`${plural(count, "item")} run${count === 1 ? "s" : ""} again.`);
      onDone();
      void queryClient.invalidateQueries();
    },
    onError: (error) => toast(error.message),
  });
  if (rows.length === 0) return null;
  return (
    <div className={css.selection} role="status">
      <span>{plural(rows.length, "item")} selected</span>
      <Button busy={again.isPending} disabled={ended.length === 0} onClick={() => again.mutate()}>
        Reprocess selected
      </Button>
      {ended.length === 0 && <span className="muted">These items are open: they run anyway.</span>}
      {ended.length > 0 && ended.length < rows.length && (
        <span className="muted">{plural(rows.length - ended.length, "open item")} run anyway.</span>
      )}
    </div>
  );
}
