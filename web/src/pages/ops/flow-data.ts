import type { DepthSeries, Overview, OwnerSeriesList, OwnerShare, Series } from "~/api/ops";
import { exact } from "~/format";
import type { RiverOwner, RiverStep } from "~/graph/river-view";

const MOST_OWNERS = 12;
const MOST_STEPS = 12;
const MINUTE_MS = 60_000;

/** What an owner had and got at some time; the weight of then is not known. */
export type Share = Omit<OwnerShare, "weight">;

/** The owners with the most work; the others together. */
export function riverOwners(owners: Share[]): RiverOwner[] {
  const sorted = [...owners].sort((one, other) => other.servedPerS - one.servedPerS || other.ready - one.ready);
  const shown = sorted.slice(0, MOST_OWNERS).map((owner) => ({
    name: owner.owner,
    waiting: owner.ready,
    perSecond: owner.servedPerS,
    share: owner.share ?? 0,
    fairShare: owner.fairShare,
  }));
  const rest = sorted.slice(MOST_OWNERS);
  if (rest.length === 0) return shown;
  const sum = (count: (owner: Share) => number) => rest.reduce((total, owner) => total + count(owner), 0);
  const others = {
    name: `${exact(rest.length)} others`,
    waiting: sum((owner) => owner.ready),
    perSecond: sum((owner) => owner.servedPerS),
    share: sum((owner) => owner.share ?? 0),
    fairShare: null,
  };
  return [...shown, others];
}

/** The steps with work or attempts, of one pipeline or of all, and their outcomes in the last full minute. */
export function riverSteps({ steps }: Overview, series: Series | undefined, pipeline: string | undefined): RiverStep[] {
  const outcomes = outcomesOf(series, lastFullMinute(series));
  return steps
    .filter((step) => !pipeline || step.pipeline === pipeline)
    .map((step) => ({
      name: pipeline ? step.step : `${step.pipeline}.${step.step}`,
      waiting: step.ready + step.scheduled,
      running: step.processing,
      outcomes: outcomes.get(`${step.pipeline}.${step.step}`) ?? {},
      held: step.parked ? ("needs set-up" as const) : step.paused ? ("paused" as const) : undefined,
    }))
    .filter((step) => pipeline || step.held || step.waiting + step.running + Object.keys(step.outcomes).length > 0)
    .slice(0, MOST_STEPS);
}

/** The same for a minute that has passed; what was paused then is not known. */
export function stepsAt(minute: number, series: Series, depth: DepthSeries, pipeline: string | undefined): RiverStep[] {
  const outcomes = outcomesOf(series, minute);
  const sample = depth.at.findLastIndex((at) => Date.parse(at) < minute + MINUTE_MS);
  const isThen = sample >= 0 && Date.parse(depth.at[sample]!) >= minute - MINUTE_MS;
  const depths = new Map(isThen ? depth.steps.map((step) => [`${step.pipeline}.${step.step}`, step]) : []);
  return [...new Set([...outcomes.keys(), ...depths.keys()])]
    .sort()
    .filter((name) => !pipeline || name.startsWith(`${pipeline}.`))
    .map((name) => {
      const found = depths.get(name);
      return {
        name: pipeline ? name.slice(pipeline.length + 1) : name,
        waiting: found ? found.ready[sample]! + found.scheduled[sample]! : 0,
        running: found?.processing[sample] ?? 0,
        outcomes: outcomes.get(name) ?? {},
      };
    })
    .filter((step) => step.waiting + step.running + Object.keys(step.outcomes).length > 0)
    .slice(0, MOST_STEPS);
}

/** The owners with work in a minute, and their parts of what was done. */
export function sharesAt(minute: number, { minutes, owners }: OwnerSeriesList): Share[] {
  const index = minutes.findIndex((at) => Date.parse(at) === minute);
  if (index < 0) return [];
  const total = owners.reduce((sum, owner) => sum + owner.attemptsPerS[index]!, 0);
  return owners
    .filter((owner) => owner.fairShare[index] !== null)
    .map((owner) => ({
      owner: owner.owner,
      ready: owner.ready[index]!,
      running: owner.running[index]!,
      servedPerS: owner.attemptsPerS[index]!,
      share: total > 0 ? owner.attemptsPerS[index]! / total : null,
      fairShare: owner.fairShare[index]!,
    }));
}

/** The minutes of the last hour until the last full one, the oldest first. */
export function lastMinutes(now: number): number[] {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  return Array.from({ length: 60 }, (_, index) => last - (59 - index) * MINUTE_MS);
}

function outcomesOf(series: Series | undefined, minute: number): Map<string, Record<string, number>> {
  return new Map(
    series?.points
      .filter((point) => Date.parse(point.minute) === minute)
      .map((point) => [`${point.pipeline}.${point.step}`, point.outcomes]),
  );
}

function lastFullMinute(series: Series | undefined): number {
  return series ? Math.floor(Date.parse(series.at) / MINUTE_MS) * MINUTE_MS - MINUTE_MS : 0;
}

const TENSES = {
  now: {
    has: "has",
    gets: "gets",
    no: "No owner has work that could run.",
    none: "No attempt has ended in the last seconds.",
  },
  past: { has: "had", gets: "got", no: "No owner had work that could run.", none: "No attempt ended in that minute." },
};

/** Who waits, and what share each gets: the fairness in a sentence. */
export function fairnessWords(owners: Share[], tense: keyof typeof TENSES = "now"): string {
  const { has, gets, no, none } = TENSES[tense];
  const waiting = owners.filter((owner) => owner.ready + owner.running > 0);
  if (waiting.length === 0) return no;
  const [most, ...rest] = [...waiting].sort((one, other) => other.ready - one.ready);
  const isServed = waiting.some((owner) => owner.servedPerS > 0);
  const words = (owner: Share) =>
    !isServed
      ? `${owner.owner} ${has} ${exact(owner.ready)} waiting`
      : `${owner.owner} ${has} ${exact(owner.ready)} waiting and ${gets} ${Math.round((owner.share ?? 0) * 100)} % of the workers` +
        (waiting.length > 1 ? ` (${Math.round(owner.fairShare * 100)} % by weight)` : "");
  const least = rest.at(-1);
  const said = [most!, ...(least ? [least] : [])].map(words).join("; ");
  return isServed ? `${said}.` : `${said}. ${none}`;
}
