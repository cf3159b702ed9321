import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useIsAdmin } from "~/api/app";
import type { Schema } from "~/api/client";
import { lanesQuery, type OwnerShare } from "~/api/ops";
import { exact, rate } from "~/format";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { plural } from "~/words";
import { OpsPage, useWhose } from "./ops-page";
import { percent } from "./worker-words";

type Lane = Schema<"Lane">;

const LANES: Column<Lane>[] = [
  { key: "owner", title: "Owner", isClear: true, cell: (lane) => lane.owner },
  {
    key: "job",
    title: "Work",
    isClear: true,
    cell: (lane) => (
      <span className="row">
        {lane.jobId ? (
          <Link to="/jobs/$jobId" params={{ jobId: lane.jobId }}>
            job {lane.jobId}
          </Link>
        ) : (
          "small jobs"
        )}
        {lane.limitName && (
          <span className="muted">
            limit {lane.limitName} {lane.limitKey}
          </span>
        )}
        {lane.paused && <Pill status="PAUSED" />}
      </span>
    ),
  },
  { key: "priority", title: "Priority", number: true, cell: (lane) => lane.priority },
  { key: "ready", title: "Waiting", number: true, cell: (lane) => <Amount value={lane.ready} /> },
  { key: "running", title: "Running", number: true, cell: (lane) => exact(lane.running) },
];

const OWNERS: Column<OwnerShare>[] = [
  { key: "owner", title: "Owner", isClear: true, cell: (owner) => owner.owner },
  { key: "weight", title: "Weight", number: true, cell: (owner) => owner.weight },
  { key: "ready", title: "Waiting", number: true, cell: (owner) => <Amount value={owner.ready} /> },
  { key: "running", title: "Running", number: true, cell: (owner) => exact(owner.running) },
  { key: "served", title: "Served", number: true, cell: (owner) => rate(owner.servedPerS) },
  { key: "share", title: "Share", number: true, cell: (owner) => (owner.share === null ? "" : percent(owner.share)) },
  { key: "fair", title: "Fair share", number: true, cell: (owner) => percent(owner.fairShare) },
];

export default function LanesPage() {
  const isAdmin = useIsAdmin();
  const query = useQuery(lanesQuery(useWhose()));
  return (
    <OpsPage
      title="Lanes"
      subtitle={
        <>
          Each owner has a share of the workers by weight; small jobs share a lane, a large one has its own.
          {isAdmin && (
            <>
              {" "}
              <Link to="/admin/owners">Change weights</Link>
            </>
          )}
        </>
      }
    >
      <Loaded query={query} what="The lanes" loading={<SkeletonRows rows={8} height={32} />}>
        {({ lanes, owners, ownerCount }) =>
          lanes.length === 0 ? (
            <Empty title="No lane has work">
              A lane appears when a job is submitted, and stays while it has tasks.
            </Empty>
          ) : (
            <>
              {owners.length > 0 && (
                <Section title="Owners">
                  <Table label="Shares of owners" columns={OWNERS} rows={owners} rowKey={(owner) => owner.owner} />
                  {ownerCount > owners.length && (
                    <p className="muted">Those with the most work, of {plural(ownerCount, "owner")} with work.</p>
                  )}
                </Section>
              )}
              <Section title="Lanes">
                <Table
                  label="Lanes with work"
                  columns={LANES}
                  rows={lanes}
                  rowKey={(lane) =>
                    `${lane.owner} ${lane.jobId} ${lane.priority} ${lane.limitName} ${lane.limitKey} ${lane.paused}`
                  }
                />
              </Section>
            </>
          )
        }
      </Loaded>
    </OpsPage>
  );
}
