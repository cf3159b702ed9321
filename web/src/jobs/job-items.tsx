import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ITEM_STATUSES, type ItemRow, isOpenItem, itemsQuery, itemTitle, OPEN_STATUSES } from "~/api/items";
import { ItemLink, WhyLink } from "~/items/item-link";
import { OpenItem } from "~/items/item-panel";
import { useOpenItem } from "~/items/open-item";
import { DateRange, timesOf } from "~/pending/dates";
import { PendingTable } from "~/pending/pending-table";
import { useListKeys } from "~/shell/list-keys";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { statusWord } from "~/words";
import { useJobSearch } from "./job-search";
import css from "./jobs.module.css";

const COLUMNS: Column<ItemRow>[] = [
  {
    key: "id",
    title: "Item",
    number: true,
    cell: (row) => <ItemLink place={row} />,
  },
  { key: "title", title: "Title", isClear: true, cell: (row) => <span className="cut">{itemTitle(row)}</span> },
  { key: "status", title: "Status", isClear: true, cell: (row) => <Pill status={row.status} /> },
  { key: "attempts", title: "Attempts", number: true, cell: (row) => row.attempts },
  { key: "worker", title: "Worker", cell: (row) => row.lockedBy ?? "" },
  { key: "updated", title: "Updated", isClear: true, cell: (row) => <Time value={row.updatedAt} /> },
  {
    key: "error",
    title: "Error",
    isClear: true,
    cell: (row) => (isOpenItem(row) ? <WhyLink place={row} /> : <span className="cut">{row.error?.reason ?? ""}</span>),
  },
];

interface ItemsProps {
  jobId: string;
  /** The Pending tab: open items, unless other statuses are chosen. */
  isPending?: boolean;
}

/** The items of a job, of all statuses or the chosen ones. */
export function Items({ jobId, isPending = false }: ItemsProps) {
  const { search, set } = useJobSearch();
  const { status = isPending ? [...OPEN_STATUSES] : [], step: named, from, to } = search;
  const step = isPending ? undefined : named;
  const days = isPending ? { from, to } : {};
  const query = useInfiniteQuery(itemsQuery(jobId, { statuses: status, ...(step && { step }), ...timesOf(days) }));
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className={css.section}>
      {step && <AtStep step={step} />}
      <Filters
        chips={
          <Chips
            label="Status"
            chosen={status}
            onChange={(chosen) => set({ status: chosen.length > 0 ? chosen : undefined })}
            chips={ITEM_STATUSES.map((value) => ({ value: value as string, label: statusWord(value) }))}
          />
        }
        chosen={[days.from, days.to].filter(Boolean).length}
      >
        {isPending && <DateRange days={days} onChange={set} />}
      </Filters>
      <More
        hasMore={query.hasPreviousPage}
        isLoading={query.isFetchingPreviousPage}
        onMore={() => void query.fetchPreviousPage()}
      />
      <Loaded query={query} what="The items" loading={<SkeletonRows rows={8} height={32} />}>
        {() =>
          rows.length > 0 ? (
            isPending ? (
              <PendingTable rows={rows} />
            ) : (
              <ItemTable rows={rows} />
            )
          ) : query.hasNextPage ? null : (
            <Empty
              title={
                days.from || days.to
                  ? "Nothing was updated in these days"
                  : isPending
                    ? "Nothing is open"
                    : step
                      ? `No item waits, runs or has failed in ${step}`
                      : status.length > 0
                        ? "No item has this status"
                        : "No items yet"
              }
            />
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
      <OpenItem />
    </div>
  );
}

/** Which step the items are at, and what else there is to know about it. */
function AtStep({ step }: { step: string }) {
  const { set } = useJobSearch();
  return (
    <p className="row">
      <span>
        Items that wait or run in <strong>{step}</strong>, or have failed there.
      </span>
      <Button onClick={() => set({ step: undefined })}>All items</Button>
      <Link to="/ops/attempts" search={{ step }}>
        Attempts of {step}
      </Link>
    </p>
  );
}

function ItemTable({ rows }: { rows: ItemRow[] }) {
  const { show, place } = useOpenItem();
  const keys = useListKeys({
    group: "Items",
    count: rows.length,
    onOpen: (index) => show(rows[index]),
  });
  return (
    <Table
      label="Items"
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => row.id}
      isSelected={(row) => row.id === place?.id}
      rowProps={keys.rowProps}
    />
  );
}
