import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { queryClient } from "~/api/client";
import {
  type GridColumn,
  type GridFilter,
  type GridRow,
  gridQuery,
  nextFailure,
  previousFailure,
  ribbonQuery,
} from "~/api/grid";
import { ITEM_STATUSES } from "~/api/items";
import { isOpen, type Job } from "~/api/jobs";
import { exact } from "~/format";
import { Blocks, type Rows } from "~/grid/blocks";
import { type ShownColumn, useColumns } from "~/grid/columns";
import { Grid, type Place } from "~/grid/grid";
import { MOST_SORTED } from "~/grid/sorted";
import { useIsNarrow } from "~/grid/use-narrow";
import { useCommands } from "~/shell/commands";
import { useOpened } from "~/shell/opened";
import { Panel } from "~/shell/panel";
import { toast } from "~/shell/toasts";
import { Loaded, Trouble } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Field } from "~/ui/field";
import { Skeleton, SkeletonRows } from "~/ui/skeleton";
import { statusWord } from "~/words";
import { ColumnPicker } from "./column-picker";
import { ColumnSwitch } from "./column-switch";
import { ExportButton } from "./exports";
import { GoToRow } from "./go-to-row";
import { Foot, None, Strip } from "./grid-words";
import { SelectionBar } from "./selection-bar";
import css from "./sheets.module.css";
import { nextSort, readSort, useRows } from "./use-rows";
import { useSelection } from "./use-selection";

/** What the page of the sheet and that of its job have in their URL. */
interface GridSearch {
  status?: string[] | undefined;
  q?: string | undefined;
  sort?: string | undefined;
  row?: number | undefined;
}

const RowDetail = lazy(() => import("./row-detail").then((found) => ({ default: found.RowDetail })));

const RIBBON_MS = 2000;
const FAILED: ReadonlySet<string> = new Set(["ERROR", "NOT_FOUND"]);

export function SheetGrid({ job }: { job: Job }) {
  const about = useQuery(gridQuery(job.id));
  return (
    <Loaded query={about} what="The grid" loading={<Skeleton height={480} />}>
      {({ columns, total }) => <ShownGrid job={job} all={columns} total={Math.max(total, job.counters.total)} />}
    </Loaded>
  );
}

/** The cell that has the focus. When rows are put before it, it stays on its row. */
function useCell(rows: Rows<GridRow>, first: number) {
  const [at, setAt] = useState<Place>({ row: first, column: 1 });
  const [moves, setMoves] = useState(0);
  const [seen, setSeen] = useState({ rows, prepended: rows.prepended });
  if (seen.rows !== rows) {
    setSeen({ rows, prepended: rows.prepended });
    setAt({ row: 0, column: at.column });
    setMoves(moves + 1);
  } else if (seen.prepended !== rows.prepended) {
    setSeen({ rows, prepended: rows.prepended });
    setAt({ row: at.row + rows.prepended - seen.prepended, column: at.column });
  }
  const move = (to: Place) => {
    setAt({ ...to, row: Math.max(0, Math.min(rows.count - 1, to.row)) });
    setMoves((count) => count + 1);
  };
  return { at, moves, move };
}

/** The place of the next failed row among those that are loaded. */
function failureIn(rows: Rows<GridRow>, from: number, by: 1 | -1): number | undefined {
  for (let place = from + by; place >= 0 && place < rows.count; place += by) {
    if (FAILED.has(rows.at(place)?.status ?? "")) return place;
  }
  return undefined;
}

