"""What a worker with nothing to do takes of memory and of the database; a busy one is measured with the backlog."""

import asyncio
import time

import asyncpg

from bench.groups.backlog import MEGABYTE
from bench.groups.latency import warm_worker
from bench.harness import Context, connected
from bench.measure import resident_bytes

IDLE_BAR = 80.0
STATEMENTS_BAR = 3.0
STATEMENTS = "forebay: idle worker"
TRANSACTIONS = "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()"
SETTLED_SECONDS = 15.0  # the intervals of a worker grow until then


async def run(context: Context) -> None:
    if not context.ours:
        return
    dsn = context.server.database(f"bench_{context.ours.name}")
    async with warm_worker(context, context.ours, 0) as (_, workers, _), connected(dsn) as conn:
        await asyncio.sleep(SETTLED_SECONDS)
        context.record("memory_idle", resident_bytes(workers.processes) / MEGABYTE, IDLE_BAR)
        meter = context.meter()
        rate = await transactions(conn, context.sizes.idle_seconds)
        context.sample(STATEMENTS, rate, "statements/s", meter)
        note = "each is a transaction; those of autovacuum count as well, and one of the measurement"
        context.record("idle_statements", rate, STATEMENTS_BAR, note)


async def transactions(conn: asyncpg.Connection, seconds: float) -> float:
    """Transactions a second in the database of this connection, during so many seconds."""
    began = time.perf_counter()
    before = await conn.fetchval(TRANSACTIONS)
    await asyncio.sleep(seconds)
    return float((await conn.fetchval(TRANSACTIONS) - before) / (time.perf_counter() - began))
