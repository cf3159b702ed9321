import type { GridRow } from "~/api/grid";
import type { Job } from "~/api/jobs";
import { exact } from "~/format";
import type { Rows } from "~/grid/blocks";
import { Found } from "~/grid/found";
import { MOST_SORTED, Sorted } from "~/grid/sorted";
import { Button } from "~/ui/button";
import { Empty } from "~/ui/notice";
import { plural } from "~/words";
import css from "./sheets.module.css";

/** The whole text of the cell that has the focus. */
export function Strip({
  column,
  row,
}: {
  column: { title: string; place: number } | undefined;
  row: GridRow | undefined;
}) {
  const text = row && column ? row.cells[column.place] : undefined;
  return (
    <div className={css.strip}>
      <span className="muted">
        {row ? `Row ${exact(Number(row.id))}${column ? `, ${column.title}` : ""}` : "No cell"}
      </span>
      <span className={css.whole}>{text}</span>
    </div>
  );
}

interface NoneProps {
  job: Job;
  rows: Rows<GridRow>;
  isFiltered: boolean;
  onDrop: () => void;
}

/** What stands in the place of the rows when there are none. */
export function None({ job, rows, isFiltered, onDrop }: NoneProps) {
  if (rows instanceof Sorted && !rows.isComplete) return <p className="muted">Loading all rows, to sort them.</p>;
  if (rows instanceof Found && !rows.isComplete) return <p className="muted">Searching.</p>;
  if (isFiltered) {
    return (
      <Empty title="No row matches" actions={<Button onClick={onDrop}>Drop the filter</Button>}>
        All rows were searched.
      </Empty>
    );
  }
  return (
    <Empty title={job.sealed ? "The file has no rows" : "No rows yet"}>
      {job.sealed ? "It may have only a header." : "They appear here while the file is read."}
    </Empty>
  );
}

/** How many rows there are, in which order, and how far was searched. */
export function Foot({ rows, total, order }: { rows: Rows<GridRow>; total: number; order: string | undefined }) {
  return (
    <p className={css.foot} role="status">
      {footWords(rows, total, order)}
    </p>
  );
}

export function footWords(rows: Rows<GridRow>, total: number, order: string | undefined): string {
  if (rows instanceof Sorted) {
    return rows.isComplete
      ? `${plural(rows.count, "row")}, ${order}; changes that come in later are not sorted in`
      : `${plural(rows.loaded.length, "row")} of ${exact(total)} loaded, to sort them`;
  }
  if (rows instanceof Found) {
    const from = rows.searchedFrom > 1 ? `rows ${exact(rows.searchedFrom)} to` : "to row";
    const far = rows.isComplete ? "" : `; searched ${from} ${exact(rows.searchedTo)} of ${exact(total)}`;
    return `${plural(rows.count, "row")} found${far}`;
  }
  const limit = total > MOST_SORTED ? `; up to ${exact(MOST_SORTED)} rows can be sorted` : "";
  return `${plural(rows.count, "row")}, in the order of the file${limit}`;
}
