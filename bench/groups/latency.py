"""From the submit call until the step starts, on a queue with nothing else in it."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench import limits
from bench.draining import until_started
from bench.harness import Context, Workers
from bench.measure import percentile
from bench.ours import Forebay, Submit
from bench.probe import ProbeFolder

LIMIT, OURS = "limit: INSERT + NOTIFY", "forebay: submit → start"


async def run(context: Context) -> None:
    raw: list[float] = []
    ours: list[float] = []
    for _ in range(context.sizes.repeats):
        raw += await _limit(context)
        if context.ours:
            ours += await idle_starts(context, context.ours)
    if ours:
        context.idle_p50 = percentile(ours, 0.5)
        context.record("start_p50", context.idle_p50, percentile(raw, 0.5), f"{len(ours)} samples of each")
        context.record("start_p99", percentile(ours, 0.99), percentile(raw, 0.99))


async def idle_starts(context: Context, ours: Forebay) -> list[float]:
    """Milliseconds from before the submit (so with its commit) until the step runs, of each sample."""
    count = context.sizes.latency_samples
    async with warm_worker(context, ours, count) as (probe, workers, submit):
        meter, sent = context.meter(), {}
        for seq in range(count):
            sent[seq] = time.time()
            await submit(seq)
            await asyncio.sleep(context.sizes.latency_interval)
        await until_started(probe, count + 1, workers)
        usage, stamps = meter.stop(workers.processes), probe.read().stamps
    found = [(stamps[seq] - clock) * 1e3 for seq, clock in sent.items()]
    context.report.sample(f"{OURS}, p50", percentile(found, 0.5), "ms", usage)
    context.report.sample(f"{OURS}, p99", percentile(found, 0.99), "ms", usage)
    context.say(f"  {OURS}: p50 {percentile(found, 0.5):.2f} ms, p99 {percentile(found, 0.99):.2f} ms")
    return found


@asynccontextmanager
async def warm_worker(
    context: Context, ours: Forebay, count: int
) -> AsyncIterator[tuple[ProbeFolder, Workers, Submit]]:
    """A worker that has run one task (number `count`) and has nothing to do."""
    dsn = await context.database(ours)
    probe = ProbeFolder(context.folder, count + 1, stamp_from=0)
    with context.running(ours, dsn, probe) as workers:
        async with ours.submitter(dsn) as submit:
            await submit(count)
            await until_started(probe, 1, workers)
            await asyncio.sleep(1.0)
            await context.quiet()
            yield probe, workers, submit
    shutil.rmtree(probe.path, ignore_errors=True)


async def _limit(context: Context) -> list[float]:
    dsn, sizes = await context.server.fresh("bench_limits"), context.sizes
    await context.quiet()
    meter = context.meter()
    found = await limits.notify_round_trip(dsn, sizes.latency_samples, sizes.latency_interval)
    usage = meter.stop()
    context.report.sample(f"{LIMIT}, p50", percentile(found, 0.5), "ms", usage)
    context.report.sample(f"{LIMIT}, p99", percentile(found, 0.99), "ms", usage)
    context.say(f"  {LIMIT}: p50 {percentile(found, 0.5):.2f} ms, p99 {percentile(found, 0.99):.2f} ms")
    return found
