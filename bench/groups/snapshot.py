"""Whether the rate lasts while another session holds a snapshot, so that no dead row can be removed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.draining import Drain, drain, load_and_drain, sample
from bench.harness import Context, connected
from bench.measure import median
from bench.ours import Forebay

RESERVE = 1.5


async def run(context: Context) -> None:
    if not context.ours:
        return
    count = await _items_needed(context, context.ours)
    clean: list[Drain] = []
    held: list[Drain] = []
    for _ in range(context.sizes.snapshot_repeats):
        clean.append(await _one(context, context.ours, count, hold=False))
        held.append(await _one(context, context.ours, count, hold=True))
    trend = median([_trend(found) for found in held])
    seconds = min(found.seconds for found in (*clean, *held))
    note = f"at least {seconds:.0f} s each; held, last quarter / first quarter: {trend:.2f}"
    context.record("held_snapshot", median([d.rate for d in held]), median([d.rate for d in clean]), note)


async def _items_needed(context: Context, ours: Forebay) -> int:
    """Enough for the time asked for at the best rate seen, and half as much again."""
    known = [
        rate
        for name, rates in context.report.samples.items()
        if name.startswith("forebay: drain") and "two" not in name
        for rate in rates
    ]
    if not known:
        known = [(await load_and_drain(context, ours, context.sizes.small_backlog)).rate]
    return int(max(known) * context.sizes.snapshot_seconds * RESERVE)


async def _one(context: Context, ours: Forebay, count: int, *, hold: bool) -> Drain:
    dsn = await context.database(ours)
    await ours.load(dsn, count)
    async with _held_snapshot(dsn, hold=hold):
        found = await drain(context, ours, dsn, count, for_seconds=context.sizes.snapshot_seconds)
    sample(context, f"forebay: drain, {'snapshot held' if hold else 'no snapshot held'}", found)
    return found


@asynccontextmanager
async def _held_snapshot(dsn: str, *, hold: bool) -> AsyncIterator[None]:
    """A session in the middle of a long report; idle outside a transaction when it must not hold."""
    async with connected(dsn) as conn:
        if not hold:
            yield
            return
        async with conn.transaction(isolation="repeatable_read", readonly=True):
            await conn.fetchval("select count(*) from pg_class")
            yield


def _trend(found: Drain) -> float:
    marks = found.reading.marks
    quarter = max(2, len(marks) // 4)
    return _rate(marks[-quarter:]) / _rate(marks[:quarter])


def _rate(marks: list[tuple[float, int]]) -> float:
    (began, low), (ended, high) = marks[0], marks[-1]
    return (high - low) / (ended - began)
