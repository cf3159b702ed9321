"""Whether the rate depends on how much waits: a large backlog, and parked tasks beside a small one."""

# demands: S1-99, S2-103, S4-103

import asyncio

from bench.draining import NAP, Drain, drain, load_and_drain, sample
from bench.harness import Context, connected
from bench.measure import median
from bench.ours import Forebay
from bench.probe import ProbeFolder

LARGE, SMALL = "forebay: drain, large backlog", "forebay: drain, small backlog"
ALONE, BESIDE = "forebay: drain, nothing beside", "forebay: drain, parked tasks beside"
MEGABYTE = 1_000_000
MEMORY_BAR = 150.0
HOW = "starts a second between the first and the last tenth, so that neither ramp nor tail counts"


async def run(context: Context) -> None:
    if not context.ours:
        return
    large: list[Drain] = []
    for _ in range(context.sizes.large_repeats):
        large.append(await _large(context, context.ours))
        await _small(context, context.ours)
    for _ in range(context.sizes.repeats):
        await _beside(context, context.ours, parked=0)
        await _beside(context, context.ours, parked=context.sizes.parked)
    _record(context)
    _record_memory(context, max(large, key=lambda found: max(size for _, size in found.memory)))


def _record(context: Context) -> None:
    sizes = context.sizes
    note = f"{sizes.large_backlog:,} items at once against the same in jobs of {sizes.small_backlog:,}, each resumed "
    context.record_medians("backlog_large", LARGE, SMALL, f"{note}when the one before is half done; {HOW}")
    items, parked = f"{sizes.drained_beside:,}", f"{sizes.parked:,}"
    note = f"{items} items drained beside {parked} paused and {parked} future ones; {HOW}"
    context.record_medians("backlog_parked", BESIDE, ALONE, note)


async def _large(context: Context, ours: Forebay) -> Drain:
    found = await load_and_drain(context, ours, context.sizes.large_backlog)
    sample(context, LARGE, found, found.reading.steady_rate())
    return found


async def _small(context: Context, ours: Forebay) -> None:
    """As many items, so that vacuum and the log have as much to do; but few of them can be claimed at a time."""
    dsn, count, size = await context.database(ours), context.sizes.large_backlog, context.sizes.small_backlog
    jobs = await ours.load_paused(dsn, count, size)

    async def feed(probe: ProbeFolder) -> None:
        async with connected(dsn) as conn:
            for number, job_id in enumerate(jobs):
                while probe.started() < (number - 0.5) * size:  # noqa: ASYNC110 - the worker is another process
                    await asyncio.sleep(NAP)
                await ours.resume(conn, job_id)

    found = await drain(context, ours, dsn, count, beside=feed)
    sample(context, SMALL, found, found.reading.steady_rate())


async def _beside(context: Context, ours: Forebay, parked: int) -> None:
    dsn, count = await context.database(ours), context.sizes.drained_beside
    if parked:
        await ours.park_paused(dsn, parked)
        await ours.park_future(dsn, parked)
    await ours.load(dsn, count)
    found = await drain(context, ours, dsn, count)
    sample(context, BESIDE if parked else ALONE, found, found.reading.steady_rate())


def _record_memory(context: Context, found: Drain) -> None:
    """The peak; and the last quarter beside the second, where growth would show."""
    sizes = [size / MEGABYTE for _, size in found.memory]
    quarter = max(1, len(sizes) // 4)
    context.record("memory_draining", max(sizes), MEMORY_BAR)
    context.record("memory_flat", median(sizes[-quarter:]), median(sizes[quarter : 2 * quarter] or sizes))
