import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePipeline } from "~/api/app";
import { api, queryClient, take } from "~/api/client";
import { type Item, type ItemStep, itemQuery, reprocess } from "~/api/items";
import { whyQuery } from "~/api/why";
import { duration } from "~/format";
import { spansOf } from "~/graph/item-spans";
import { type StepCounts, StepGraph } from "~/graph/step-graph";
import { Timeline } from "~/graph/timeline-view";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Skeleton, SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { sentence } from "~/words";
import css from "./jobs.module.css";

const route = getRouteApi("/jobs/$jobId/items/$n");

export default function ItemPage() {
  const { jobId, n } = route.useParams();
  const query = useQuery(itemQuery(jobId, n));
  const why = useQuery(whyQuery(jobId, n)); // drawn together with the item: later it would move the rest
  useTopics(`items:${jobId}`);
  if (!query.data || why.isPending) {
    return (
      <Page title={`Item ${n} of job ${jobId}`}>
        <Loaded query={query} what={`Item ${n} of job ${jobId}`} loading={<LoadingItem />}>
          {() => <LoadingItem />}
        </Loaded>
      </Page>
    );
  }
  return <ShownItem key={`${jobId} ${n}`} item={query.data} />;
}

function LoadingItem() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton width={96} height={22} />
      <Skeleton width={120} height={20} />
      <Skeleton height={56} />
      <SkeletonRows rows={3} height={32} />
    </div>
  );
}

function ShownItem({ item }: { item: Item }) {
  const { title, noun } = usePipeline(item.pipeline);
  const isOpen = item.status === "PENDING" || item.status === "PROCESSING";
  const [wasOpen] = useState(isOpen);
  return (
    <Page
      title={`Item ${item.id} of job ${item.jobId}`}
      subtitle={
        <>
          {sentence(noun).replace(/\.$/, "")} of{" "}
          <Link to="/jobs/$jobId" params={{ jobId: item.jobId }}>
            {title}, job {item.jobId}
          </Link>
          , updated <Time value={item.updatedAt} />
        </>
      }
      actions={<ItemActions item={item} isOpen={isOpen} />}
    >
      <div className="row">
        <Pill status={item.status} />
        {item.progress?.note && <span className="muted">{item.progress.note}</span>}
      </div>
      {item.error?.reason && (
        <Notice kind="error" title={`Failed in ${item.error.step ?? "a step"}`}>
          {sentence(item.error.reason)}
        </Notice>
      )}
      {(wasOpen || isOpen) && <Why jobId={item.jobId} itemId={item.id} />}
      <div className={css.section}>
        <h2>Timeline</h2>
        <Timeline
          label="Timeline of the item"
          rows={item.steps.map(({ name }) => ({ key: name, name }))}
          spans={spansOf(item, new Date())}
        />
        {item.attemptsCut && <p className="muted">Only the last 200 attempts are shown.</p>}
      </div>
      <div className={css.section}>
        <h2>Steps</h2>
        <StepGraph label="Steps of the item" steps={countsOfItem(item)} />
        <Table label="Steps" columns={STEPS} rows={item.steps} rowKey={(step) => step.name} />
      </div>
      <Json title="Input" value={item.input} />
      <Json title="Result" value={item.result} />
    </Page>
  );
}

/** The steps as those of a job of one item. */
function countsOfItem(item: Item): StepCounts[] {
  const count =
    (...states: ItemStep["state"][]) =>
    (step: ItemStep) =>
      Number(states.includes(step.state));
  const [waiting, running, done] = [count("WAITING", "SCHEDULED", "HELD"), count("RUNNING"), count("DONE")];
  const [failed, notFound, skipped] = [count("FAILED"), count("NOT_FOUND"), count("SKIPPED")];
  return item.steps.map((step) => ({
    name: step.name,
    after: step.after,
    optional: step.optional,
    waiting: waiting(step),
    running: running(step),
    done: done(step),
    failed: failed(step),
    notFound: notFound(step),
    skipped: skipped(step),
  }));
}

const STEPS: Column<ItemStep>[] = [
  { key: "name", title: "Step", isClear: true, cell: (step) => step.name },
  { key: "state", title: "State", isClear: true, cell: (step) => <Pill status={step.state} /> },
  { key: "attempts", title: "Attempts", number: true, cell: (step) => step.attempts },
  {
    key: "took",
    title: "Took",
    number: true,
    cell: (step) =>
      step.startedAt && step.endedAt ? duration((Date.parse(step.endedAt) - Date.parse(step.startedAt)) / 1000) : "",
  },
  { key: "worker", title: "Worker", cell: (step) => step.worker ?? "" },
  { key: "next", title: "Next", cell: (step) => (step.nextAt ? <Time value={step.nextAt} /> : "") },
  { key: "reason", title: "Reason", isClear: true, cell: (step) => step.reason ?? "" },
];

function Json({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <div className={css.section}>
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={css.json} tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  );
}

function ItemActions({ item, isOpen }: { item: Item; isOpen: boolean }) {
  const path = { params: { path: { job_id: item.jobId, item_id: item.id } } };
  const isHeld = item.steps.some((step) => step.state === "HELD");
  const done = () => void queryClient.invalidateQueries();
  const fail = (error: Error) => toast(error.message);
  const steer = useMutation({
    mutationFn: (action: "pause" | "resume" | "cancel") =>
      take(api.POST(`/api/jobs/{job_id}/items/{item_id}/${action}`, path)),
    onSuccess: done,
    onError: fail,
  });
  const again = useMutation({
    mutationFn: () =>
      reprocess(item.jobId, {
        scope: "items",
        itemIds: [item.id],
        statuses: ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"],
      }),
    onSuccess: () => {
      toast("It runs again.");
      done();
    },
    onError: fail,
  });
  useCommands([
    isOpen
      ? {
          id: "item-pause",
          title: isHeld ? "Resume the item" : "Pause the item",
          group: "Item",
          keys: "p",
          run: () => steer.mutate(isHeld ? "resume" : "pause"),
        }
      : { id: "item-again", title: "Run the item again", group: "Item", keys: "r", run: () => again.mutate() },
  ]);
  if (!isOpen) {
    return (
      <Button shortcut="r" busy={again.isPending} onClick={() => again.mutate()}>
        Run again
      </Button>
    );
  }
  return (
    <>
      <Button shortcut="p" busy={steer.isPending} onClick={() => steer.mutate(isHeld ? "resume" : "pause")}>
        {isHeld ? "Resume" : "Pause"}
      </Button>
      <Button look="danger" busy={steer.isPending} onClick={() => steer.mutate("cancel")}>
        Cancel
      </Button>
    </>
  );
}
