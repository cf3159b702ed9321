import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type Worker, workersQuery } from "~/api/ops";
import { exact } from "~/format";
import { useListKeys } from "~/shell/list-keys";
import { Loaded } from "~/shell/trouble";
import { Entries, Entry, Numbers, Side, What } from "~/ui/entries";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import { OpsPage } from "./ops-page";
import { whyLess, workerState } from "./worker-words";

export default function WorkersPage() {
  const query = useQuery(workersQuery);
  return (
    <OpsPage title="Workers" subtitle="The processes that run tasks.">
      <Loaded query={query} what="The workers" loading={<SkeletonRows rows={3} height={72} />}>
        {({ workers, pendingCount }) =>
          workers.length > 0 ? (
            <Workers workers={workers} />
          ) : (
            <Empty title="No worker is known">
              {pendingCount > 0 ? `${exact(pendingCount)} tasks wait for one. ` : ""}Start one with{" "}
              <code>forebay worker</code>; <code>forebay up</code> has one already.
            </Empty>
          )
        }
      </Loaded>
    </OpsPage>
  );
}

function Workers({ workers }: { workers: Worker[] }) {
  const navigate = useNavigate();
  const keys = useListKeys({
    group: "Workers",
    count: workers.length,
    onOpen: (index) => void navigate({ to: "/ops/workers/$name", params: { name: workers[index]!.name } }),
  });
  return (
    <Entries label="Workers">
      {workers.map((worker, index) => {
        const { status, word } = workerState(worker);
        return (
          <Entry key={worker.name} {...keys.rowProps(index)}>
            <What
              name={
                <>
                  <Link to="/ops/workers/$name" params={{ name: worker.name }}>
                    {worker.name}
                  </Link>
                  <Pill status={status}>{word}</Pill>
                </>
              }
            >
              <Side>
                {worker.isRunning ? (
                  <>
                    Started <Time value={worker.upSince} />. {whyLess(worker.machine)}
                  </>
                ) : (
                  <>
                    Last seen <Time value={worker.lastSeen} />. Other workers take over what it had.
                  </>
                )}
              </Side>
              {worker.lastError && <Side>Last error: {sentence(worker.lastError)}</Side>}
            </What>
            <Numbers
              values={[
                [worker.inFlight, "in flight"],
                [worker.processedCount, "ended"],
                [worker.failedCount, "failed"],
                [worker.staleReports, "stale", "Reports that came after another worker had taken over"],
              ]}
            />
          </Entry>
        );
      })}
    </Entries>
  );
}
