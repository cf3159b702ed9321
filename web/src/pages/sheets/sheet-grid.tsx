import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { queryClient } from "~/api/client";
import {
  type GridFilter,
  type GridRow,
  gridPage,
  gridQuery,
  nextFailure,
  previousFailure,
  ribbonQuery,
} from "~/api/grid";
import { ITEM_STATUSES } from "~/api/items";
import { isOpen, type Job } from "~/api/jobs";
import { exact } from "~/format";
import { Blocks, type Rows } from "~/grid/blocks";
import { useColumns } from "~/grid/columns";
import { Found } from "~/grid/found";
import { Grid, type Place } from "~/grid/grid";
import { useCommands } from "~/shell/commands";
import { toast } from "~/shell/toasts";
import { Loaded, Trouble } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Field } from "~/ui/field";
import { Empty } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { plural, statusWord } from "~/words";
import { ColumnPicker } from "./column-picker";
import { ExportButton } from "./exports";
import { GoToRow } from "./go-to-row";
import { RowPanel } from "./row-panel";
import { SelectionBar } from "./selection-bar";
import css from "./sheets.module.css";
import { useSelection } from "./use-selection";

const route = getRouteApi("/sheets/$jobId");
const RIBBON_MS = 2000;

export function SheetGrid({ job }: { job: Job }) {
  const about = useQuery(gridQuery(job.id));
  return (
    <Loaded query={about} what="The grid" loading={<Skeleton height={480} />}>
      {({ columns, total }) => <ShownGrid job={job} all={columns} total={total} />}
    </Loaded>
  );
}

/** All rows by number; with a filter, those that it finds. */
function useRows(jobId: string, total: number, filter: GridFilter): Rows<GridRow> {
  const key = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the filter; the total grows below
  const rows = useMemo(() => {
    if (!filter.statuses && !filter.q) {
      return new Blocks<GridRow>(total, async (first, size, signal) => {
        const page = await gridPage(jobId, { from: first + 1, pageSize: size }, {}, signal);
        return { rows: page.rows, total: page.total };
      });
    }
    return new Found<GridRow>(async (after, signal) => {
      const page = await gridPage(jobId, { after }, filter, signal);
      const last = Number(page.rows.at(-1)?.id ?? 0);
      return { rows: page.rows, next: page.next, searchedTo: page.searchedTo ?? (page.next ? last : page.total) };
    });
  }, [jobId, key]);
  useSyncExternalStore(rows.subscribe, rows.version);
  useEffect(() => () => rows.stop(), [rows]);
  useEffect(() => {
    if (rows instanceof Blocks && total > rows.count) rows.grow(total);
  }, [rows, total]);
  return rows;
}

