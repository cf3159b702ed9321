import { useState } from "react";
import { type Item, type ItemStep, isOpenItem } from "~/api/items";
import { took } from "~/format";
import { spansOf } from "~/graph/item-spans";
import { type StepCounts, StepGraph } from "~/graph/step-graph";
import { Timeline } from "~/graph/timeline-view";
import { type Column, Table } from "~/ui/list";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Skeleton, SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { sentence } from "~/words";
import { Attempts } from "./attempts";
import css from "./items.module.css";

/** An item: why it waits or what failed, its timeline, steps, input and result. */
export function ItemDetail({ item, besideList = false }: { item: Item; besideList?: boolean }) {
  const isOpen = isOpenItem(item);
  const [wasOpen] = useState(isOpen);
  const Heading = besideList ? "h3" : "h2";
  return (
    <>
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
        <Heading>Timeline</Heading>
        <Timeline
          label="Timeline of the item"
          rows={item.steps.map(({ name }) => ({ key: name, name }))}
          spans={spansOf(item, new Date())}
        />
        {item.attemptsCut && <p className="muted">The last 200 attempts are drawn.</p>}
      </div>
      <div className={css.section}>
        <Heading>Steps</Heading>
        {!besideList && <StepGraph label="Steps of the item" steps={countsOfItem(item)} />}
        <Table label="Steps" columns={besideList ? NARROW : STEPS} rows={item.steps} rowKey={(step) => step.name} />
      </div>
      <Json title="Input" value={item.input} Heading={Heading} />
      <Json title="Result" value={item.result} Heading={Heading} />
      <Attempts item={item} Heading={Heading} />
    </>
  );
}

export function LoadingItem() {
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
    cell: (step) => (step.startedAt && step.endedAt ? took(step.startedAt, step.endedAt) : ""),
  },
  { key: "worker", title: "Worker", cell: (step) => step.worker ?? "" },
  { key: "next", title: "Next", cell: (step) => (step.nextAt ? <Time value={step.nextAt} /> : "") },
  { key: "reason", title: "Reason", isClear: true, cell: (step) => step.reason ?? "" },
];

const NARROW = STEPS.filter(({ key }) => key !== "worker" && key !== "next"); // those are on the page of the item

function Json({ title, value, Heading }: { title: string; value: unknown; Heading: "h2" | "h3" }) {
  if (value === null || value === undefined) return null;
  return (
    <div className={css.section}>
      <Heading>{title}</Heading>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={css.json} tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  );
}
