"""The time that a worker waits for connections is measured and shown as a metric."""

# demands: S5-99

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg

from forebay import Context, Pipeline
from forebay.db.measured_pool import open_measured_pool
from forebay.testing import testbed


async def test_every_wait_is_counted_however_the_connection_is_had(dsn: str) -> None:
    async with await open_measured_pool(dsn, size=1, name="test", prepared=True, timeout=60) as pool:
        conn = await pool.acquire()
        late = asyncio.create_task(pool.fetchval("select 1"))
        await asyncio.sleep(0)
        assert sum(pool.waits.counts) == 1
        await pool.release(conn)
        assert await late == 1
        async with pool.acquire() as again:
            assert await again.fetchval("select 2") == 2
        assert sum(pool.waits.counts) == 3
        assert pool.waits.seconds > 0


async def test_a_worker_tells_its_waits(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    idle: Pipeline[dict[str, Any]] = Pipeline("idle", dict)

    @idle.step()
    async def rest(ctx: Context, value: dict[str, Any]) -> None: ...

    async with testbed(dsn, [idle], migrated=True) as bed:
        await bed.worker.report_status()
        told = json.loads(await conn.fetchval("select stats -> 'pool_waits' from forebay.worker"))
    assert sum(told["counts"]) > 0
