import { useInfiniteQuery } from "@tanstack/react-query";
import type { Schema } from "~/api/client";
import { hostsQuery, limitsQuery } from "~/api/ops";
import { duration, exact } from "~/format";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { OpsPage } from "./ops-page";

type Key = Pick<Schema<"LimitKey">, "waiting" | "slots" | "wanted" | "workers" | "holdS" | "startsAt" | "seenAt">;

const USE: Column<Key>[] = [
  { key: "slots", title: "Slots in use", number: true, cell: (row) => exact(row.slots) },
  { key: "wanted", title: "Wanted", number: true, cell: (row) => exact(row.wanted) },
  { key: "workers", title: "Workers", number: true, cell: (row) => exact(row.workers) },
  { key: "waiting", title: "Told to wait", number: true, cell: (row) => exact(row.waiting) },
  { key: "hold", title: "Held for", number: true, cell: (row) => (row.holdS === null ? "" : duration(row.holdS)) },
  { key: "starts", title: "Next start", cell: (row) => row.startsAt && <Time value={row.startsAt} /> },
  { key: "seen", title: "Last asked", cell: (row) => row.seenAt && <Time value={row.seenAt} /> },
];

const LIMITS: Column<Schema<"LimitKey">>[] = [
  { key: "name", title: "Limit", isClear: true, cell: (row) => row.name },
  { key: "key", title: "Key", cell: (row) => row.key || <span className="muted">all</span> },
  ...USE,
];

const HOSTS: Column<Schema<"HostInUse">>[] = [
  { key: "host", title: "Host", isClear: true, cell: (row) => row.host },
  ...USE,
];

const WORKERS: Column<Schema<"WorkerHosts">>[] = [
  { key: "worker", title: "Worker", isClear: true, cell: (row) => row.worker },
  { key: "known", title: "Hosts", number: true, cell: (row) => exact(row.known) },
  { key: "running", title: "Requests", number: true, cell: (row) => exact(row.running) },
  { key: "waiting", title: "Waiting", number: true, cell: (row) => exact(row.waiting) },
  { key: "closed", title: "Closed hosts", number: true, cell: (row) => exact(row.closed) },
  {
    key: "longest",
    title: "Longest closed",
    number: true,
    cell: (row) => (row.longestClosedS > 0 ? duration(row.longestClosedS) : ""),
  },
  { key: "throttled", title: "Asked for patience", number: true, cell: (row) => exact(row.throttled) },
];

export default function LimitsPage() {
  return (
    <OpsPage title="Limits" subtitle="Limits that steps declare, and the hosts that workers fetch from.">
      <Limits />
      <Hosts />
    </OpsPage>
  );
}

function Limits() {
  const query = useInfiniteQuery(limitsQuery);
  const rows = query.data?.pages.flatMap((page) => page.limits) ?? [];
  return (
    <Section title="Limits of steps">
      <Loaded query={query} what="The limits" loading={<SkeletonRows rows={3} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <Table label="Limits in use" columns={LIMITS} rows={rows} rowKey={(row) => `${row.name} ${row.key}`} />
          ) : (
            <p className="muted">
              No declared limit is in use. Steps declare them with <code>limits=[Limit(…)]</code>.
            </p>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Section>
  );
}

function Hosts() {
  const query = useInfiniteQuery(hostsQuery);
  const first = query.data?.pages[0];
  const rows = query.data?.pages.flatMap((page) => page.hosts) ?? [];
  return (
    <Section title="Hosts">
      <Loaded query={query} what="The hosts" loading={<SkeletonRows rows={3} height={32} />}>
        {() => (
          <>
            <p className="muted">
              {exact(first?.concurrency ?? 0)} requests to a host at a time,{" "}
              {first?.shared ? "over all workers" : "in each worker"} (FOREBAY_EGRESS_HOST_CONCURRENCY).
            </p>
            {rows.length > 0 && <Table label="Hosts in use" columns={HOSTS} rows={rows} rowKey={(row) => row.host} />}
            {(first?.workers.length ?? 0) > 0 && (
              <Table
                label="Hosts by worker"
                columns={WORKERS}
                rows={first?.workers ?? []}
                rowKey={(row) => row.worker}
              />
            )}
            {rows.length === 0 && first?.workers.length === 0 && (
              <p className="muted">No worker fetches from a host now.</p>
            )}
          </>
        )}
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Section>
  );
}
