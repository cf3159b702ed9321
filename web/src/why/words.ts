import type { Schema } from "~/api/client";
import { duration, exact } from "~/format";
import { plural, sentence, stopped } from "~/words";

export type Why = Schema<"Why">;
export type Reason = Schema<"WhyReason">;
export type Action = Reason["actions"][number];
type Facts = Schema<"Facts">;
type Say = (facts: Facts, time: Times) => string;

/** The times of a reason in words, relative to when the server looked. */
interface Times {
  ago: string;
  lasting: string;
  in: string;
}

/** A reason as a sentence. `withStep`: it begins with the step's name, as that is written. */
export function say(reason: Reason, at: string, withStep = true): string {
  const text = WORDS[reason.code]?.(reason.facts, timesOf(reason, at)) ?? reason.code.replaceAll("_", " ");
  const { tasks, tasksExact } = reason.facts;
  const count = tasks && tasks > 1 ? ` (${many(tasks, tasksExact)})` : "";
  return withStep && reason.step ? stopped(`${reason.step}: ${text}${count}`) : sentence(`${text}${count}`);
}

/** The command that helps, if there is no button for it. */
export function hint(reason: Reason): string | undefined {
  const { queue } = reason.facts;
  if (reason.code === "no_worker" && queue) return `forebay worker --queues ${queue}`;
  if (reason.code === "version_unserved") return "forebay pipelines";
  return undefined;
}

export const ACTIONS: Record<Action, string> = {
  resume_job: "Resume the job",
  start_item: "Start it now",
  resume_item: "Resume the item",
  cancel_item: "Cancel the item",
  cancel_job: "Cancel the job",
  resume_queue: "Resume the queue",
  send_signal: "Send the signal",
  kickoff: "Run it here",
};

function timesOf(reason: Reason, at: string): Times {
  const since = reason.since === null ? null : seconds(reason.since, at);
  const left = reason.until === null ? null : seconds(at, reason.until);
  return {
    ago: since === null ? "" : since < 1 ? " just now" : ` ${duration(since)} ago`,
    lasting: since === null ? "" : ` for ${duration(Math.max(0, since))}`,
    in: left === null ? "" : left <= 0 ? " now" : ` in ${duration(left)}`,
  };
}

function seconds(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

function many(count: number, isExact: boolean | null | undefined): string {
  return `${isExact === false ? "more than " : ""}${plural(count, "task")}`;
}

const percent = (share: number | null | undefined) => `${Math.round(100 * (share ?? 0))} %`;
const attempt = (facts: Facts) => `attempt ${facts.attempt} of ${facts.maxAttempts}`;
const named = (facts: Facts) => (facts.key ? `${facts.limit} of ${facts.key}` : `${facts.limit}`);
const line = (facts: Facts) =>
  (facts.ahead ? `, ${exact(facts.ahead)} before it` : "") +
  (facts.owners ? `, ${plural(facts.owners, "other owner")} in turn` : "");

const paused =
  (what: string): Say =>
  (facts, time) =>
    `the ${what}${facts.queue ? ` ${facts.queue}` : ""} was paused${facts.by ? ` by ${facts.by}` : ""}${time.ago}`;

const again =
  (verb: string, counts = false): Say =>
  (facts, time) =>
    `${verb}${time.ago}${facts.reason ? `: ${facts.reason}` : ""}; it is tried again${time.in}` +
    (counts ? ` (${attempt(facts)})` : "");

export const WORDS: Record<Reason["code"], Say> = {
  running: (facts, time) =>
    `running on ${facts.worker}${time.lasting} (${attempt(facts)})` +
    (facts.fraction == null ? "" : `, ${percent(facts.fraction)}`) +
    (facts.note ? `: ${facts.note}` : ""),
  claimed: (facts, time) =>
    `at ${facts.worker}${time.lasting}, not begun: ${plural(facts.queued ?? 0, "claimed task")} wait there, ` +
    `${facts.running} of ${facts.slots} slots run`,
  settling: (facts, time) => `${facts.worker} took it${time.ago}; it has ended, and its result is being saved`,
  batch_lingers: (facts) =>
    `waits at ${facts.worker} until a batch of ${facts.batch} is full (${facts.queued} so far), ` +
    `at most ${duration(facts.lingerSeconds ?? 0)}`,
  worker_lost: (facts, time) =>
    `${facts.worker ?? "its worker"} is lost; it starts again when the lease ends${time.in}`,
  cancelling: () => "being cancelled",
  job_paused: paused("job"),
  item_held: paused("item"),
  queue_paused: paused("queue"),
  parked: (facts, time) => `queue ${facts.queue} needs set-up: ${facts.reason}; it is tried again${time.in}`,
  version_unserved: (facts, time) => `no worker runs version ${facts.version} of the pipeline${time.lasting}`,
  no_worker: (facts) => `no running worker serves queue ${facts.queue}`,
  waits_for_signal: (facts, time) =>
    `waits for the signal ${facts.signal} with key ${facts.key}${time.in && `; the wait ends${time.in}`}`,
  retry: again("failed", true),
  throttled: again("a remote service asked for patience"),
  limit_reached: again("reached a limit"),
  snoozed: again("asked to come back later"),
  later: (_facts, time) => `submitted to start${time.in}`,
  due: (facts, time) =>
    `was due${time.ago} and is not in line yet${facts.leader ? "" : ": no worker runs the maintenance"}`,
  owner_limit: (facts) =>
    `its owner may run ${facts.slots ? plural(facts.slots, "task") : "a limited number of tasks"} at a time${line(facts)}`,
  slots_full: (facts) => `limit ${named(facts)}: ${facts.slots} at a time, ${facts.inUse} in use${line(facts)}`,
  rate_limited: (facts, time) =>
    `limit ${named(facts)}: ${facts.rate == null ? "its rate" : `${facts.rate} per ${duration(facts.perSeconds ?? 1)}`}, ` +
    `the next start is${time.in || " open"}${line(facts)}`,
  machine_busy: (facts) =>
    facts.heldSeconds
      ? `workers start nothing for ${duration(facts.heldSeconds)}, after an error of their machine`
      : `workers take ${percent(facts.share)} of the usual number: their machine is busy (load ${facts.load} per core, ` +
        `${percent(facts.freeMemory)} of memory free)`,
  outranked: (facts) => `comes after ${many(facts.higher ?? 0, facts.higherExact)} of a higher priority`,
  behind: (facts) =>
    `in line behind ${facts.ahead == null ? "many tasks" : many(facts.ahead, facts.aheadExact)} of the same owner` +
    (facts.owners ? `, who gets ${percent(facts.share)} beside ${plural(facts.owners, "other owner")}` : "") +
    (facts.seconds == null ? "" : `, about ${duration(facts.seconds)}`),
  workers_full: (facts) =>
    `all slots are in use (${facts.running} of ${facts.slots} on ${plural(facts.workers ?? 0, "worker")})` +
    (facts.itemMs == null ? "" : `; a task takes about ${duration(facts.itemMs / 1000)}`),
  stuck: (facts) => `worker ${facts.worker} has ended nothing for 5 minutes while work waits`,
  unknown: () => "nothing holds it back: it should start within a second",
  blocked_by_step: (facts) => `waits for ${(facts.needs ?? []).join(" and ")}`,
  blocked_by_items: (facts) =>
    `waits until all items have ended: ${exact(facts.left ?? 0)} of ${exact(facts.items ?? 0)} are left` +
    (facts.sealed ? "" : ", and more are being added"),
  filling: (facts) => `items are still being added: ${exact(facts.items ?? 0)} so far`,
};
