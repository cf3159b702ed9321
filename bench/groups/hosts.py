"""Many workers on one PostgreSQL: what each costs the server, who is woken up, and who gets the first tasks."""

import asyncio
import time
from collections import Counter
from itertools import pairwise
from typing import Literal

import asyncpg

from bench import fleet
from bench.draining import drain, sample
from bench.fleet import ServerCpu, Sleeping
from bench.groups.memory import SETTLED_SECONDS, transactions
from bench.groups.snapshot import held_snapshot
from bench.harness import BenchError, Context, connected
from bench.hosts_model import Model, Point
from bench.measure import percentile

MANY = 64
SLOTS, SMALL, STEP_SECONDS = 32, 32, 0.1
OWNERS = [f"owner {number}" for number in range(4)]
HELD_WORKERS = 16
CALIBRATED, HELD_OUT, PRINTED = (1, 4, 64), 16, (10, 100, 1000)
MODEL_SLOTS, MODEL_SECONDS = 8, 1.0


async def run(context: Context) -> None:
    if not context.ours:
        return
    if context.server.postmaster is None:
        raise BenchError("the processes of the server cannot be seen")
    await _record_wake_ups(context)
    await _record_small_runners(context)
    await _record_first_starts(context)
    await _record_leased_by_busy(context)
    await _record_held_snapshot(context)
    await _record_model(context)


# -- idle workers, and a task that arrives


async def _record_wake_ups(context: Context) -> None:
    one, many = await _wake_ups(context, 1), await _wake_ups(context, MANY)
    context.record("hosts_claims", many.claims, 1.0, f"{context.sizes.host_submits} submits into an idle lane")
    context.record("hosts_start_p95", many.p95, one.p95)
    context.record("hosts_statements", many.statements, one.statements)
    context.record("hosts_connections", many.connections / MANY, one.connections, "while idle, after single tasks")


class _WakeUps:
    claims = p95 = statements = 0.0
    connections = 0


async def _wake_ups(context: Context, count: int) -> _WakeUps:
    found, sleeping = _WakeUps(), Sleeping(MODEL_SLOTS, 0.0)
    dsn = await _database(context)
    async with connected(dsn) as conn, fleet.workers(dsn, sleeping.pipeline, count):
        await asyncio.sleep(SETTLED_SECONDS)
        found.statements = await transactions(conn, context.sizes.idle_seconds)
        await context.quiet()
        before, cpu = await conn.fetchval(fleet.CLAIMS), _cpu(context)
        waits = await _starts(conn, sleeping, context.sizes.host_submits)
        seconds, found.connections = cpu.seconds(), await conn.fetchval(fleet.CONNECTIONS)
        await asyncio.sleep(fleet.FLUSH_SECONDS)
        found.claims = (await conn.fetchval(fleet.CLAIMS) - before) / len(waits)
    found.p95 = percentile(waits, 0.95)
    context.say(
        f"  {count} idle workers: {found.connections} connections, {found.statements:.1f} statements/s, "
        f"{found.claims:.2f} claims a submit, start p50 {percentile(waits, 0.5):.1f} ms, p95 {found.p95:.1f} ms, "
        f"server CPU {seconds / len(waits) * 1e3:.1f} ms a submit"
    )
    return found


async def _starts(conn: asyncpg.Connection, sleeping: Sleeping, count: int) -> list[float]:
    """Milliseconds from the submit until the step runs, of single tasks."""
    waits: list[float] = []
    for seq in range(count):
        began = time.perf_counter()
        await sleeping.submit(conn, OWNERS[0], seq)
        while seq not in sleeping.starts:
            if time.perf_counter() - began > 30:
                raise BenchError("a task did not start within 30 s")
            await asyncio.sleep(0.0005)
        waits.append((sleeping.starts[seq] - began) * 1e3)
        await asyncio.sleep(0.05)
    return waits


# -- small runners and small workers


async def _record_small_runners(context: Context) -> None:
    """Small runners have a bar. Small workers have none: each of them claims and settles one task at a time."""
    one = await _server_cost(context, "worker", 1, SLOTS)
    runners = await _server_cost(context, "runner", SMALL, 1)
    workers = await _server_cost(context, "worker", SMALL, 1)
    note = f"steps of {STEP_SECONDS:g} s; {SMALL} one-slot workers: {workers:,.0f} µs, ratio {workers / one:.1f}"
    context.record("hosts_small_runners", runners, one, note)


async def _server_cost(context: Context, kind: Literal["worker", "runner"], many: int, slots: int) -> float:
    """Server CPU a task, in microseconds, when so many workers or runners have run each statement before."""
    sleeping, count = Sleeping(slots, STEP_SECONDS), context.sizes.host_tasks
    dsn = await _database(context)
    started = (
        fleet.workers(dsn, sleeping.pipeline, many)
        if kind == "worker"
        else fleet.runners(dsn, sleeping.pipeline, many, context.folder)
    )
    async with connected(dsn) as conn, started:
        await sleeping.load(conn, OWNERS[0], many * slots * 10)
        await fleet.all_done(conn)
        await context.quiet()
        cpu, began = _cpu(context), time.perf_counter()
        await sleeping.load(conn, OWNERS[1], count)
        await fleet.all_done(conn)
        cost, seconds = cpu.seconds() / count * 1e6, time.perf_counter() - began
        connections = await conn.fetchval(fleet.CONNECTIONS)
    ideal = count * STEP_SECONDS / (many * slots)
    context.say(
        f"  {many} {kind}s of {slots} slots: {cost:,.0f} µs of the server a task, {connections} connections, "
        f"{ideal / seconds:.2f} of the ideal rate"
    )
    return cost


