import type { ReactNode } from "react";
import { exact, rate } from "~/format";
import { Amount } from "~/ui/amount";
import { classes } from "~/ui/classes";
import { Shape } from "~/ui/shape";
import { layout, type Placed } from "./layout";
import css from "./step-graph.module.css";

/** One step with its counts, of a job, a pipeline or (as 0 and 1) an item. */
export interface StepCounts {
  name: string;
  after: string[];
  optional?: boolean;
  afterAll?: boolean;
  paused?: boolean;
  parked?: string | null;
  waiting: number;
  running: number;
  /** How many may run at once, if known. */
  limit?: number | null;
  done: number;
  failed: number;
  notFound?: number;
  skipped: number;
  /** Tasks that ended per second, during the last minute. */
  perSecond?: number;
  /** Tasks that came per second, during the last minute. */
  perSecondIn?: number;
  /** Its pace is measured, or will be: there is a line for it. */
  isPaced?: boolean;
  /** False: counts of ended tasks are derived, not counted. */
  exact?: boolean;
}

interface StepGraphProps {
  label: string;
  steps: StepCounts[];
  /** What a press on a step opens. */
  link?: (step: StepCounts, inside: ReactNode, className: string) => ReactNode;
}

const WIDTH = 208;
const HEIGHT = 100;
const GAP_X = 64;
const GAP_Y = 20;

/** The steps of a pipeline with what waits, runs and has ended. Narrow screens and screen readers get a list. */
export function StepGraph({ label, steps, link }: StepGraphProps) {
  const { placed, edges, columns, rows } = layout(steps);
  const width = columns * WIDTH + Math.max(0, columns - 1) * GAP_X;
  const height = rows * HEIGHT + Math.max(0, rows - 1) * GAP_Y;
  const most = Math.max(1, ...steps.map((step) => step.waiting));
  return (
    <figure className={css.figure} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={css.scroller} tabIndex={0} role="group" aria-label={label}>
        <div className={css.canvas} style={{ width, height }}>
          <svg className={css.edges} width={width} height={height} aria-hidden="true">
            {edges.map(({ from, to }) => (
              <Edge key={`${from.vertex.name} ${to.vertex.name}`} from={from} to={to} />
            ))}
          </svg>
          {placed.map((each) => {
            const className = classes(
              css.node,
              each.vertex.optional && css.optional,
              isHeldUp(each.vertex) && css.held,
            );
            const inside = <Node step={each.vertex} most={most} />;
            return (
              <div key={each.vertex.name} className={css.place} style={{ left: x(each), top: y(each) }}>
                {link ? link(each.vertex, inside, className) : <div className={className}>{inside}</div>}
              </div>
            );
          })}
        </div>
      </div>
      <ol className={css.list}>
        {steps.map((step) => {
          const inside = <Node step={step} most={most} />;
          const className = classes(css.node, step.optional && css.optional, isHeldUp(step) && css.held);
          return (
            <li key={step.name}>
              {link ? link(step, inside, className) : <div className={className}>{inside}</div>}
              {step.after.length > 0 ? (
                <span className={css.after}>after {step.after.join(", ")}</span>
              ) : (
                step.afterAll && <span className={css.after}>after all items</span>
              )}
            </li>
          );
        })}
      </ol>
    </figure>
  );
}

function isHeldUp(step: StepCounts): boolean {
  return Boolean(step.paused || step.parked);
}

const x = (each: Placed<StepCounts>) => each.column * (WIDTH + GAP_X);
const y = (each: Placed<StepCounts>) => each.row * (HEIGHT + GAP_Y);

/** A line whose width is the rate of the step that it leads from. */
function Edge({ from, to }: { from: Placed<StepCounts>; to: Placed<StepCounts> }) {
  const [x1, y1] = [x(from) + WIDTH, y(from) + HEIGHT / 2];
  const [x2, y2] = [x(to), y(to) + HEIGHT / 2];
  const bend = Math.max(GAP_X / 2, (x2 - x1) / 2);
  const path = `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  const flow = from.vertex.perSecond ?? 0;
  return (
    <g>
      <path d={path} className={css.edge} strokeWidth={1.5 + Math.min(5, Math.log10(1 + flow * 10))} />
      {flow > 0 && <path d={path} className={css.flow} />}
      {to.vertex.afterAll && <line className={css.gate} x1={x2 - 6} x2={x2 - 6} y1={y2 - 12} y2={y2 + 12} />}
      {flow > 0 && (
        <text className={css.rate} x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 8}>
          {rate(flow)}
        </text>
      )}
    </g>
  );
}

function Node({ step, most }: { step: StepCounts; most: number }) {
  const full = step.waiting > 0 ? Math.max(0.06, Math.log1p(step.waiting) / Math.log1p(most)) : 0;
  return (
    <>
      <span className={css.basin} aria-hidden="true">
        <span className={css.level} style={{ transform: `scaleY(${full})` }} />
      </span>
      <span className={css.text}>
        <span className={css.name}>
          <span className="cut">{step.name}</span>
          {step.paused && <Badge shape="bars" tone="pause" word="paused" />}
          {step.parked && <Badge shape="wrench" tone="error" word="needs set-up" />}
        </span>
        <span className={css.open}>
          <Count value={step.waiting} word="waiting" />
          <span className={step.running > 0 ? css.running : undefined}>
            {exact(step.running)}
            {step.limit ? ` of ${step.limit}` : ""} running
          </span>
        </span>
        <span className={css.ended}>
          <span title={step.exact === false ? "derived from the counts of other steps" : undefined}>
            {step.exact === false && "about "}
            <Amount value={step.done} /> done
          </span>
          {step.failed > 0 && (
            <span className={css.failed}>
              <Amount value={step.failed} /> failed
            </span>
          )}
          {(step.notFound ?? 0) > 0 && (
            <span className={css.notFound}>
              <Amount value={step.notFound!} /> not found
            </span>
          )}
          {step.skipped > 0 && <Count value={step.skipped} word="skipped" />}
        </span>
        {step.isPaced && <PaceLine step={step} />}
      </span>
    </>
  );
}

/** Tasks in and out per second. Its line is there before they are known: nothing moves when they are. */
function PaceLine({ step: { perSecondIn, perSecond } }: { step: StepCounts }) {
  return (
    <span className={css.open}>
      {perSecond === undefined ? (
        "\u00a0"
      ) : (
        <>
          {perSecondIn !== undefined && <span>{rate(perSecondIn)} in</span>}
          <span className={perSecond > 0 ? css.running : undefined}>{rate(perSecond)} out</span>
        </>
      )}
    </span>
  );
}

function Count({ value, word }: { value: number; word: string }) {
  return (
    <span>
      <Amount value={value} /> {word}
    </span>
  );
}

function Badge({ shape, tone, word }: { shape: "bars" | "wrench"; tone: "pause" | "error"; word: string }) {
  return (
    <span className={classes(css.badge, css[tone])} title={word}>
      <Shape name={shape} size={12} />
      <span className="only-heard">{word}</span>
    </span>
  );
}
