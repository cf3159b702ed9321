import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type Worker, workersQuery } from "~/api/ops";
import { exact } from "~/format";
import { useListKeys } from "~/shell/list-keys";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { List } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import css from "./ops.module.css";
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
    <List label="Workers">
      {workers.map((worker, index) => {
        const { status, word } = workerState(worker);
        return (
          <li key={worker.name} {...keys.rowProps(index)} className={css.item}>
            <div className={css.what}>
              <span className={css.name}>
                <Link to="/ops/workers/$name" params={{ name: worker.name }}>
                  {worker.name}
                </Link>
                <Pill status={status}>{word}</Pill>
              </span>
              <span className={css.side}>
                {worker.isRunning ? (
                  <>
                    Up since <Time value={worker.upSince} />. {whyLess(worker.machine)}
                  </>
                ) : (
                  <>
                    Last seen <Time value={worker.lastSeen} />. Other workers take over what it had.
                  </>
                )}
              </span>
              {worker.lastError && <span className={css.side}>Last error: {sentence(worker.lastError)}</span>}
            </div>
            <div className={css.counts}>
              <Count value={worker.inFlight} word="in flight" />
              <Count value={worker.processedCount} word="ended" />
              <Count value={worker.failedCount} word="failed" />
              <Count
                value={worker.staleReports}
                word="stale"
                title="Reports that came after another worker had taken over"
              />
            </div>
          </li>
        );
      })}
    </List>
  );
}

function Count({ value, word, title }: { value: number; word: string; title?: string }) {
  return (
    <span title={title}>
      <strong>
        <Amount value={value} />
      </strong>
      {word}
    </span>
  );
}
