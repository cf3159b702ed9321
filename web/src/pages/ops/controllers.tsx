import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { controllersQuery, type StepController } from "~/api/ops";
import { duration, exact, short } from "~/format";
import { useCommands } from "~/shell/commands";
import { useListKeys } from "~/shell/list-keys";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { type Column, List, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Trend } from "~/ui/trend";
import { plural } from "~/words";
import { boundsWords, inputsWords, whole } from "./controller-words";
import css from "./controllers.module.css";
import opsCss from "./ops.module.css";
import { OpsPage } from "./ops-page";

const route = getRouteApi("/ops/controllers");
const seconds = (value: number) => duration(value);

const COLUMNS: Column<StepController>[] = [
  { key: "step", title: "Step", cell: (row) => `${row.pipeline}.${row.step}` },
  { key: "workers", title: "Workers", number: true, cell: (row) => exact(row.workers) },
  { key: "running", title: "Running", number: true, cell: (row) => exact(row.running) },
  { key: "concurrency", title: "Concurrency", number: true, cell: (row) => now(row.concurrency, whole) },
  { key: "concurrency-bounds", title: "Bounds", number: true, cell: (row) => boundsWords(row.concurrency, whole) },
  { key: "claim", title: "Claim size", number: true, cell: (row) => now(row.claimSize, whole) },
  { key: "claim-bounds", title: "Bounds", number: true, cell: (row) => boundsWords(row.claimSize, whole) },
  { key: "lease", title: "Lease", number: true, cell: (row) => now(row.leaseS, seconds) },
  { key: "lease-bounds", title: "Bounds", number: true, cell: (row) => boundsWords(row.leaseS, seconds) },
];

export default function ControllersPage() {
  const { table } = route.useSearch();
  const navigate = useNavigate({ from: "/ops/controllers" });
  const query = useQuery(controllersQuery);
  const toggle = () => void navigate({ search: table ? {} : { table: true }, replace: true });
  useCommands([
    { id: "controllers-table", title: "Controllers as a table or back", group: "Controllers", keys: "t", run: toggle },
  ]);
  return (
    <OpsPage
      title="Controllers"
      subtitle="What the workers adjust by themselves, from what they measure. The lines are the last hour."
      actions={
        <Button shortcut="t" aria-pressed={table ?? false} onClick={toggle}>
          {table ? "Show lines" : "Show as a table"}
        </Button>
      }
    >
      <Loaded query={query} what="The controllers" loading={<SkeletonRows rows={4} height={168} />}>
        {({ steps }) =>
          steps.length === 0 ? (
            <Empty title="No worker runs" actions={<Link to="/ops/workers">Workers</Link>}>
              Controllers belong to workers. They are shown as soon as one has reported: <code>forebay worker</code>{" "}
              starts one.
            </Empty>
          ) : table ? (
            <Table label="Controllers" columns={COLUMNS} rows={steps} rowKey={(row) => `${row.pipeline}.${row.step}`} />
          ) : (
            <Steps steps={steps} />
          )
        }
      </Loaded>
    </OpsPage>
  );
}

function Steps({ steps }: { steps: StepController[] }) {
  const navigate = useNavigate();
  const keys = useListKeys({
    group: "Controllers",
    count: steps.length,
    onOpen: (index) => void navigate({ to: "/ops/pipelines/$name", params: { name: steps[index]!.pipeline } }),
  });
  return (
    <List label="Controllers">
      {steps.map((step, index) => (
        <li key={`${step.pipeline}.${step.step}`} {...keys.rowProps(index)} className={css.item}>
          <Step step={step} />
        </li>
      ))}
    </List>
  );
}

function Step({ step }: { step: StepController }) {
  const { title } = usePipeline(step.pipeline);
  const { concurrency, claimSize, leaseS, history } = step;
  return (
    <>
      <div className={css.head}>
        <h2 className="row">
          <Link to="/ops/pipelines/$name" params={{ name: step.pipeline }}>
            {title}, {step.step}
          </Link>
        </h2>
        <span className={opsCss.side}>
          {short(step.running)} running in {plural(step.workers, "worker")}
        </span>
      </div>
      <div className={css.values}>
        <Value
          name="Concurrency"
          value={now(concurrency, whole)}
          bounds={boundsWords(concurrency, whole)}
          trend={<Trend values={history.concurrency} label="Concurrency" shown={whole} />}
        />
        <Value
          name="Claim size"
          value={now(claimSize, whole)}
          bounds={boundsWords(claimSize, whole)}
          trend={<Trend values={history.claimSize} label="Claim size" shown={whole} />}
        />
        <Value
          name="Lease time"
          value={now(leaseS, seconds)}
          bounds={boundsWords(leaseS, seconds)}
          trend={<Trend values={history.leaseS} label="Lease time" shown={seconds} />}
        />
      </div>
      <ul className={css.inputs}>
        {inputsWords(step).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
    </>
  );
}

interface ValueProps {
  name: string;
  value: string;
  bounds: string;
  trend: React.ReactNode;
}

function Value({ name, value, bounds, trend }: ValueProps) {
  return (
    <div className={css.value}>
      <span className={opsCss.side}>{name}</span>
      <span>
        <strong>{value}</strong> <span className={opsCss.side}>{bounds}</span>
      </span>
      {trend}
    </div>
  );
}

function now({ value }: StepController["concurrency"], shown: (value: number) => string): string {
  return value === null ? "not reported" : shown(value);
}
