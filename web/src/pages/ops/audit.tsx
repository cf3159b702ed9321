import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Schema } from "~/api/client";
import { auditQuery } from "~/api/record";
import { exact } from "~/format";
import { detailWords } from "~/jobs/detail-words";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Filters } from "~/ui/filters";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { FilterField } from "./filter-field";
import css from "./ops.module.css";
import { OpsPage, useWhose } from "./ops-page";

const route = getRouteApi("/ops/audit");

const COLUMNS: Column<Schema<"AuditRow">>[] = [
  { key: "at", title: "When", isClear: true, cell: (row) => <Time value={row.at} /> },
  { key: "actor", title: "Who", isClear: true, cell: (row) => row.actor },
  {
    key: "action",
    title: "What",
    isClear: true,
    cell: (row) => <span className="nowrap">{row.action.replaceAll("_", " ")}</span>,
  },
  { key: "owner", title: "Owner", cell: (row) => row.owner ?? "" },
  {
    key: "job",
    title: "Job",
    cell: (row) =>
      row.jobId && (
        <Link to="/jobs/$jobId" params={{ jobId: row.jobId }} className="nowrap">
          {row.jobId}
          {row.itemId && `, item ${row.itemId}`}
        </Link>
      ),
  },
  {
    key: "detail",
    title: "Detail",
    isClear: true,
    cell: (row) => <span className={css.detail}>{detailWords(row.detail)}</span>,
  },
];

export default function AuditPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/ops/audit" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const query = useInfiniteQuery(
    auditQuery({
      userId: useWhose(),
      ...(search.actor && { actor: search.actor }),
      ...(search.action && { action: search.action }),
      ...(search.from && { from: search.from }),
      ...(search.to && { to: search.to }),
    }),
  );
  const pages = query.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.audit);
  const searched = pages.reduce((sum, page) => sum + page.searched, 0);
  return (
    <OpsPage title="Audit" subtitle="Who changed what, the newest first.">
      <Filters>
        <FilterField label="Who" value={search.actor} onChange={(actor) => set({ actor })} />
        <FilterField
          label="What, as pause_queue"
          value={search.action}
          onChange={(action) => set({ action: action?.replaceAll(" ", "_") })}
        />
      </Filters>
      <Loaded query={query} what="The record" loading={<SkeletonRows rows={10} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <Table label="Audit" columns={COLUMNS} rows={rows} rowKey={(row) => row.id} />
          ) : query.hasNextPage ? null : Object.keys(search).length > 0 ? (
            <Empty
              title="No entry matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>}
            >
              {exact(searched)} entries were looked at.
            </Empty>
          ) : (
            <Empty title="Nobody has changed anything yet">
              Pausing, cancelling, running again, and every change of accounts and weights is written down here.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
        searched={`${exact(searched)} entries looked at`}
      />
    </OpsPage>
  );
}
