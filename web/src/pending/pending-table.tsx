import { Link } from "@tanstack/react-router";
import { useApp } from "~/api/app";
import { type ItemRow, isOpenItem, itemTitle } from "~/api/items";
import { ItemLink } from "~/items/item-link";
import { useOpenItem } from "~/items/open-item";
import { useCommands } from "~/shell/commands";
import { useListKeys } from "~/shell/list-keys";
import { useSelection } from "~/shell/selection";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { SelectBox } from "~/ui/select-box";
import { Time } from "~/ui/time";
import { keyOf, useWithGone } from "./gone";
import css from "./pending.module.css";
import { Selection } from "./selection";

/** Items with exactly the columns and actions of the Pending screens, in a job and over all jobs. */
export function PendingTable({ rows }: { rows: ItemRow[] }) {
  const { pipelines } = useApp();
  const { show, place } = useOpenItem();
  const { shown, isGone } = useWithGone(rows);
  const selection = useSelection(shown.map(keyOf));
  const selected = shown.filter((row) => selection.ids.has(keyOf(row)) && !isGone(row));
  const places = new Map(shown.map((row, index) => [row, index]));
  const keys = useListKeys({
    group: "Items",
    count: shown.length,
    onOpen: (index) => show(shown[index]),
    onSelect: selection.select,
    onSelectAll: selection.toggleAll,
  });
  useCommands([
    {
      id: "pending-why",
      title: "Why it waits",
      group: "Items",
      keys: "w",
      run: () => shown[keys.at] && show(shown[keys.at]),
    },
  ]);
  const columns: Column<ItemRow>[] = [
    {
      key: "select",
      title: <span className="only-heard">Select</span>,
      cell: (row) => (
        <SelectBox
          label={`Select item ${row.id} of job ${row.jobId}`}
          checked={selection.ids.has(keyOf(row)) && !isGone(row)}
          disabled={isGone(row)}
          onSelect={(isRange) => selection.select(places.get(row)!, isRange)}
        />
      ),
    },
    {
      key: "id",
      title: "Item ID",
      number: true,
      cell: (row) => <ItemLink place={row} />,
    },
    { key: "job", title: "Job ID", number: true, cell: (row) => row.jobId },
    {
      key: "title",
      title: "Title/Brand",
      isClear: true,
      cell: (row) => <span className={css.title}>{itemTitle(row)}</span>,
    },
    { key: "status", title: "Status", isClear: true, cell: (row) => <Status row={row} isGone={isGone(row)} /> },
    { key: "attempts", title: "Attempts", number: true, cell: (row) => row.attempts },
    { key: "locked", title: "LockedBy", cell: (row) => row.lockedBy ?? "" },
    { key: "updated", title: "UpdatedAt", isClear: true, cell: (row) => <Time value={row.updatedAt} /> },
    {
      key: "type",
      title: "JobType",
      isClear: true,
      cell: (row) => (
        <span className={css.type}>{pipelines.find((each) => each.name === row.pipeline)?.title ?? row.pipeline}</span>
      ),
    },
    { key: "progress", title: "Progress", isClear: true, cell: (row) => <Progress row={row} /> },
    {
      key: "actions",
      title: <span className="only-heard">Actions</span>,
      cell: (row) =>
        isGone(row) ? null : (
          <span className={css.actions}>
            <Link to="/jobs/$jobId" params={{ jobId: row.jobId }} aria-label={`Go to Job ${row.jobId}`}>
              Go to Job
            </Link>
            {isOpenItem(row) && (
              <Button look="plain" aria-label={`Why does item ${row.id} wait?`} onClick={() => show(row)}>
                Why?
              </Button>
            )}
          </span>
        ),
    },
  ];
  return (
    <div className={css.pending}>
      <Table
        label="Pending items"
        columns={columns}
        rows={shown}
        rowKey={keyOf}
        isSelected={(row) => selection.ids.has(keyOf(row)) || (row.id === place?.id && row.jobId === place.jobId)}
        rowProps={keys.rowProps}
      />
      <Selection rows={selected} onDone={selection.clear} />
    </div>
  );
}

/** The status; beside it that the job is paused, or in its place that the job was deleted. */
function Status({ row, isGone }: { row: ItemRow; isGone: boolean }) {
  if (isGone) return <span className="muted">Gone: the job was deleted</span>;
  return (
    <span className={css.status}>
      <Pill status={row.status} />
      {isOpenItem(row) && row.jobState === "PAUSED" && (
        <span title="The job is paused">
          <Pill status="PAUSED" small />
        </span>
      )}
    </span>
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
