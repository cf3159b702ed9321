import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ITEM_STATUSES, type ItemRow, type ItemStatus, itemsQuery, itemTitle } from "~/api/items";
import { PendingTable } from "~/pending/pending-table";
import { Loaded } from "~/shell/trouble";
import { Chips } from "~/ui/chips";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { statusWord } from "~/words";
import css from "./jobs.module.css";

const route = getRouteApi("/jobs/$jobId");

const COLUMNS: Column<ItemRow>[] = [
  {
    key: "id",
    title: "Item",
    number: true,
    cell: (row) => (
      <Link to="/jobs/$jobId/items/$n" params={{ jobId: row.jobId, n: row.id }}>
        {row.id}
      </Link>
    ),
  },
  { key: "title", title: "Title", cell: (row) => <span className="cut">{itemTitle(row)}</span> },
  { key: "status", title: "Status", cell: (row) => <Pill status={row.status} /> },
  { key: "attempts", title: "Attempts", number: true, cell: (row) => row.attempts },
  { key: "worker", title: "Worker", cell: (row) => row.lockedBy ?? "" },
  { key: "updated", title: "Updated", cell: (row) => <Time value={row.updatedAt} /> },
  { key: "error", title: "Error", cell: (row) => <span className="cut">{row.error?.reason ?? ""}</span> },
];

/** The items of a job, of all statuses or the chosen ones. */
export function Items({ jobId, only }: { jobId: string; only?: ItemStatus[] }) {
  const { status = [] } = route.useSearch();
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const query = useInfiniteQuery(itemsQuery(jobId, only ?? status));
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className={css.section}>
      {!only && (
        <Chips
          label="Status"
          chosen={status}
          onChange={(chosen) =>
            void navigate({
              search: (now) => ({ ...now, status: chosen.length > 0 ? chosen : undefined }),
              replace: true,
            })
          }
          chips={ITEM_STATUSES.map((value) => ({ value: value as string, label: statusWord(value) }))}
        />
      )}
      <Loaded query={query} what="The items" loading={<SkeletonRows rows={8} height={32} />}>
        {() =>
          rows.length > 0 ? (
            only ? (
              <PendingTable rows={rows} />
            ) : (
              <Table label="Items" columns={COLUMNS} rows={rows} rowKey={(row) => row.id} />
            )
          ) : query.hasNextPage ? null : (
            <Empty title={only ? "Nothing is open" : status.length > 0 ? "No item has this status" : "No items yet"} />
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
