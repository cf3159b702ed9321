"""The API: how long a submit takes while a worker drains, and how many come through at once, beside a bare route."""

# demands: S4-102

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import asyncpg
import psutil

from bench.harness import BenchError, Context, connected
from bench.http_client import Client, HttpError
from bench.limits import CREATE, CREATE_READY, INSERT
from bench.measure import percentile
from bench.ours import Forebay
from bench.probe import ProbeFolder
from bench.serving import served
from bench.workload import input_of, json_inputs

BARE, OURS = "limit: FastAPI route, raw INSERT", "forebay: API submit"
CLIENTS = 200
RATE = 50.0


async def run(context: Context) -> None:
    if not context.ours:
        return
    for _ in range(context.sizes.repeats):
        await _many_clients(context, context.ours)
    note = f"{CLIENTS} clients at once, no error"
    context.record_medians("api_throughput", OURS, BARE, note)
    await _beside_a_drain(context, context.ours)


# -- 200 clients --------------------------------------------------------------------------------------------------


async def _many_clients(context: Context, ours: Forebay) -> None:
    bare = await context.server.fresh("bench_limits")
    async with served(context, [sys.executable, "-m", "bench.raw_api"], {"BENCH_DSN": bare}) as (port, process):
        await _throughput(context, BARE, port, None, process)
    dsn = await context.database(ours)
    token = await ours.api_token(dsn)
    async with served(context, ours.api_command(), ours.api_environment(dsn)) as (port, process):
        await _throughput(context, OURS, port, token, process)


async def _throughput(context: Context, name: str, port: int, token: str | None, process: psutil.Process) -> None:
    count = context.sizes.api_submits
    await _submit_at_once(port, token, CLIENTS, CLIENTS)  # warm
    await context.quiet()
    meter, before = context.meter(), sum(process.cpu_times()[:2])
    began = time.perf_counter()
    await _submit_at_once(port, token, CLIENTS, count)
    rate = count / (time.perf_counter() - began)
    usage = meter.stop([process], before)
    context.report.sample(name, rate, "submits/s", usage)
    context.say(f"  {name}: {rate:,.0f} submits/s (foreign cores {usage.foreign_cores:.2f})")


async def _submit_at_once(port: int, token: str | None, clients: int, count: int) -> None:
    numbers = iter(range(count))

    async def client() -> None:
        async with Client(port, token) as http:
            for seq in numbers:
                await http.post("/api/jobs", {"pipeline": "noop", "input": input_of(seq)})

    try:
        await asyncio.gather(*(client() for _ in range(clients)))
    except (HttpError, OSError, asyncio.IncompleteReadError) as error:
        raise BenchError(f"a submit among {clients} clients failed: {error}") from error


# -- beside a drain -----------------------------------------------------------------------------------------------


async def _beside_a_drain(context: Context, ours: Forebay) -> None:
    """The raw INSERTs are made at the same rate, at the same time, on the same server."""
    dsn, backlog = await context.database(ours), context.sizes.api_backlog
    await ours.load(dsn, backlog)
    token = await ours.api_token(dsn)
    async with connected(dsn) as conn:
        await conn.execute(f"{CREATE}; {CREATE_READY}")
    await context.settle(dsn)
    probe = ProbeFolder(context.folder, backlog + 1_000_000)
    async with served(context, ours.api_command(), ours.api_environment(dsn)) as (port, _), connected(dsn) as raw:
        await _submit_at_once(port, token, 4, 40)
        with context.running(ours, dsn, probe):
            while probe.started() < backlog // 50:  # noqa: ASYNC110 - the worker is another process
                await asyncio.sleep(0.01)
            waits, raw_waits = await asyncio.gather(
                _steadily_submit(port, token, probe, backlog), _steadily_insert(raw, probe, backlog)
            )
    note = f"{len(waits)} submits at {RATE:g}/s while {backlog:,} items drained; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw_waits, 0.5):.1f} ms"
    context.record("api_submit_p99", percentile(waits, 0.99), percentile(raw_waits, 0.99), note)


async def _steadily_submit(port: int, token: str, probe: ProbeFolder, backlog: int) -> list[float]:
    waits: list[float] = []
    async with Client(port, token) as http:
        async for seq in _ticks(probe, backlog):
            began = time.perf_counter()
            await http.post("/api/jobs", {"pipeline": "noop", "input": input_of(backlog + seq)})
            waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _steadily_insert(conn: asyncpg.Connection, probe: ProbeFolder, backlog: int) -> list[float]:
    insert, row = await conn.prepare(INSERT), next(json_inputs(1))
    waits: list[float] = []
    async for seq in _ticks(probe, backlog):
        began = time.perf_counter()
        await insert.fetch(seq, row)
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _ticks(probe: ProbeFolder, backlog: int) -> AsyncIterator[int]:
    """So many a second, until nine tenths are drained."""
    began, seq = time.perf_counter(), 0
    while probe.started() < backlog * 0.9:
        yield seq
        seq += 1
        await asyncio.sleep(max(0.0, began + seq / RATE - time.perf_counter()))
