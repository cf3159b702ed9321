import { exact, rate, short } from "~/format";
import { classes } from "~/ui/classes";
import { Shape } from "~/ui/shape";
import { STATUSES, type StatusName, statusWord, type Tone } from "~/words";
import { type Band, flow, parts, stacked } from "./river";
import css from "./river.module.css";

export interface RiverOwner {
  name: string;
  waiting: number;
  perSecond: number;
  share: number;
  /** The share that the weight gives; null for several owners together. */
  fairShare: number | null;
}

export interface RiverStep {
  name: string;
  waiting: number;
  running: number;
  /** Attempts of a minute by outcome. */
  outcomes: Record<string, number>;
  held?: "paused" | "needs set-up" | undefined;
}

const WIDTH = 1120;
const TOP = 28;
const LANE = { labels: 0, pool: 176, from: 208, to: 400 };
const GATE = 12;
const STEP = { x: 520, width: 300, least: 40 };
const OUT = { x: 960, width: 10 };
const ROW = 46; // room for a name and a line below it

interface RiverProps {
  owners: RiverOwner[];
  steps: RiverStep[];
  /** When the attempts of the steps ended: "in the last minute". */
  when: string;
}

/** Owners → the workers → steps → outcomes. Widths are shares of what flows; pools are what waits. */
export function River({ owners, steps, when }: RiverProps) {
  const outcomes = [...new Set(steps.flatMap((step) => Object.keys(step.outcomes)))];
  const height = Math.max(180, ROW * Math.max(owners.length, steps.length, outcomes.length) + 40);
  const lanes = rows(
    owners.map((owner) => owner.perSecond),
    height,
  );
  const stepRates = steps.map((step) => sum(Object.values(step.outcomes)));
  const stepBands = rows(stepRates, height);
  const outRates = outcomes.map((outcome) => sum(steps.map((step) => step.outcomes[outcome] ?? 0)));
  const outBands = rows(outRates, height);
  const gate: Band = { y: height * 0.2, height: height * 0.6 };
  const whole = sum(lanes.map((band) => band.height)); // what all of the workers would be
  const most = Math.max(1, ...owners.map((owner) => owner.waiting));
  const intoGate = parts(
    gate,
    owners.map((owner) => owner.perSecond),
  );
  const fromGate = parts(gate, stepRates);
  return (
    <figure className={css.river} aria-label="The river: owners, steps and outcomes. The tables have the same numbers.">
      <svg viewBox={`0 0 ${WIDTH} ${height + TOP + 8}`} aria-hidden="true">
        <text className={css.head} x={0} y={12}>
          Owners: what waits, and their share
        </text>
        <text className={css.head} x={STEP.x} y={12}>
          Steps, {when}
        </text>
        <text className={css.head} x={OUT.x} y={12}>
          Outcomes
        </text>
        <g transform={`translate(0 ${TOP})`}>
          {owners.map((owner, index) => (
            <g key={owner.name}>
              <Lane owner={owner} band={lanes[index]!} most={most} whole={whole} />
              {owner.perSecond > 0 && (
                <path className={css.water} d={flow(LANE.from, lanes[index]!, LANE.to, intoGate[index]!)} />
              )}
            </g>
          ))}
          <rect className={css.gate} x={LANE.to} y={gate.y} width={GATE} height={gate.height} rx={2} />
          <text className={css.head} x={LANE.to + GATE / 2} y={gate.y + gate.height + 18} textAnchor="middle">
            workers
          </text>
          {steps.map((step, index) => {
            const band = stepBands[index]!;
            const values = outcomes.map((outcome) => step.outcomes[outcome] ?? 0);
            const within = parts(band, values);
            return (
              <g key={step.name}>
                {stepRates[index]! > 0 && (
                  <path className={css.water} d={flow(LANE.to + GATE, fromGate[index]!, STEP.x, band)} />
                )}
                {outcomes.map(
                  (outcome, each) =>
                    values[each]! > 0 && (
                      <path
                        key={outcome}
                        className={classes(css[toneOf(outcome)], css.out)}
                        d={flow(
                          STEP.x + STEP.width,
                          within[each]!,
                          OUT.x,
                          parts(
                            outBands[each]!,
                            steps.map((one) => one.outcomes[outcome] ?? 0),
                          )[index]!,
                        )}
                      />
                    ),
                )}
                <Step step={step} band={band} perSecond={stepRates[index]! / 60} />
              </g>
            );
          })}
          {outcomes.length === 0 && (
            <text className={css.side} x={OUT.x} y={height / 2}>
              none {when}
            </text>
          )}
          {outcomes.map((outcome, index) => (
            <g key={outcome}>
              <rect
                className={css[toneOf(outcome)]}
                x={OUT.x}
                y={outBands[index]!.y}
                width={OUT.width}
                height={outBands[index]!.height}
              />
              <text className={css.name} x={OUT.x + 20} y={middle(outBands[index]!) - 2}>
                {statusWord(outcome)}
              </text>
              <text className={css.side} x={OUT.x + 20} y={middle(outBands[index]!) + 14}>
                {rate(outRates[index]! / 60)}
              </text>
            </g>
          ))}
        </g>
      </svg>
    </figure>
  );
}