function ShownGrid({ job, all, total }: { job: Job; all: GridColumn[]; total: number }) {
  const search = useSearch({ strict: false }) as GridSearch;
  const navigate = useNavigate();
  const opened = useOpened();
  const set = (change: GridSearch) =>
    void navigate({ to: ".", search: (now: object) => ({ ...now, ...change }), replace: true, resetScroll: false });
  const filter: GridFilter = { statuses: search.status, q: search.q };
  const isFiltered = Boolean(search.status ?? search.q);
  const cannotSort =
    total > MOST_SORTED ? `Rows are in the order of the file: up to ${exact(MOST_SORTED)} can be sorted` : undefined;
  const sort = cannotSort ? undefined : search.sort;
  const rows = useRows({ jobId: job.id, total, filter, sort, columns: all, start: search.row ?? 1 });
  const isAll = rows instanceof Blocks;
  const columns = useColumns(job.id, all);
  const isNarrow = useIsNarrow();
  const { single, shown } = columns;
  const visible = useMemo(() => (isNarrow && single ? [single] : shown), [isNarrow, single, shown]);
  const isLive = isOpen(job) && job.state !== "PAUSED";
  const ribbon = useQuery({ ...ribbonQuery(job.id), refetchInterval: isLive ? RIBBON_MS : false });
  useEffect(() => {
    // The last changes came after the last time that it was loaded.
    if (isLive) return () => void queryClient.invalidateQueries({ queryKey: ["ribbon", job.id] });
  }, [isLive, job.id]);
  const { at, moves, move: moveTo } = useCell(rows, isAll ? Math.max(0, (search.row ?? 1) - 1) : 0);
  const [asksRow, setAsksRow] = useState(false);
  const selection = useSelection(rows);
  const current = rows.at(at.row);
  const move = (to: Place) => {
    moveTo(to);
    const row = rows.at(to.row);
    if (search.row !== undefined && row) opened.open({ row: Number(row.id) }, true);
  };
  const by = (rowsOn: number) => move({ ...at, row: Math.max(0, Math.min(rows.count - 1, at.row + rowsOn)) });
  const toFailure = (direction: 1 | -1) => {
    const number = at.row + 1;
    const found = isAll
      ? (direction > 0 ? nextFailure : previousFailure)(job.id, number).then((row) => row && row - 1)
      : Promise.resolve(failureIn(rows, at.row, direction));
    found.then(
      (place) =>
        place === undefined
          ? toast(direction > 0 ? "No failure after this row." : "No failure before this row.")
          : move({ ...at, row: place }),
      (error: Error) => toast(error.message),
    );
  };
  const sortBy = (key: string) => set({ sort: nextSort(sort, key), row: undefined });
  const column = visible[at.column - 1];
  useCommands([
    { id: "grid-next", title: "Next row", group: "Grid", keys: "j", run: () => by(1), hidden: true },
    { id: "grid-previous", title: "Previous row", group: "Grid", keys: "k", run: () => by(-1), hidden: true },
    ...(isAll
      ? [{ id: "grid-go", title: "Go to row", group: "Grid", keys: "mod+g", run: () => setAsksRow(true) }]
      : []),
    { id: "grid-failure", title: "Next failure", group: "Grid", keys: "n", run: () => toFailure(1) },
    { id: "grid-failure-back", title: "Previous failure", group: "Grid", keys: "N", run: () => toFailure(-1) },
    {
      id: "grid-sort",
      title: "Sort by this column",
      group: "Grid",
      keys: "o",
      run: () => (cannotSort ? toast(`${cannotSort}.`) : column && sortBy(column.key)),
    },
    {
      id: "grid-select",
      title: "Select the row",
      group: "Grid",
      keys: "x",
      run: () => selection.toggle(at.row, false),
    },
    {
      id: "grid-range",
      title: "Select up to here",
      group: "Grid",
      keys: "X",
      run: () => selection.toggle(at.row, true),
    },
    { id: "grid-all", title: "Select all rows or none", group: "Grid", keys: "*", run: () => selection.toggleAll() },
  ]);
  const copied = () => {
    const lines = selection.rows().map((row) => shown.map((each) => row.cells[each.place] ?? ""));
    if (lines.length > 0) return lines.map((cells) => cells.map(oneLine).join("\t")).join("\n");
    return current && column ? (current.cells[column.place] ?? "") : (current?.id ?? "");
  };
  const status = search.status ?? [];
  const sorting = readSort(sort);
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
          <Button look="plain" shortcut="Ctrl+G" onClick={() => setAsksRow(true)} disabled={!isAll}>
            Go to row
          </Button>
          <Button look="plain" shortcut="n" onClick={() => toFailure(1)}>
            Next failure
          </Button>
          <ColumnPicker columns={columns} />
          <ExportButton jobId={job.id} choice={status.length > 0 ? { statuses: status.join(",") } : {}} />
        </div>
      </div>
      <SelectionBar job={job} selection={selection} filter={filter} isFiltered={isFiltered} copied={copied} />
      {isNarrow && <ColumnSwitch columns={columns} />}
      <Strip column={column} row={current} />
      {rows.error !== undefined && (
        <Trouble error={rows.error} what="Some rows" onRetry={() => rows.want(at.row, at.row + 1)} />
      )}
      <Grid
        key={isAll ? "all" : "found"}
        label={`Rows of ${job.file ?? "the sheet"}`}
        rows={rows}
        columns={visible}
        onWidth={columns.setWidth}
        sorting={{ ...sorting, cannot: cannotSort, onSort: sortBy }}
        at={at}
        moves={moves}
        onMove={move}
        isSelected={selection.has}
        onSelect={selection.toggle}
        onSelectAll={selection.all}
        onOpen={(row) => {
          const found = rows.at(row);
          moveTo({ ...at, row });
          if (found) opened.open({ row: Number(found.id) }, search.row !== undefined);
        }}
        onCopy={copied}
        isLive={isLive}
        slices={isAll ? (ribbon.data?.slices ?? []) : undefined}
        last={total}
        none={
          <None job={job} rows={rows} isFiltered={isFiltered} onDrop={() => set({ status: undefined, q: undefined })} />
        }
      />
      <Foot rows={rows} total={total} order={orderWords(shown, sorting)} />
      {asksRow && (
        <GoToRow
          total={rows.count}
          onGo={(number) => move({ ...at, row: number - 1 })}
          onClose={() => setAsksRow(false)}
        />
      )}
      {search.row !== undefined && (
        <Panel title={`Row ${exact(search.row)}`} onClose={() => opened.close({ row: undefined })}>
          <Suspense fallback={<SkeletonRows rows={10} height={24} />}>
            <RowDetail jobId={job.id} row={search.row} />
          </Suspense>
        </Panel>
      )}
    </div>
  );
}

function orderWords(columns: ShownColumn[], { key, isDown }: ReturnType<typeof readSort>): string | undefined {
  const column = columns.find((each) => each.key === key);
  return key && `by ${column?.title ?? key}, ${isDown ? "largest" : "smallest"} first`;
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
