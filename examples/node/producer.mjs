// A producer for Node: jobs that it adds to a queue of BullMQ become jobs of forebay.
//
//   node producer.mjs redis://127.0.0.1:6379 submits words '"how many words are these?"'
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";

const [url = "redis://127.0.0.1:6379", name = "submits", pipeline = "words", input = '"one two"', prefix = "forebay"] =
  process.argv.slice(2);
const connection = new Redis(url, { maxRetriesPerRequest: null });
const queue = new Queue(name, { connection, prefix });
const events = new QueueEvents(name, { connection: connection.duplicate(), prefix });
await events.waitUntilReady();

const job = await queue.add(pipeline, { pipeline, input: JSON.parse(input), owner: "anna" }, { removeOnComplete: 1000 });
try {
  console.log(JSON.stringify(await job.waitUntilFinished(events))); // {"job_id": "1"}, as soon as PostgreSQL has it
} catch (error) {
  console.log(JSON.stringify({ error: error.message })); // what forebay does not accept, and why
}
process.exit(0);
