// A runner of a forebay fleet for Node: it runs one step, without access to the database.
//
//   node runner.mjs redis://127.0.0.1:6379 words.count
//
// The messages are those of forebay's broker port, version 1: docs/howto/fleet.md.
import { randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

const [url = "redis://127.0.0.1:6379", step = "words.count", prefix = "forebay"] = process.argv.slice(2);

/** The step: what it returns is the result of the task. */
async function run(input) {
  if (typeof input !== "string") throw Object.assign(new Error("the input must be text"), { errorClass: "data" });
  return { words: input.split(/\s+/).filter(Boolean).length, by: "node" };
}

const SLOTS = 4;
const BEAT_MS = 1000;
const runner = `node-${randomUUID()}`;
const redis = new Redis(url, { maxRetriesPerRequest: null });
const connection = redis.duplicate();
const encoded = (name) => encodeURIComponent(name);
const message = (...parts) => ({ v: 1, m: parts });

const offers = new Worker(`offers-${encoded(step)}`, null, { connection: redis.duplicate(), prefix, autorun: false });
const reports = new Map(); // queues, by dispatcher
const held = new Map(); // offers that have not been reported, by id
const dropped = new Set();
let running = 0;
let stopping = false;

async function work(offer) {
  const ends = await Promise.all(offer.tasks.map((task) => runTask(offer, task)));
  held.delete(offer.id);
  if (dropped.delete(offer.id)) return; // the task was cancelled, or belongs to another runner now
  const report = { offer: offer.id, dispatcher: offer.dispatcher, runner, ends };
  if (!reports.has(offer.dispatcher))
    reports.set(offer.dispatcher, new Queue(`reports-${encoded(offer.dispatcher)}`, { connection, prefix }));
  await reports.get(offer.dispatcher).add("reports", message(report), { removeOnComplete: true, removeOnFail: true });
}

async function runTask(offer, task) {
  const began = performance.now();
  const end = (outcome) => ({ token: task.token, n: task.n, seconds: (performance.now() - began) / 1000, outcome });
  try {
    const input = task.input ?? (await largeInput(offer, task));
    return end({ kind: "done", result: JSON.stringify(await run(JSON.parse(input))), writes: [] });
  } catch (error) {
    return end({ kind: "error", class: error.errorClass ?? "transient", reason: error.message, writes: [] });
  }
}

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

/** A sign of life with the free slots and the offers in hand: without it, the tasks of this runner go to others. */
async function beat(isLast = false) {
  const mine = [...held.values()].map(({ id, dispatcher, tasks }) => ({ id, dispatcher, tokens: tasks.map((t) => t.token) }));
  const slots = { [step]: stopping ? 0 : SLOTS };
  await connection.publish(`${prefix}:beats`, JSON.stringify(message({ sender: runner, slots, held: mine, is_last: isLast })));
}

async function take() {
  for (let taken = 0; !stopping; taken++) {
    while (running >= SLOTS) await new Promise((free) => setTimeout(free, 5));
    const token = `${runner}:${taken}`;
    const job = await offers.getNextJob(token);
    if (!job) continue; // it has waited for some seconds
    await job.moveToCompleted("", token, false); // it has left the broker: only PostgreSQL gives a task out again
    for (const offer of job.data.v === 1 ? job.data.m : []) {
      held.set(offer.id, offer);
      running++;
      void work(offer).finally(() => running--);
    }
  }
}

async function stop() {
  stopping = true;
  while (held.size > 0) await new Promise((ended) => setTimeout(ended, 20));
  await beat(true);
  process.exit(0);
}

const tells = redis.duplicate();
tells.on("message", (_, text) => JSON.parse(text).m.forEach(({ offers: gone }) => gone.forEach((id) => held.has(id) && dropped.add(id))));
await tells.subscribe(`${prefix}:tells:${encoded(runner)}`);
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
await beat();
setInterval(beat, BEAT_MS);
console.log(`${runner} runs ${step}`);
await take();
