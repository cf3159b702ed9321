import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useApp } from "~/api/app";
import { lanesQuery, overviewQuery, seriesQuery } from "~/api/ops";
import { exact, rate } from "~/format";
import { River, type RiverStep } from "~/graph/river-view";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { statusWord } from "~/words";
import flowCss from "./flow.module.css";
import { fairnessWords, riverOwners, riverSteps } from "./flow-data";
import { OWNERS } from "./lanes";
import css from "./ops.module.css";
import { OpsPage, useWhose } from "./ops-page";

const route = getRouteApi("/ops/flow");

const STEPS: Column<RiverStep>[] = [
  { key: "step", title: "Step", cell: (step) => step.name },
  { key: "held", title: "State", cell: (step) => step.held ?? "open" },
  { key: "waiting", title: "Waiting", number: true, cell: (step) => exact(step.waiting) },
  { key: "running", title: "Running", number: true, cell: (step) => exact(step.running) },
  {
    key: "outcomes",
    title: "In the last minute",
    cell: (step) =>
      Object.entries(step.outcomes)
        .map(([outcome, count]) => `${exact(count)} ${statusWord(outcome).toLowerCase()}`)
        .join(", ") || "nothing ended",
  },
];

export default function FlowPage() {
  const { pipeline, table } = route.useSearch();
  const { pipelines } = useApp();
  const navigate = useNavigate({ from: "/ops/flow" });
  const set = (change: { pipeline?: string | undefined; table?: boolean | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const whose = useWhose();
  useTopics("overview");
  const lanes = useQuery(lanesQuery(whose));
  const overview = useQuery(overviewQuery(whose));
  const series = useQuery(seriesQuery);
  const toggle = () => set({ table: table ? undefined : true });
  useCommands([{ id: "flow-table", title: "River as tables or back", group: "Flow", keys: "t", run: toggle }]);
  return (
    <OpsPage
      title="Flow"
      subtitle="Whose work flows, through which steps, to which end."
      actions={
        <>
          <Select
            label="Pipeline"
            hideLabel
            value={pipeline ?? ""}
            onChange={(value) => set({ pipeline: value || undefined })}
            options={[
              { value: "", label: "All pipelines" },
              ...pipelines.map((each) => ({ value: each.name, label: each.title })),
            ]}
          />
          <span className={flowCss.wide}>
            <Button shortcut="t" aria-pressed={table ?? false} onClick={toggle}>
              {table ? "Show the river" : "Show as tables"}
            </Button>
          </span>
        </>
      }
    >
      <Loaded query={lanes} what="The lanes" loading={<Skeleton height={420} />}>
        {(found) => (
          <Loaded query={overview} what="The steps" loading={<Skeleton height={420} />}>
            {(now) => {
              const steps = riverSteps(now, series.data, pipeline);
              const owners = riverOwners(found);
              return owners.length === 0 && steps.length === 0 ? (
                <Empty title="Nothing flows">No owner has work, and no attempt has ended in the last minute.</Empty>
              ) : (
                <>
                  <p className={css.sentence}>{fairnessWords(found)}</p>
                  {!table && (
                    <div className={flowCss.wide}>
                      <River owners={owners} steps={steps} />
                    </div>
                  )}
                  <div className={table ? css.section : flowCss.narrow}>
                    <h2>Owners</h2>
                    <p className="muted">{rate(found.servedPerS)} in all, in the last seconds.</p>
                    <Table label="Owners" columns={OWNERS} rows={found.owners} rowKey={(owner) => owner.owner} />
                    <h2>Steps</h2>
                    <Table label="Steps" columns={STEPS} rows={steps} rowKey={(step) => step.name} />
                  </div>
                </>
              );
            }}
          </Loaded>
        )}
      </Loaded>
    </OpsPage>
  );
}