/** An owner: what waits as a pool at the source, then the stream, with a mark where its fair share would end. */
function Lane({ owner, band, most, whole }: { owner: RiverOwner; band: Band; most: number; whole: number }) {
  const full = owner.waiting > 0 ? Math.max(0.08, Math.log1p(owner.waiting) / Math.log1p(most)) : 0;
  const at = middle(band);
  const fair = owner.fairShare === null || owner.perSecond === 0 ? 0 : owner.fairShare * whole;
  return (
    <g>
      <text className={css.name} x={LANE.labels} y={at - 2}>
        {cut(owner.name)}
      </text>
      <text className={css.side} x={LANE.labels} y={at + 14}>
        {owner.perSecond > 0 ? `${rate(owner.perSecond)}, ${Math.round(owner.share * 100)} %` : "nothing served"}
        {owner.fairShare !== null && ` (fair ${Math.round(owner.fairShare * 100)} %)`}
      </text>
      <g>
        <title>{exact(owner.waiting)} waiting</title>
        <rect className={css.basin} x={LANE.pool} y={at - 14} width={24} height={28} rx={3} />
        <rect className={css.pool} x={LANE.pool} y={at + 14 - 28 * full} width={24} height={28 * full} rx={3} />
      </g>
      <rect
        className={owner.perSecond > 0 ? css.step : css.still}
        x={LANE.from - 4}
        y={band.y}
        width={4}
        height={band.height}
      />
      {fair > 0 && (
        <path
          className={css.fair}
          d={`M${LANE.from + 3} ${at - fair / 2}h6M${LANE.from + 3} ${at + fair / 2}h6`}
          fill="none"
        />
      )}
      <text className={css.side} x={LANE.pool + 12} y={at + 27} textAnchor="middle">
        {short(owner.waiting)}
      </text>
    </g>
  );
}

/** A step: a box with its words, which the flows end at and begin from, so that no word stands on water. */
function Step({ step, band, perSecond }: { step: RiverStep; band: Band; perSecond: number }) {
  const at = middle(band);
  const height = Math.max(STEP.least, band.height);
  return (
    <g>
      <rect
        className={perSecond > 0 ? css.box : css.idle}
        x={STEP.x}
        y={at - height / 2}
        width={STEP.width}
        height={height}
        rx={4}
      />
      {perSecond > 0 && <rect className={css.step} x={STEP.x} y={band.y} width={4} height={band.height} />}
      <text className={css.name} x={STEP.x + 16} y={at - 2}>
        {cut(step.name, 30)}
      </text>
      <text className={css.side} x={STEP.x + 16} y={at + 14}>
        {perSecond > 0 && `${rate(perSecond)}, `}
        {short(step.waiting)} waiting, {step.held ?? `${short(step.running)} running`}
      </text>
      {step.held && (
        <g className={css.dam} transform={`translate(${STEP.x + STEP.width - 26} ${at - 7})`}>
          <Shape name={step.held === "paused" ? "bars" : "wrench"} size={14} />
        </g>
      )}
    </g>
  );
}

/** Bands with room for the words of each, also where hardly anything flows; what is left is spread between them. */
function rows(values: number[], height: number): Band[] {
  const words = ROW - 3;
  const free = Math.max(0, height - words * values.length);
  const bands = stacked(values, free + 3 * values.length, 0);
  const rooms = bands.map((band) => Math.max(words, band.height + words - 3));
  const between = Math.max(0, height - sum(rooms)) / Math.max(1, values.length);
  let y = between / 2;
  return bands.map((band, index) => {
    const placed = { y: y + (rooms[index]! - band.height) / 2, height: band.height };
    y += rooms[index]! + between;
    return placed;
  });
}

function middle(band: Band): number {
  return band.y + band.height / 2;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function cut(name: string, most = 22): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function toneOf(outcome: string): Tone {
  return outcome in STATUSES ? STATUSES[outcome as StatusName].tone : "wait";
}
