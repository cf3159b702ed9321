import type { Lanes, Overview, OwnerShare, Series } from "~/api/ops";
import { exact } from "~/format";
import type { RiverOwner, RiverStep } from "~/graph/river-view";

const MOST_OWNERS = 12;
const MOST_STEPS = 12;

/** The owners with the most work; the others together. */
export function riverOwners({ owners }: Lanes): RiverOwner[] {
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
  const sum = (count: (owner: OwnerShare) => number) => rest.reduce((total, owner) => total + count(owner), 0);
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
  const minute = lastFullMinute(series);
  const outcomes = new Map(
    series?.points
      .filter((point) => Date.parse(point.minute) === minute)
      .map((point) => [`${point.pipeline}.${point.step}`, point.outcomes]),
  );
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

function lastFullMinute(series: Series | undefined): number {
  return series ? Math.floor(Date.parse(series.at) / 60_000) * 60_000 - 60_000 : 0;
}

/** Who waits, and what share each gets: the fairness in a sentence. */
export function fairnessWords({ owners }: Lanes): string {
  const waiting = owners.filter((owner) => owner.ready + owner.running > 0);
  if (waiting.length === 0) return "No owner has work that could run.";
  const [most, ...rest] = [...waiting].sort((one, other) => other.ready - one.ready);
  const isServed = waiting.some((owner) => owner.servedPerS > 0);
  const words = (owner: OwnerShare) =>
    !isServed
      ? `${owner.owner} has ${exact(owner.ready)} waiting`
      : `${owner.owner} has ${exact(owner.ready)} waiting and gets ${Math.round((owner.share ?? 0) * 100)} % of the workers` +
        (waiting.length > 1 ? ` (${Math.round(owner.fairShare * 100)} % by weight)` : "");
  const least = rest.at(-1);
  const said = [most!, ...(least ? [least] : [])].map(words).join("; ");
  return isServed ? `${said}.` : `${said}. No attempt has ended in the last seconds.`;
}
