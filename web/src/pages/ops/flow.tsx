import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useApp } from "~/api/app";
import { depthSeriesQuery, lanesQuery, overviewQuery, ownerSeriesQuery, seriesQuery } from "~/api/ops";
import { clock, exact, rate } from "~/format";
import { River, type RiverStep } from "~/graph/river-view";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { statusWord } from "~/words";
import flowCss from "./flow.module.css";
import { fairnessWords, lastMinutes, riverOwners, riverSteps, type Share, sharesAt, stepsAt } from "./flow-data";
import css from "./ops.module.css";
import { OpsPage, useWhose } from "./ops-page";
import { Scrubber } from "./scrubber";
import { percent } from "./worker-words";

const route = getRouteApi("/ops/flow");

const OWNERS: Column<Share>[] = [
  { key: "owner", title: "Owner", cell: (owner) => owner.owner },
  { key: "ready", title: "Waiting", number: true, cell: (owner) => <Amount value={owner.ready} /> },
  { key: "running", title: "Running", number: true, cell: (owner) => exact(owner.running) },
  { key: "served", title: "Served", number: true, cell: (owner) => rate(owner.servedPerS) },
  { key: "share", title: "Share", number: true, cell: (owner) => (owner.share === null ? "" : percent(owner.share)) },
  { key: "fair", title: "Fair share", number: true, cell: (owner) => percent(owner.fairShare) },
];

const STEPS: Column<RiverStep>[] = [
  { key: "step", title: "Step", cell: (step) => step.name },
  { key: "held", title: "State", cell: (step) => step.held ?? "open" },
  { key: "waiting", title: "Waiting", number: true, cell: (step) => exact(step.waiting) },
  { key: "running", title: "Running", number: true, cell: (step) => exact(step.running) },
  {
    key: "outcomes",
    title: "Ended in a minute",
    cell: (step) =>
      Object.entries(step.outcomes)
        .map(([outcome, count]) => `${exact(count)} ${statusWord(outcome).toLowerCase()}`)
        .join(", ") || "nothing",
  },
];

export default function FlowPage() {
  const { pipeline, table, at } = route.useSearch();
  const { pipelines } = useApp();
  const navigate = useNavigate({ from: "/ops/flow" });
  const set = useCallback(
    (change: { pipeline?: string | undefined; table?: boolean | undefined; at?: string | undefined }) =>
      void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  const setMinute = useCallback(
    (minute: number | undefined) => set({ at: minute === undefined ? undefined : new Date(minute).toISOString() }),
    [set],
  );
  const toggle = () => set({ table: table ? undefined : true });
  useCommands([{ id: "flow-table", title: "River as tables or back", group: "Flow", keys: "t", run: toggle }]);
  const minute = at === undefined || Number.isNaN(Date.parse(at)) ? undefined : Date.parse(at);
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
      {/* Above the picture, whose height changes: it must not move while it is dragged. */}
      <LastHour at={minute} onChange={setMinute} />
      {minute === undefined ? (
        <Now pipeline={pipeline} asTable={table ?? false} />
      ) : (
        <Then minute={minute} pipeline={pipeline} asTable={table ?? false} />
      )}
    </OpsPage>
  );
}

function LastHour({ at, onChange }: { at: number | undefined; onChange: (at: number | undefined) => void }) {
  const series = useQuery(seriesQuery);
  const minutes = useMemo(() => lastMinutes(series.data ? Date.parse(series.data.at) : Date.now()), [series.data]);
  return <Scrubber minutes={minutes} at={at} onChange={onChange} />;
}

interface View {
  pipeline: string | undefined;
  asTable: boolean;
}

function Now({ pipeline, asTable }: View) {
  const whose = useWhose();
  useTopics("overview");
  const lanes = useQuery(lanesQuery(whose));
  const overview = useQuery(overviewQuery(whose));
  const series = useQuery(seriesQuery);
  return (
    <Loaded query={lanes} what="The lanes" loading={<Skeleton height={420} />}>
      {({ owners, servedPerS }) => (
        <Loaded query={overview} what="The steps" loading={<Skeleton height={420} />}>
          {(now) => (
            <Picture
              shares={owners}
              steps={riverSteps(now, series.data, pipeline)}
              tense="now"
              when="in the last minute"
              note={`${rate(servedPerS)} in all, in the last seconds.`}
              none="No owner has work, and no attempt has ended in the last minute."
              asTable={asTable}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

function Then({ minute, pipeline, asTable }: View & { minute: number }) {
  const owners = useQuery(ownerSeriesQuery);
  const depth = useQuery(depthSeriesQuery);
  const series = useQuery(seriesQuery);
  const time = clock(new Date(minute));
  return (
    <Loaded query={series} what="The attempts" loading={<Skeleton height={420} />}>
      {(ended) => (
        <Loaded query={depth} what="The depth" loading={<Skeleton height={420} />}>
          {(depths) => (
            <Loaded query={owners} what="The owners" loading={<Skeleton height={420} />}>
              {(shares) => (
                <Picture
                  shares={sharesAt(minute, shares)}
                  steps={stepsAt(minute, ended, depths, pipeline)}
                  tense="past"
                  when={`at ${time}`}
                  note={`As of ${time}.`}
                  none={`No owner had work at ${time}, and no attempt ended, as far as it was recorded.`}
                  asTable={asTable}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

interface PictureProps {
  shares: Share[];
  steps: RiverStep[];
  tense: "now" | "past";
  when: string;
  note: string;
  none: string;
  asTable: boolean;
}

function Picture({ shares, steps, tense, when, note, none, asTable }: PictureProps) {
  if (shares.length === 0 && steps.length === 0) return <Empty title="Nothing flows">{none}</Empty>;
  return (
    <>
      <p className={css.sentence}>{fairnessWords(shares, tense)}</p>
      {!asTable && (
        <div className={flowCss.wide}>
          <River owners={riverOwners(shares)} steps={steps} when={when} />
        </div>
      )}
      <div className={asTable ? css.section : flowCss.narrow}>
        <h2>Owners</h2>
        <p className="muted">{note}</p>
        <Table label="Owners" columns={OWNERS} rows={shares} rowKey={(owner) => owner.owner} />
        <h2>Steps</h2>
        <Table label="Steps" columns={STEPS} rows={steps} rowKey={(step) => step.name} />
      </div>
    </>
  );
}
