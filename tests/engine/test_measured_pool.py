"""Owners share the connections of a worker; the time that it waits for them is measured and shown as a metric."""

# demands: S5-99

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.db.fair_pool import Gate, open_fair_pool
from forebay.engine.limits.batching import RequestBatcher
from forebay.engine.limits.limiters import RateLimiter
from forebay.owner_turns import acting_for
from forebay.testing import testbed


async def test_every_wait_is_counted_however_the_connection_is_had(dsn: str) -> None:
    async with await open_fair_pool(dsn, size=1, name="test", prepared=True, timeout=60) as pool:
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


async def test_owners_get_connections_in_turn_and_the_worker_first(dsn: str) -> None:
    served: list[int] = []

    async def ask(owner_id: int) -> None:
        acting_for.set(owner_id)
        async with pool.acquire():
            served.append(owner_id)

    async with await open_fair_pool(dsn, size=1, name="test", prepared=True, timeout=60) as pool:
        conn = await pool.acquire()
        asked = [asyncio.create_task(ask(owner_id)) for owner_id in (1, 1, 1, 2, 2, 0)]
        await asyncio.sleep(0)
        asked[0].cancel()  # its place is not kept
        await pool.release(conn)
        await pool.release(conn)  # the second time changes nothing
        await asyncio.wait(asked)
        assert served == [0, 1, 2, 1, 2]
        async with pool.acquire(), asyncio.timeout(60):
            with pytest.raises(TimeoutError):
                await pool.acquire(timeout=0.001)
        assert await pool.fetchval("select 1") == 1


async def test_an_owner_has_half_of_the_connections_while_another_uses_them() -> None:
    now = 0.0
    gate = Gate(5, clock=lambda: now)

    async def enter(owner_id: int, times: int) -> list[asyncio.Task[None]]:
        entering = [asyncio.create_task(gate.enter(owner_id)) for _ in range(times)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return entering

    await enter(2, 1)
    gate.leave(2)  # it has just used the pool, as between two statements of a step
    many = await enter(1, 5)
    assert [each.done() for each in many] == [True, True, False, False, False]
    (other,), worker = await enter(2, 1), await enter(0, 2)
    assert other.done()
    assert all(each.done() for each in worker)  # it claims and settles for all
    for owner_id in (0, 0, 2):
        gate.leave(owner_id)
    now = 2.0
    gate.leave(1)  # nobody else has used the pool for a while
    await asyncio.wait(many)


async def test_an_owner_alone_has_all_connections() -> None:
    gate = Gate(5)
    async with asyncio.timeout(60):
        for _ in range(5):
            await gate.enter(1)


async def test_an_owner_with_a_connection_of_a_small_pool_is_not_stuck() -> None:
    gate = Gate(2)
    await gate.enter(2)
    await gate.enter(1)
    waits = asyncio.create_task(gate.enter(1))
    await asyncio.sleep(0)
    gate.leave(1)
    async with asyncio.timeout(60):
        await waits


async def test_requests_of_limits_come_first_because_they_are_for_all_owners(dsn: str) -> None:
    served: list[str] = []

    async def lease(_: list[RateLimiter]) -> None:
        async with pool.acquire():
            served.append("limits")

    async def ask() -> None:
        acting_for.set(1)
        async with pool.acquire():
            served.append("owner")

    async def start_limited() -> None:
        acting_for.set(1)
        batcher.queue(RateLimiter("calls", "", 1.0, keyed=False))

    async with await open_fair_pool(dsn, size=1, name="test", prepared=True, timeout=60) as pool:
        batcher = RequestBatcher(lease)
        conn = await pool.acquire()
        asked = [asyncio.create_task(each) for each in (ask(), ask(), ask(), start_limited())]
        await asyncio.wait(asked[-1:])
        await asyncio.sleep(0)
        await pool.release(conn)
        await asyncio.wait(asked)
        await batcher.wait_until_idle()
    assert served == ["limits", "owner", "owner", "owner"]


async def test_a_task_waits_for_connections_in_the_line_of_its_owner(dsn: str) -> None:
    pipeline: Pipeline[dict[str, Any]] = Pipeline("asks", dict)

    @pipeline.step()
    async def ask(ctx: Context, value: dict[str, Any]) -> bool:
        return acting_for.get() == ctx.owner_id

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        jobs = [await pipeline.submit(bed.pool, {}, owner=owner) for owner in ("ann", "bob", "ann")]
        await bed.run()
        rows = await bed.pool.fetch("select result from forebay.item order by job_id")
    assert [json.loads(row["result"]) for row in rows] == [{"ask": True}] * len(jobs)
    assert acting_for.get() == 0


async def test_a_worker_tells_its_waits(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    idle: Pipeline[dict[str, Any]] = Pipeline("idle", dict)

    @idle.step()
    async def rest(ctx: Context, value: dict[str, Any]) -> None: ...

    async with testbed(dsn, [idle], migrated=True) as bed:
        await bed.worker.report_status()
        told = json.loads(await conn.fetchval("select stats -> 'pool_waits' from forebay.worker"))
    assert sum(told["counts"]) > 0
