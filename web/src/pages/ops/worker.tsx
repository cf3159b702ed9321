import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Schema } from "~/api/client";
import { type Worker, workersQuery } from "~/api/ops";
import { attemptsQuery } from "~/api/record";
import { duration, exact, short } from "~/format";
import { Loaded } from "~/shell/trouble";
import { Facts } from "~/ui/facts";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import { AttemptTable } from "./attempt-table";
import { OpsPage, useWhose } from "./ops-page";
import { percent, whyLess, workerState } from "./worker-words";

const route = getRouteApi("/ops/workers/$name");

export default function WorkerPage() {
  const { name } = route.useParams();
  const query = useQuery(workersQuery);
  const worker = query.data?.workers.find((each) => each.name === name);
  return (
    <OpsPage title={name} subtitle={<Link to="/ops/workers">All workers</Link>}>
      <Loaded query={query} what="The worker" loading={<SkeletonRows rows={4} height={48} />}>
        {() => (
          <>
            {worker ? (
              <>
                <About worker={worker} />
                <Steps steps={Object.entries(worker.steps)} />
              </>
            ) : (
              <Empty title="This worker is not known">
                It may have been away for so long that it was forgotten. Its attempts are below, as long as they are
                kept.
              </Empty>
            )}
            <Attempts worker={name} />
          </>
        )}
      </Loaded>
    </OpsPage>
  );
}

function About({ worker }: { worker: Worker }) {
  const { status, word } = workerState(worker);
  const { load, freeMemory, lagMs } = worker.machine;
  return (
    <Facts
      facts={[
        [
          "State",
          <>
            <Pill status={status}>{word}</Pill> {whyLess(worker.machine)}
          </>,
        ],
        [
          "Seen",
          <>
            <Time value={worker.lastSeen} />, started <Time value={worker.upSince} />
          </>,
        ],
        [
          "Attempts",
          `${exact(worker.processedCount)} ended, ${exact(worker.failedCount)} of them failed; ${exact(worker.inFlight)} in flight` +
            (worker.averageMs === null ? "" : `; ${duration(worker.averageMs / 1000)} on average`),
        ],
        [
          "Machine",
          [
            load != null && `load ${load.toFixed(1)} per core`,
            freeMemory != null && `${percent(freeMemory)} of memory free`,
            lagMs != null && `loop ${duration(lagMs / 1000)} late`,
          ]
            .filter(Boolean)
            .join(", ") || "not reported",
        ],
        ["Last error", worker.lastError && sentence(worker.lastError)],
      ]}
    />
  );
}

type StepRow = [string, Schema<"StepStatus">];

const STEPS: Column<StepRow>[] = [
  { key: "step", title: "Step", isClear: true, cell: ([name]) => name },
  { key: "running", title: "Running", number: true, cell: ([, step]) => step.running ?? 0 },
  { key: "queued", title: "Claimed", number: true, cell: ([, step]) => step.queued ?? 0 },
  {
    key: "limit",
    title: "At once",
    number: true,
    cell: ([, { concurrency }]) =>
      concurrency?.limit == null
        ? ""
        : `${short(Math.round(concurrency.limit))} of ${concurrency.least ?? "?"} to ${concurrency.most ?? "?"}`,
  },
  {
    key: "claim",
    title: "Claim size",
    number: true,
    cell: ([, { claim }]) => (claim?.value == null ? "" : short(Math.round(claim.value))),
  },
  {
    key: "mean",
    title: "Mean",
    number: true,
    cell: ([, { claim }]) => (claim?.itemMs == null ? "" : duration(claim.itemMs / 1000)),
  },
  {
    key: "failures",
    title: "Failures",
    number: true,
    cell: ([, { failures }]) => (failures?.share ? percent(failures.share) : ""),
  },
  { key: "ended", title: "Ended", number: true, cell: ([, step]) => short(step.ended ?? 0) },
];

function Steps({ steps }: { steps: StepRow[] }) {
  return (
    <Section title="Steps">
      {steps.length > 0 ? (
        <Table label="Steps of this worker" columns={STEPS} rows={steps} rowKey={([name]) => name} />
      ) : (
        <p className="muted">It has reported no step yet.</p>
      )}
    </Section>
  );
}

function Attempts({ worker }: { worker: string }) {
  const query = useInfiniteQuery(attemptsQuery({ worker, userId: useWhose() }));
  const rows = query.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <Section title="Its attempts">
      <Loaded query={query} what="The attempts" loading={<SkeletonRows rows={5} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <AttemptTable rows={rows} />
          ) : query.hasNextPage ? null : (
            <p className="muted">No attempt of this worker has ended.</p>
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
