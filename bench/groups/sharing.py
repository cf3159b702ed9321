"""What one owner or pipeline costs another: wake-ups beside a backlog, slots beside long tasks, a paused queue."""

import asyncio
import shutil
import time

from bench.draining import check, until_done, until_stamped, until_started
from bench.groups.latency import idle_starts
from bench.harness import BenchError, Context, connected
from bench.measure import percentile
from bench.noop import KEY_INTERVAL
from bench.ours import Forebay, SingleJobs
from bench.probe import ProbeFolder

SHORT_S = 0.05
NAP = 0.005
LONG_OWNER, SHORT_OWNER = "long-tasks", "short-tasks"


async def run(context: Context) -> None:
    if not context.ours:
        return
    if context.idle_p50 is None:
        context.idle_p50 = percentile(await idle_starts(context, context.ours), 0.5)
    await _record_other_pipeline(context, context.idle_p50)
    await _record_short_beside_long(context, context.ours)
    await _record_behind_a_key(context, context.ours)
    await _record_stalls(context, context.ours)


async def _record_other_pipeline(context: Context, idle_p50: float) -> None:
    """One-item jobs share the lane of their owner with the tasks of all other pipelines."""
    ours, count = SingleJobs(), context.sizes.other_pipeline_backlog
    dsn = await context.database(ours)
    await ours.load(dsn, count)
    await context.settle(dsn)
    probe, sent = ProbeFolder(context.folder, count + count // 50, stamp_from=count), dict[int, float]()
    async with connected(dsn) as conn:
        with context.running(ours, dsn, probe) as workers:
            await until_started(probe, count // 20, workers)
            async with ours.other_submitter(dsn) as submit:
                for seq in range(count, count + count // 50):
                    if probe.started() >= count * 0.9:
                        break
                    sent[seq] = time.time()
                    await submit(seq)
                    await asyncio.sleep(context.sizes.other_owner_interval)
            await until_started(probe, count + len(sent), workers)
            await until_done(ours, conn, workers)
        reading = probe.read()
        shutil.rmtree(probe.path, ignore_errors=True)
        await check(ours, conn, reading, count + len(sent))
    waits = [(reading.stamps[seq] - clock) * 1e3 for seq, clock in sent.items()]
    note = f"{len(waits)} tasks while {count:,} jobs drained; p50 {percentile(waits, 0.5):.1f} ms"
    context.record("other_pipeline_p95", percentile(waits, 0.95), idle_p50, note)


async def _record_short_beside_long(context: Context, ours: Forebay) -> None:
    """Four slots; one owner always has more long tasks than that."""
    dsn, sizes = await context.database(ours), context.sizes
    long = 4 + int(4 * (sizes.short_samples * (SHORT_S + 0.2) / sizes.long_seconds + 2))
    probe, sent = ProbeFolder(context.folder, long + sizes.short_samples, stamp_from=0), dict[int, float]()
    await context.quiet()
    async with connected(dsn) as conn:
        with context.running(ours, dsn, probe) as workers:
            for seq in range(long):
                await ours.submit_sleep(conn, seq, sizes.long_seconds, LONG_OWNER)
            await until_started(probe, 4, workers)
            for seq in range(long, long + sizes.short_samples):
                sent[seq] = time.time()
                await ours.submit_sleep(conn, seq, SHORT_S, SHORT_OWNER)
                await asyncio.sleep(SHORT_S + 0.15)
            await until_started(probe, long + sizes.short_samples, workers)
            await until_done(ours, conn, workers)
        reading = probe.read()
        shutil.rmtree(probe.path, ignore_errors=True)
        await check(ours, conn, reading, long + sizes.short_samples)
    waits = [reading.stamps[seq] - clock for seq, clock in sent.items()]
    note = f"{len(waits)} tasks; p50 {percentile(waits, 0.5):.3f} s, largest {max(waits):.3f} s"
    context.record("short_beside_long", percentile(waits, 0.95), sizes.long_seconds, note)


async def _record_behind_a_key(context: Context, ours: Forebay) -> None:
    """One owner's rows would take hours; the tasks of another are submitted one by one, each after the start of the
    one before."""
    dsn, count, samples = await context.database(ours), context.sizes.key_backlog, context.sizes.key_samples
    await ours.load_keyed(dsn, count)
    await context.settle(dsn)
    probe, sent = ProbeFolder(context.folder, count + samples, stamp_from=count), dict[int, float]()
    async with connected(dsn) as conn:
        with context.running(ours, dsn, probe) as workers:
            await until_started(probe, 1, workers)
            for seq in range(count, count + samples):
                sent[seq] = time.time()
                await ours.submit_keyed(conn, seq, SHORT_OWNER)
                await until_stamped(probe, len(sent), workers)
                await asyncio.sleep(KEY_INTERVAL)
        reading = probe.read()
    shutil.rmtree(probe.path, ignore_errors=True)
    if reading.repeated:
        raise BenchError(f"{reading.repeated} tasks behind a key started twice")
    waits = [reading.stamps[seq] - clock for seq, clock in sent.items()]
    rate = reading.started / (reading.last - reading.first)
    note = f"{samples} tasks behind {count:,} rows, {rate:.2f} starts/s; largest {max(waits):.3f} s"
    context.record("behind_a_key", percentile(waits, 0.95), KEY_INTERVAL, note)


async def _record_stalls(context: Context, ours: Forebay) -> None:
    sizes = context.sizes
    dsn = await context.database(ours)
    await context.quiet()
    async with ours.worker_here(dsn):
        idle = await _longest_stall(sizes.stall_seconds)
    await ours.load_paused_queue(dsn, sizes.paused_owners)
    await context.settle(dsn)
    async with ours.worker_here(dsn):
        paused = await _longest_stall(sizes.stall_seconds)
    context.record("paused_owners_stall", paused, idle, f"{sizes.paused_owners:,} owners")


async def _longest_stall(seconds: float) -> float:
    """Milliseconds by which the worst of many short sleeps ended late."""
    worst, end = 0.0, time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        await asyncio.sleep(NAP)
        worst = max(worst, time.monotonic() - began - NAP)
    return worst * 1e3
