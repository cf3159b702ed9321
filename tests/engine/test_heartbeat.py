"""Leases are renewed whatever the worker's event loop does, and last no longer than they must."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.db.pool import release
from forebay.engine.db import tasks
from forebay.engine.submit.results import wait
from tests.engine.test_worker import working

_LEASE = 1.0


async def _watch(dsn: str) -> None:
    """Expire leases, as any worker does, until the database's clock is two leases past the claim."""
    conn = await asyncpg.connect(dsn)
    try:
        while not await conn.fetchval(
            "select bool_and(clock_timestamp() > claimed_at + make_interval(secs => $1)) from forebay.lease",
            2 * _LEASE,
        ):
            await conn.fetch("select * from forebay.expire()")
            await conn.execute("select pg_sleep(0.05)")
    finally:
        await conn.close()


async def test_a_step_that_blocks_the_event_loop_keeps_its_lease(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    blocking: Pipeline[dict[str, int]] = Pipeline("blocking", dict)
    begun, watched = threading.Event(), threading.Event()
    runs: list[int] = []

    @blocking.step()
    async def step(ctx: Context, value: dict[str, int]) -> None:
        runs.append(ctx.attempt)
        begun.set()
        assert watched.wait(60)  # nothing else runs on this event loop meanwhile

    def watch() -> None:
        begun.wait(60)
        try:
            asyncio.run(_watch(dsn))
        finally:
            watched.set()

    watcher = threading.Thread(target=watch)
    async with working(dsn, blocking, lease_floor_s=_LEASE, sweep_s=3600):
        watcher.start()
        job = await blocking.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    watcher.join()
    assert runs == [1]
    assert await conn.fetchval("select array_agg(outcome::text) from forebay.attempt") == ["DONE"]


async def test_a_worker_whose_event_loop_is_blocked_for_too_long_loses_its_leases(
    dsn: str, conn: asyncpg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    blocking: Pipeline[dict[str, int]] = Pipeline("blocking", dict)
    begun, expired, resumed = threading.Event(), threading.Event(), asyncio.Event()

    @blocking.step()
    async def step(ctx: Context, value: dict[str, int]) -> None:
        if ctx.attempt == 1:
            worker._leases.loop_seen -= worker.settings.lease_cap_s  # it was blocked for so long already
            begun.set()
            assert expired.wait(60)  # nothing else runs on this event loop meanwhile
            resumed.set()

    def expire() -> None:
        begun.wait(60)
        asyncio.run(_expire(dsn))
        expired.set()

    watcher = threading.Thread(target=expire)
    async with working(dsn, blocking, lease_floor_s=_LEASE, sweep_s=3600) as worker:
        watcher.start()
        await blocking.submit(conn, {"n": 1})
        await resumed.wait()
    watcher.join()
    assert "EXPIRED" in await conn.fetchval("select array_agg(outcome::text) from forebay.attempt")
    blocked = [record for record in caplog.records if "event_loop_blocked" in record.getMessage()]
    assert [record.levelname for record in blocked] == ["CRITICAL"]


async def _expire(dsn: str) -> None:
    """Expire leases, as any worker does, until none is left."""
    conn = await asyncpg.connect(dsn)
    try:
        async with asyncio.timeout(30):
            while await conn.fetchval("select count(*) from forebay.lease"):
                await conn.fetch("select * from forebay.expire()")
                await conn.execute("select pg_sleep(0.05)")
    finally:
        await conn.close()


async def test_a_lease_is_short_even_beside_long_tasks(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """A task that is claimed together with long ones comes back as soon as the others if its machine dies."""
    mixed: Pipeline[dict[str, int]] = Pipeline("mixed", dict)
    begun, go = asyncio.Event(), asyncio.Event()

    @mixed.step()
    async def step(ctx: Context, value: dict[str, int]) -> None:
        begun.set()
        await go.wait()

    async with working(dsn, mixed) as worker:
        for executor in worker._executors.values():
            executor.size.item_s.mean = 300.0
        await mixed.submit(conn, {"n": 1})
        await begun.wait()
        lease_s = await conn.fetchval("select extract(epoch from expires_at - claimed_at)::float8 from forebay.lease")
        go.set()
    assert lease_s == pytest.approx(10, abs=0.01)


async def test_a_repeated_claim_releases_leases_whose_response_was_lost(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: Pipeline[dict[str, int]] = Pipeline("lost", dict)
    claim, losses = tasks.claim, 0

    @lost.step()
    async def step(ctx: Context, value: dict[str, int]) -> None: ...

    async def claim_and_lose(*args: Any) -> Any:
        nonlocal losses
        leases = await claim(*args)
        if leases and not losses:
            losses += 1
            raise ConnectionResetError
        return leases

    monkeypatch.setattr(tasks, "claim", claim_and_lose)
    # Without the release, the lease would last ten minutes, and nobody would expire it.
    async with working(dsn, lost, lease_floor_s=600, sweep_s=3600):
        job = await lost.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert losses == 1
    assert await conn.fetchval("select array_agg((outcome::text, attempt)::text) from forebay.attempt") == ["(DONE,1)"]


async def test_a_claim_in_progress_keeps_its_leases_when_another_is_repeated(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its leases are in the database and not yet in the book."""
    slow: Pipeline[dict[str, int]] = Pipeline("slow_arrival", dict)

    @slow.step()
    async def step(ctx: Context, value: dict[str, int]) -> None: ...

    async with working(dsn, slow, lease_floor_s=600, sweep_s=3600) as worker:
        worker._claimer.close()
        await slow.submit(conn, {"n": 1})
        book, pool = worker._leases, worker._pool
        arrival = book.expect_claim()
        taking = await pool.acquire()
        ready = await conn.fetchrow("select step_id, lane_id from forebay.ready")
        assert ready is not None
        claims = [tasks.Claim(ready["step_id"], ready["lane_id"], 0, 1, 1)]
        leases = await tasks.claim(taking, worker.worker_id, claims, [], 600, None)
        await release(pool, taking)
        held_tokens, listed = tasks.held_tokens, asyncio.Event()

        async def note(*args: Any) -> list[int]:
            tokens = await held_tokens(*args)
            listed.set()
            return tokens

        monkeypatch.setattr(tasks, "held_tokens", note)
        releasing = asyncio.create_task(book.release_unknown())
        await listed.wait()
        book.add(leases[0])
        book.note_arrival(arrival)
        await releasing
        assert await conn.fetchval("select count(*) from forebay.lease") == 1
