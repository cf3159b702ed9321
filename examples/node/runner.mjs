// A runner of a forebay fleet for Node: it runs one step, without access to the database.
//
//   node runner.mjs redis://127.0.0.1:6379 words.count
//
// The messages are those of forebay's broker port, version 1: docs/howto/fleet.md.
import { randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

const [url = "redis://127.0.0.1:6379", step = "words.count", prefix = "forebay"] = process.argv.slice(2);

/** The step: what it returns is the result of the task. `signal` says when it must end, for fetch() and its like. */
async function run(input, signal) {
  signal.throwIfAborted();
  if (typeof input !== "string") throw Object.assign(new Error("the input must be text"), { errorClass: "data" });
  return { words: input.split(/\s+/).filter(Boolean).length, by: "node" };
}

const SLOTS = 4;
const BEAT_MS = 1000;
const FRESH_MS = 1000 * (process.env.FOREBAY_LEASE_FLOOR_S ?? 10); // as for dispatchers
const PAUSE_MS = 500; // after an error of the broker
const GRACE_MS = 20_000; // for running tasks when this process is stopped
const runner = `node-${randomUUID()}`;
const redis = new Redis(url, { maxRetriesPerRequest: null });
const connection = redis.duplicate();
const encoded = (name) => encodeURIComponent(name);
const message = (...parts) => ({ v: 1, m: parts });
const pause = (ms) => new Promise((passed) => setTimeout(passed, ms));
const note = (what) => (error) => console.error(`${what}: ${error.message}`);

const offers = new Worker(`offers-${encoded(step)}`, null, { connection: redis.duplicate(), prefix, autorun: false });
const reports = new Map(); // queues, by dispatcher
const held = new Map(); // offers that have not been reported with their AbortControllers, by id
let stopping = false;

async function work(offer, abort) {
  const timeout = setTimeout(() => abort.abort(new Error(`timed out after ${offer.timeout} s`)), timeoutMs(offer));
  try {
    const ends = await Promise.all(offer.tasks.map((task) => runTask(offer, task, abort.signal)));
    while (held.has(offer.id)) // otherwise it was dropped: it was cancelled, or belongs to another runner now
      try {
        await report(offer, ends);
        held.delete(offer.id);
      } catch (error) {
        note("a report was not sent")(error);
        await pause(PAUSE_MS);
      }
  } finally {
    clearTimeout(timeout);
  }
}

/** Timers of JavaScript have at most 2^31 - 1 ms. */
const timeoutMs = ({ timeout }) => Math.min((timeout ?? Infinity) * 1000, 2 ** 31 - 1);

async function report(offer, ends) {
  if (!reports.has(offer.dispatcher)) {
    const queue = new Queue(`reports-${encoded(offer.dispatcher)}`, { connection, prefix });
    reports.set(offer.dispatcher, queue.on("error", note("Redis")));
  }
  const content = { offer: offer.id, dispatcher: offer.dispatcher, runner, ends };
  const options = { removeOnComplete: true, removeOnFail: true };
  await reports.get(offer.dispatcher).add("reports", message(content), options);
}

async function runTask(offer, task, signal) {
  const began = performance.now();
  const end = (outcome) => ({ token: task.token, n: task.n, seconds: (performance.now() - began) / 1000, outcome });
  const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const call = async () => run(JSON.parse(task.input ?? (await largeInput(offer, task))), signal);
  try {
    const result = await Promise.race([call(), aborted]); // a call that does not listen to the signal ends here, too
    return end({ kind: "done", result: JSON.stringify(result), writes: [] });
  } catch (error) {
    if (error === RELEASED) return end({ kind: "released", reason: error.message });
    return end({ kind: "error", class: error.errorClass ?? "transient", reason: error.message, writes: [] });
  }
}

const RELEASED = new Error("the runner stops");

/** An input of more than 64 KB is not in the offer: its dispatcher sends it. */
async function largeInput(offer, { token, n }) {
  const reply = `${prefix}:reply:${randomUUID()}`;
  const asked = JSON.stringify(message({ offer: offer.id, token, n }));
  await connection.publish(`${prefix}:inputs:${encoded(offer.dispatcher)}`, `${reply} ${asked}`);
  const waiting = redis.duplicate();
  try {
    const [, answer] = (await waiting.blpop(reply, 5)) ?? [];
    if (!answer) throw new Error("the dispatcher has not sent the input");
    return JSON.parse(answer).m[0].input;
  } finally {
    waiting.disconnect();
  }
}

/** A sign of life with the slots and the offers in hand: without it, the tasks of this runner go to others. */
async function beat(isLast = false) {
  const mine = [...held.values()].map(({ offer: { id, dispatcher, tasks } }) => ({ id, dispatcher, tokens: tasks.map((t) => t.token) }));
  const slots = { [step]: stopping ? 0 : SLOTS };
  const said = JSON.stringify(message({ sender: runner, slots, held: mine, is_last: isLast }));
  await connection.publish(`${prefix}:beats`, said).catch(note("a beat was not sent"));
}

async function take() {
  for (let taken = 0; !stopping; taken++) {
    while (held.size >= SLOTS) await pause(5);
    try {
      await accept(await next(`${runner}:${taken}`));
    } catch (error) {
      note("no offers were taken")(error);
      await pause(PAUSE_MS);
    }
  }
}

async function next(token) {
  const job = await offers.getNextJob(token);
  if (!job) return []; // it has waited for some seconds
  await job.moveToCompleted("", token, false); // it has left the broker: only PostgreSQL gives a task out again
  const [seconds] = await connection.time(); // that of Redis, as the time of the job
  if (seconds * 1000 - job.timestamp > FRESH_MS) return []; // it is, or will be, in another offer
  return job.data.v === 1 ? job.data.m : [];
}

async function accept(taken) {
  const begun = [];
  for (const offer of taken.filter(({ id }) => !held.has(id))) {
    begun.push({ offer, abort: new AbortController() });
    held.set(offer.id, begun.at(-1));
  }
  if (begun.length) await beat(); // first, so that a dispatcher knows who had a task if it kills this process
  for (const { offer, abort } of begun) work(offer, abort).catch(note("an offer has failed"));
}

async function stop() {
  stopping = true;
  const grace = setTimeout(() => held.forEach(({ abort }) => abort.abort(RELEASED)), GRACE_MS);
  while (held.size > 0) await pause(20);
  clearTimeout(grace);
  await beat(true);
  process.exit(0);
}

function drop(id) {
  const dropped = held.get(id);
  held.delete(id);
  dropped?.abort.abort(new Error("the task was cancelled, or belongs to another runner now"));
}

const tells = redis.duplicate();
tells.on("message", (_, text) => {
  try {
    for (const { offers: gone } of JSON.parse(text).m) gone.forEach(drop);
  } catch (error) {
    note("a message was not understood")(error);
  }
});
for (const client of [redis, connection, tells, offers]) client.on("error", note("Redis"));
await tells.subscribe(`${prefix}:tells:${encoded(runner)}`);
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
await beat();
setInterval(beat, BEAT_MS);
console.log(`${runner} runs ${step}`);
await take();
