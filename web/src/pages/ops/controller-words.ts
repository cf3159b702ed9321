import type { StepController } from "~/api/ops";
import { duration, short } from "~/format";
import { percent } from "./worker-words";

type Controlled = StepController["concurrency"];

/** Limits and claim sizes are means or sums of whole numbers. */
export function whole(value: number): string {
  return short(Math.round(value));
}

/** "of 1 to 64", and whether the value is at a bound. */
export function boundsWords({ value, least, most }: Controlled, shown: (value: number) => string): string {
  if (least === null || most === null) return "";
  if (least === most) return "fixed";
  const at = value === null ? "" : value >= most ? ", the most" : value <= least ? ", the least" : "";
  return `of ${shown(least)} to ${shown(most)}${at}`;
}

/** What the values follow from, each in a sentence. */
export function inputsWords({ inputs, concurrency, running }: StepController): string[] {
  const { latencyMs, itemMs, failureShare, retrySpacing, machineShare, heartbeatGapS } = inputs;
  const words: string[] = [];
  if (latencyMs === null) words.push("No attempt has succeeded yet: the first values are guesses.");
  else {
    const isFull = concurrency.value !== null && running >= Math.floor(concurrency.value);
    words.push(
      `Successful attempts take ${duration(latencyMs / 1000)}; slower ones lower the concurrency` +
        `${isFull ? ", and all places are in use" : ""}.`,
    );
  }
  if (itemMs !== null)
    words.push(`An item takes ${duration(itemMs / 1000)}: a claim is what the places do in a moment.`);
  if (retrySpacing > 1)
    words.push(
      `${percent(failureShare)} of the last attempts failed: pauses before retries are ${retrySpacing.toFixed(1)} times as long.`,
    );
  else if (failureShare > 0) words.push(`${percent(failureShare)} of the last attempts failed.`);
  if (machineShare !== null && machineShare < 1)
    words.push(`The busiest machine claims ${percent(machineShare)} of the usual.`);
  if (heartbeatGapS !== null)
    words.push(`Heartbeats came at most ${duration(heartbeatGapS)} apart: a lease lasts at least twice that.`);
  return words;
}
