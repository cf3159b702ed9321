// graphile-worker with a task that does nothing: `setup`, `load COUNT`, `work`.
// Batching as its documentation advises for throughput: a local queue, and completions sent together.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const fromCache = createRequire(path.join(process.env.BENCH_NODE_FOLDER, "package.json"));
const { Logger, makeWorkerUtils, run, runMigrations } = fromCache("graphile-worker");

const connectionString = process.env.BENCH_TARGET_DSN;
const logger = new Logger(() => () => {});
const LOAD_BATCH = 1000;
const FLUSH_MS = 10;

// The object of workload.py; the note fills it up to about 200 bytes.
const inputOf = (seq) => ({
  seq,
  url: "https://news.example/2024/05/a-page-worth-keeping",
  title: "A page worth keeping, with a title of usual length",
  tags: ["reading", "later"],
  note: "n".repeat(20),
});

// The file of probe.py. Node cannot map files, so a copy in memory is written out every few milliseconds.
class Probe {
  constructor(folder, count, stampFrom) {
    const marks = Math.floor(count / 1000) + 1;
    const countsAt = 8 * (3 + marks + count - stampFrom);
    const memory = new ArrayBuffer(countsAt + count);
    this.doubles = new Float64Array(memory, 0, countsAt / 8);
    this.counts = new Uint8Array(memory, countsAt);
    this.stampsAt = 3 + marks - stampFrom;
    this.stampFrom = stampFrom;
    this.bytes = new Uint8Array(memory);
    this.file = fs.openSync(path.join(folder, `${process.pid}.probe`), "w");
    this.changed = true;
    setInterval(() => this.flush(), FLUSH_MS);
  }

  hit(seq) {
    const now = (performance.timeOrigin + performance.now()) / 1000;
    const head = this.doubles;
    if (head[2] === 0) head[0] = now;
    head[1] = now;
    head[2] += 1;
    if (head[2] % 1000 === 0) head[3 + head[2] / 1000] = now;
    if (seq >= this.stampFrom) head[this.stampsAt + seq] = now;
    this.counts[seq] += 1;
    this.changed = true;
  }

  // The head last: who sees the number of starts may rely on everything below it.
  flush() {
    if (!this.changed) return;
    this.changed = false;
    fs.writeSync(this.file, this.bytes, 24, this.bytes.length - 24, 24);
    fs.writeSync(this.file, this.bytes, 0, 24, 0);
  }
}

const commands = {
  async setup() {
    await runMigrations({ connectionString, logger });
  },

  async load(count) {
    const utils = await makeWorkerUtils({ connectionString, logger });
    for (let start = 0; start < count; start += LOAD_BATCH) {
      const size = Math.min(LOAD_BATCH, count - start);
      await utils.addJobs(
        Array.from({ length: size }, (_, index) => ({ identifier: "noop", payload: inputOf(start + index) })),
      );
    }
    await utils.release();
  },

  async work() {
    const { BENCH_PROBE_DIR, BENCH_PROBE_COUNT, BENCH_PROBE_STAMP_FROM } = process.env;
    const probe = new Probe(BENCH_PROBE_DIR, Number(BENCH_PROBE_COUNT), Number(BENCH_PROBE_STAMP_FROM));
    const worker = {
      connectionString,
      logger,
      concurrentJobs: 24,
      maxPoolSize: 10,
      localQueue: { size: 5000 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    };
    const runner = await run({ preset: { worker }, taskList: { noop: (input) => probe.hit(input.seq) } });
    await runner.promise;
  },
};

const [command, count] = process.argv.slice(2);
await commands[command](Number(count));
process.exit(0);
