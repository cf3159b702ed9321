"""Whether the rate depends on how much waits: a large backlog, and parked tasks beside a small one."""

from bench.draining import Drain, drain, load_and_drain, sample
from bench.harness import Context
from bench.measure import median
from bench.ours import Forebay

LARGE, SMALL = "forebay: drain, large backlog", "forebay: drain, small backlog"
BESIDE = "forebay: drain, parked tasks beside"
MEGABYTE = 1_000_000
MEMORY_BAR = 150.0
HOW = "starts a second between the first and the last tenth, so that neither ramp nor tail counts"


async def run(context: Context) -> None:
    if not context.ours:
        return
    large = await _large(context, context.ours)
    for _ in range(context.sizes.repeats):
        await _small(context, context.ours, parked=0)
        await _small(context, context.ours, parked=context.sizes.parked)
    items, parked = f"{context.sizes.small_backlog:,}", f"{context.sizes.parked:,}"
    note = f"{context.sizes.large_backlog:,} items against {items}; {HOW}"
    context.record_medians("backlog_large", LARGE, SMALL, note)
    note = f"{items} items drained beside {parked} paused and {parked} future ones; {HOW}"
    context.record_medians("backlog_parked", BESIDE, SMALL, note)
    _record_memory(context, large)


async def _large(context: Context, ours: Forebay) -> Drain:
    found = await load_and_drain(context, ours, context.sizes.large_backlog)
    sample(context, LARGE, found, found.reading.steady_rate())
    return found


async def _small(context: Context, ours: Forebay, parked: int) -> None:
    dsn, count = await context.database(ours), context.sizes.small_backlog
    if parked:
        await ours.park_paused(dsn, parked)
        await ours.park_future(dsn, parked)
    await ours.load(dsn, count)
    found = await drain(context, ours, dsn, count)
    sample(context, BESIDE if parked else SMALL, found, found.reading.steady_rate())


def _record_memory(context: Context, found: Drain) -> None:
    """The peak; and the last quarter beside the second, where growth would show."""
    sizes = [size / MEGABYTE for _, size in found.memory]
    quarter = max(1, len(sizes) // 4)
    context.record("memory_draining", max(sizes), MEMORY_BAR)
    context.record("memory_flat", median(sizes[-quarter:]), median(sizes[quarter : 2 * quarter] or sizes))
