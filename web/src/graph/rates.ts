import { useEffect, useReducer, useRef } from "react";
import type { StepCounts } from "./step-graph";

const WINDOW_MS = 60_000;
const LOOK_MS = 5000;

type Counted = StepCounts & { scheduled?: number; onHold?: number };

/** How many tasks of each step had come and had ended at a time. */
export interface Sample {
  at: number;
  steps: Map<string, { come: number; ended: number }>;
}

export interface Pace {
  /** Tasks that came to the step per second, and that ended there, during the last minute. */
  perSecondIn: number;
  perSecond: number;
}

export function sampleOf(steps: Counted[], at: number): Sample {
  return {
    at,
    steps: new Map(
      steps.map(({ name, waiting, scheduled = 0, running, onHold = 0, done, failed, notFound = 0 }) => {
        const ended = done + failed + notFound;
        // What is skipped never came.
        return [name, { come: waiting + scheduled + running + onHold + ended, ended }];
      }),
    ),
  };
}

/** The samples of the last minute, and the one before them: what it has is what there was at the begin of the minute. */
export function kept(samples: Sample[], now: number): Sample[] {
  const first = samples.findLastIndex(({ at }) => at <= now - WINDOW_MS);
  return first > 0 ? samples.slice(first) : samples;
}

/** The pace of each step; nothing is known before there are two samples, or a minute without another. Nothing has changed
 * since the last one. */
export function pacesOf(samples: Sample[], now: number): Map<string, Pace> {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || (first === last && now - first.at < WINDOW_MS)) return new Map();
  const seconds = Math.max(1, Math.min(WINDOW_MS, now - first.at) / 1000);
  const perSecond = (from: number, to: number) => Math.max(0, to - from) / seconds; // items that run again take numbers back
  return new Map(
    [...last.steps].map(([name, { come, ended }]) => {
      const before = first.steps.get(name) ?? { come: 0, ended: 0 };
      return [name, { perSecondIn: perSecond(before.come, come), perSecond: perSecond(before.ended, ended) }];
    }),
  );
}

/** Steps with their pace, measured from one answer of the server to the next while the page is open. */
export function usePaced<T extends Counted>(
  steps: T[] | undefined,
  answeredAt: number,
  isOpen: boolean,
): T[] | undefined {
  const samples = useRef<Sample[]>([]);
  const wasOpen = useRef(false);
  const [, look] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => document.hidden || look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [isOpen]);
  if (steps && samples.current.at(-1)?.at !== answeredAt) samples.current.push(sampleOf(steps, answeredAt));
  if (isOpen) wasOpen.current = true;
  if (!steps || !wasOpen.current) return steps;
  if (!isOpen) return steps.map((step) => ({ ...step, isPaced: true })); // its line stays: nothing moves
  const now = Math.max(Date.now(), answeredAt);
  samples.current = kept(samples.current, now);
  const paces = pacesOf(samples.current, now);
  return steps.map((step) => ({ ...step, isPaced: true, ...paces.get(step.name) }));
}
