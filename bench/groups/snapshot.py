"""Whether the rate lasts while another session holds a snapshot, so that no dead row can be removed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.draining import Drain, drain, load_and_drain, sample
from bench.harness import Context, connected
from bench.measure import median
from bench.ours import Forebay, SingleJobs

RESERVE = 1.5
HELD_SECONDS = 600


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
    await _singles(context)


async def _singles(context: Context) -> None:
    """One-item jobs, with the dead rows that ten minutes of them leave in the hot tables while a snapshot is held. The
    second half counts: each worker reads the dead rows once when it starts."""
    rates: list[float] = []
    dead = context.sizes.snapshot_dead_jobs
    for hold in (False, True):
        jobs = SingleJobs()
        dsn = await context.database(jobs)
        async with held_snapshot(dsn, hold=hold):
            await jobs.come_and_go(dsn, dead)
            await jobs.load(dsn, context.sizes.drain_singles)
            found = await drain(context, jobs, dsn, context.sizes.drain_singles)
        marks = found.reading.marks
        rates.append(_rate(marks[len(marks) // 2 :]))
        name = f"forebay: drain of one-item jobs, {'snapshot held' if hold else 'no snapshot held'}, second half"
        sample(context, name, found, rates[-1])
    note = f"{dead:,} jobs came and went before, which is {dead / HELD_SECONDS:,.0f} a second"
    context.record("held_snapshot_singles", rates[1], rates[0], note)


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
    async with held_snapshot(dsn, hold=hold):
        found = await drain(context, ours, dsn, count, for_seconds=context.sizes.snapshot_seconds)
    sample(context, f"forebay: drain, {'snapshot held' if hold else 'no snapshot held'}", found)
    return found


@asynccontextmanager
async def held_snapshot(dsn: str, *, hold: bool) -> AsyncIterator[None]:
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