function ShownGrid({ job, all, total }: { job: Job; all: Parameters<typeof useColumns>[1]; total: number }) {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/sheets/$jobId" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const filter: GridFilter = { statuses: search.status, q: search.q };
  const isFiltered = Boolean(search.status ?? search.q);
  const rows = useRows(job.id, Math.max(total, job.counters.total), filter);
  const columns = useColumns(job.id, all);
  const isLive = isOpen(job) && job.state !== "PAUSED";
  const ribbon = useQuery({ ...ribbonQuery(job.id), refetchInterval: isLive ? RIBBON_MS : false });
  useEffect(() => {
    // The last changes came after the last time that it was loaded.
    if (isLive) return () => void queryClient.invalidateQueries({ queryKey: ["ribbon", job.id] });
  }, [isLive, job.id]);
  const [at, setAt] = useState<Place>({ row: isFiltered ? 0 : Math.max(0, (search.row ?? 1) - 1), column: 1 });
  const [asksRow, setAsksRow] = useState(false);
  const selection = useSelection(rows);
  const move = (to: Place) => {
    setAt(to);
    const row = rows.at(to.row);
    if (search.row !== undefined && row) set({ row: Number(row.id) });
  };
  const goTo = (number: number) => move({ ...at, row: Math.max(0, Math.min(rows.count - 1, number - 1)) });
  const current = rows.at(at.row);
  const toFailure = (ahead: boolean) => {
    if (isFiltered) return move({ ...at, row: Math.max(0, Math.min(rows.count - 1, at.row + (ahead ? 1 : -1))) });
    const found = ahead
      ? nextFailure(job.id, at.row + 1)
      : previousFailure(job.id, at.row + 1, ribbon.data?.slices ?? []);
    found.then(
      (row) =>
        row === undefined ? toast(ahead ? "No failure after this row." : "No failure before this row.") : goTo(row),
      (error: Error) => toast(error.message),
    );
  };
  const by = (rowsOn: number) => move({ ...at, row: Math.max(0, Math.min(rows.count - 1, at.row + rowsOn)) });
  const select = (row: number, isRange: boolean) => selection.toggle(row, isRange);
  useCommands([
    { id: "grid-next", title: "Next row", group: "Grid", keys: "j", run: () => by(1), hidden: true },
    { id: "grid-previous", title: "Previous row", group: "Grid", keys: "k", run: () => by(-1), hidden: true },
    { id: "grid-go", title: "Go to row", group: "Grid", keys: "mod+g", run: () => setAsksRow(true) },
    { id: "grid-failure", title: "Next failure", group: "Grid", keys: "n", run: () => toFailure(true) },
    { id: "grid-failure-back", title: "Previous failure", group: "Grid", keys: "N", run: () => toFailure(false) },
    { id: "grid-select", title: "Select the row", group: "Grid", keys: "x", run: () => select(at.row, false) },
    { id: "grid-range", title: "Select up to here", group: "Grid", keys: "X", run: () => select(at.row, true) },
    { id: "grid-all", title: "Select all rows or none", group: "Grid", keys: "*", run: () => selection.toggleAll() },
  ]);
  const copied = () => {
    const chosen = selection.rows();
    const lines =
      chosen.length > 0 ? chosen.map((row) => columns.shown.map((each) => row.cells[each.place] ?? "")) : [];
    if (lines.length > 0) return lines.map((cells) => cells.map(oneLine).join("\t")).join("\n");
    const column = columns.shown[at.column - 1];
    return current && column ? (current.cells[column.place] ?? "") : (current?.id ?? "");
  };
  const status = search.status ?? [];
  return (
    <div className={css.section}>
      <div className={css.filters}>
        <Chips
          label="Status"
          chosen={status}
          onChange={(chosen) => set({ status: chosen.length > 0 ? chosen : undefined, row: undefined })}
          chips={ITEM_STATUSES.map((value) => ({
            value: value as string,
            label: statusWord(value),
            count: countOf(job, value),
          }))}
        />
        <Search key={search.q} value={search.q} onSearch={(q) => set({ q, row: undefined })} />
        <div className={css.tools}>
          <Button look="plain" shortcut="Ctrl+G" onClick={() => setAsksRow(true)} disabled={isFiltered}>
            Go to row
          </Button>
          <Button look="plain" shortcut="n" onClick={() => toFailure(true)}>
            Next failure
          </Button>
          <ColumnPicker columns={columns} />
          <ExportButton jobId={job.id} choice={status.length > 0 ? { statuses: status.join(",") } : {}} />
        </div>
      </div>
      <SelectionBar job={job} selection={selection} filter={filter} isFiltered={isFiltered} copied={copied} />
      <Strip column={columns.shown[at.column - 1]} row={current} />
      {rows.error !== undefined && (
        <Trouble error={rows.error} what="Some rows" onRetry={() => rows.want(at.row, at.row + 1)} />
      )}
      <Grid
        key={isFiltered ? "found" : "all"}
        label={`Rows of ${job.file ?? "the sheet"}`}
        rows={rows}
        columns={columns.shown}
        onWidth={columns.setWidth}
        at={at}
        onMove={move}
        isSelected={selection.has}
        onSelect={select}
        onSelectAll={selection.all}
        onOpen={(row) => {
          const found = rows.at(row);
          setAt((now) => ({ ...now, row }));
          if (found) set({ row: Number(found.id) });
        }}
        onCopy={copied}
        isLive={isLive}
        slices={isFiltered ? undefined : (ribbon.data?.slices ?? [])}
        last={Math.max(total, job.counters.total)}
        none={
          <None job={job} rows={rows} isFiltered={isFiltered} onDrop={() => set({ status: undefined, q: undefined })} />
        }
      />
      <Foot rows={rows} total={Math.max(total, job.counters.total)} />
      {asksRow && <GoToRow total={rows.count} onGo={goTo} onClose={() => setAsksRow(false)} />}
      {search.row !== undefined && <RowPanel jobId={job.id} row={search.row} onClose={() => set({ row: undefined })} />}
    </div>
  );
}

function oneLine(cell: string): string {
  return cell.replace(/[\t\r\n]+/g, " ");
}

function countOf(job: Job, status: (typeof ITEM_STATUSES)[number]): string | undefined {
  const { done, notFound, skipped, error, pending } = job.counters;
  const count = { DONE: done, NOT_FOUND: notFound, SKIPPED: skipped, ERROR: error, PENDING: pending, PROCESSING: 0 }[
    status
  ];
  return count ? exact(count) : undefined;
}

function Search({ value, onSearch }: { value: string | undefined; onSearch: (q: string | undefined) => void }) {
  return (
    <form
      className={css.search}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(String(new FormData(event.currentTarget).get("q")).trim() || undefined);
      }}
    >
      <Field
        label="Text in a cell"
        hideLabel
        name="q"
        type="search"
        placeholder="Text in a cell"
        defaultValue={value}
      />
    </form>
  );
}

/** The whole text of the cell that has the focus. */
function Strip({ column, row }: { column: { title: string; place: number } | undefined; row: GridRow | undefined }) {
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

function None({
  job,
  rows,
  isFiltered,
  onDrop,
}: {
  job: Job;
  rows: Rows<GridRow>;
  isFiltered: boolean;
  onDrop: () => void;
}) {
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

function Foot({ rows, total }: { rows: Rows<GridRow>; total: number }) {
  const words =
    rows instanceof Found
      ? `${plural(rows.count, "row")} found${rows.isComplete ? "" : `; searched to row ${exact(rows.searchedTo)} of ${exact(total)}`}`
      : `${plural(rows.count, "row")}, in the order of the file`;
  return (
    <p className={css.foot} role="status">
      {words}
    </p>
  );
}