# -- who gets the first tasks, and who holds them


async def _record_first_starts(context: Context) -> None:
    """The tasks wait when the workers start, and none ends before all have one."""
    largest: list[int] = []
    for _ in range(context.sizes.host_repeats):
        sleeping, dsn = Sleeping(1, 20.0), await _database(context)
        async with connected(dsn) as conn:
            for number, owner in enumerate(OWNERS):
                await sleeping.load(conn, owner, MANY * 2, number * MANY * 2)
            async with fleet.workers(dsn, sleeping.pipeline, MANY):
                await sleeping.until_started(MANY, 18.0)
                starts = Counter(sleeping.owners[:MANY])
            largest.append(max(starts.values()))
            context.say(f"  first starts: {sorted(starts.values())} of {len(sleeping.owners)}")
    fair = MANY / len(OWNERS)
    note = f"largest of {len(largest)} runs with {MANY} workers: {max(largest)}"
    context.record("hosts_first_starts", sum(largest) / len(largest), fair, note)


async def _record_leased_by_busy(context: Context) -> None:
    sleeping, dsn = Sleeping(1, 3.0), await _database(context)
    seen: list[int] = []
    async with connected(dsn) as conn, fleet.workers(dsn, sleeping.pipeline, 1):
        for number, owner in enumerate(OWNERS):
            await sleeping.load(conn, owner, 4, number * 4)
        for _ in range(48):
            await asyncio.sleep(0.25)
            seen.append(await conn.fetchval(fleet.LEASED))
    # A task that has ended is leased until it is settled, when the next one has been claimed already.
    held = max(min(pair) for pair in pairwise(seen))
    note = f"most at a time; every 0.25 s: {dict(sorted(Counter(seen).items()))}"
    context.record("hosts_leased", held, 1.0, note)


# -- a held snapshot


async def _record_held_snapshot(context: Context) -> None:
    ours, rates = context.ours, dict[bool, float]()
    assert ours is not None
    count = int(context.sizes.host_held_rate * context.sizes.snapshot_seconds)
    for hold in (False, True):
        dsn = await context.database(ours)
        await ours.load(dsn, count)
        seconds = context.sizes.snapshot_seconds
        async with held_snapshot(dsn, hold=hold):
            found = await drain(context, ours, dsn, count, processes=HELD_WORKERS, for_seconds=seconds)
        name = f"forebay: drain, {HELD_WORKERS} workers, {'snapshot held' if hold else 'no snapshot held'}"
        sample(context, name, found)
        rates[hold] = found.rate
    context.record("hosts_held_snapshot", rates[True], rates[False], f"{HELD_WORKERS} worker processes")


# -- the model


async def _record_model(context: Context) -> None:
    points = {count: await _point(context, count) for count in (*CALIBRATED, HELD_OUT)}
    model = Model.fitted([points[count] for count in CALIBRATED])
    measured, predicted = points[HELD_OUT].cores, model.cores(HELD_OUT)
    note = f"{predicted:.3f} cores predicted for {HELD_OUT} workers, {measured:.3f} measured. {model.describe(PRINTED)}"
    context.record("hosts_model", abs(predicted / measured - 1), 1.0, note)
    context.say(f"  {note}")


async def _point(context: Context, count: int) -> Point:
    """What the server needs while so many workers run tasks of a second in all of their slots."""
    sleeping, dsn = Sleeping(MODEL_SLOTS, MODEL_SECONDS), await _database(context)
    seconds = context.sizes.model_seconds
    async with connected(dsn) as conn, fleet.workers(dsn, sleeping.pipeline, count):
        await sleeping.load(conn, OWNERS[0], int(count * MODEL_SLOTS * (seconds + 10) / MODEL_SECONDS))
        await asyncio.sleep(4)  # all have sent each of their statements
        await context.quiet()
        before, cpu, began = len(sleeping.starts), _cpu(context), time.perf_counter()
        await asyncio.sleep(seconds)
        elapsed = time.perf_counter() - began
        point = Point(count, cpu.cores(), (len(sleeping.starts) - before) / elapsed)
        connections = await conn.fetchval(fleet.CONNECTIONS)
    context.say(
        f"  {count} workers of {MODEL_SLOTS} slots: {point.tasks_s:,.1f} tasks/s, {point.cores:.3f} cores of it,"
        f" {connections} connections"
    )
    return point


def _cpu(context: Context) -> ServerCpu:
    assert context.server.postmaster is not None
    return ServerCpu(context.server.postmaster)


async def _database(context: Context) -> str:
    """A fresh one in which calls of functions are counted."""
    assert context.ours is not None
    dsn = await context.database(context.ours)
    async with connected(dsn) as conn:
        await conn.execute(f"alter database \"{dsn.rsplit('/', 1)[1]}\" set track_functions = 'pl'")
    return dsn
