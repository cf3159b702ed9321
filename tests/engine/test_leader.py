"""One worker runs the maintenance for all; the others ask the database for little."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest
from pydantic import SecretStr

from forebay import Context, Pipeline, Retry
from forebay.db.pool import UNAVAILABLE, open_pool
from forebay.engine.clock import Clock
from forebay.engine.maintenance.leader import Leader
from forebay.engine.maintenance.sweeper import Sweeper
from forebay.engine.submit.results import wait
from forebay.engine.work.peers import Peers
from forebay.errors import TransientError
from forebay.settings import Settings
from forebay.testing import testbed
from tests.engine.test_worker import working

_ADVISORY_LOCKS = """
select count(*) from pg_locks l join pg_database d on d.oid = l.database
where l.locktype = 'advisory' and d.datname = current_database()
"""


@pytest.fixture
def idle() -> Pipeline[dict[str, int]]:
    pipeline: Pipeline[dict[str, int]] = Pipeline("idle", dict)

    @pipeline.step(retry=Retry(attempts=2, base=0.2))
    async def step(ctx: Context, value: dict[str, int]) -> None:
        if ctx.attempt == 1 and value["n"]:
            raise TransientError("try again")

    return pipeline


@pytest.mark.direct
async def test_one_of_two_workers_is_elected_and_replaced(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with await open_pool(dsn, size=2, name="test") as pool:
        first, second = (Leader(dsn, pool, Settings()) for _ in range(2))
        await first.run_for_election()
        await second.run_for_election()
        assert (first.is_elected, second.is_elected) == (True, False)
        async with first.connection() as own:
            assert await own.fetchval("show idle_session_timeout") == "15s"
            assert await own.fetchval("show idle_in_transaction_session_timeout") == "15s"
            pid = await own.fetchval("select pg_backend_pid()")
        await conn.fetchval("select pg_terminate_backend($1, 60000)", pid)
        with suppress(*UNAVAILABLE):  # unless the end of the session is known already
            async with first.connection() as own:
                await own.fetchval("select 1")
        assert not first.is_elected
        await second.run_for_election()
        assert (first.is_elected, second.is_elected) == (False, True)
        second.step_down()


async def test_without_sessions_there_is_no_election(dsn: str) -> None:
    async with await open_pool(dsn, size=2, name="test", prepared=False) as pool:
        leaders = [Leader(dsn, pool, Settings(prepared_statements=False)) for _ in range(2)]
        for leader in leaders:
            await leader.run_for_election()
            assert leader.is_elected
            async with leader.connection() as borrowed:
                assert await borrowed.fetchval(_ADVISORY_LOCKS) == 0


@pytest.mark.direct
async def test_the_election_takes_the_way_past_the_pooler(dsn: str) -> None:
    behind: Any = Settings(prepared_statements=False, listen_url=SecretStr(dsn))
    async with await open_pool(dsn, size=2, name="test", prepared=False) as pool:
        first, second = (Leader("postgresql://pooler.invalid/db", pool, behind) for _ in range(2))
        await first.run_for_election()
        await second.run_for_election()
        assert (first.is_elected, second.is_elected) == (True, False)
        first.step_down()


def test_workers_share_what_each_of_them_could_do() -> None:
    """All together do it as often as one would."""
    peers = Peers(1)
    assert all(peers.is_my_turn(among) for among in (0, 1))
    turns = sum(peers.is_my_turn(50) for _ in range(10_000))
    assert 110 <= turns <= 290  # 200; six standard deviations


async def test_each_worker_asks_for_a_missing_leader_now_and_then() -> None:
    """Most of a thousand others have died, which nobody knows for half a minute."""
    asked: list[int] = []
    ticks = 0

    async def run_for_election() -> None:
        asked.append(ticks)

    leader: Any = SimpleNamespace(is_elected=False, run_for_election=run_for_election)
    peers: Any = SimpleNamespace(count=1000, is_my_turn=lambda _among: False)
    pool: Any = None
    sweeper = Sweeper(pool, Settings(), Clock(), leader, peers, wake=lambda *_: None)
    for ticks in range(1, 8):  # noqa: B007 - it is what is noted
        await sweeper._elect_in_turn()
    assert asked == [3, 6]
    peers.is_my_turn = lambda among: among == 999
    await sweeper._elect_in_turn()
    assert asked == [3, 6, 7]
    leader.is_elected = True
    for _ in range(6):
        await sweeper._elect_in_turn()
    assert asked == [3, 6, 7]


@pytest.mark.direct
async def test_an_idle_worker_sends_few_statements(
    dsn: str, idle: Pipeline[dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: Counter[str] = Counter()

    def count(method: str) -> None:
        original = getattr(asyncpg.Connection, method)

        async def counted(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
            sent[sql.strip().splitlines()[-1][:60]] += 1
            return await original(self, sql, *args, **kwargs)

        monkeypatch.setattr(asyncpg.Connection, method, counted)

    async with working(dsn, idle) as worker:
        await worker.wait_until_idle()
        while not worker._listener.is_listening:  # noqa: ASYNC110 - it has no event for this
            await asyncio.sleep(0.01)
        worker._claimer.polling._pause = worker._claimer.polling.idle_poll_s  # polls are more frequent at first
        for method in ("fetch", "fetchrow", "fetchval", "execute"):
            count(method)
        began = time.monotonic()
        await asyncio.sleep(8)  # what is measured is what happens meanwhile; some statements come every five seconds
        rate = sum(sent.values()) / (time.monotonic() - began)
    assert rate <= 2, sent


@pytest.mark.direct
async def test_a_worker_that_is_not_the_leader_promotes_its_own_retries(
    dsn: str, conn: asyncpg.Connection[Any], idle: Pipeline[dict[str, int]]
) -> None:
    async with await open_pool(dsn, size=1, name="test") as pool:
        other = Leader(dsn, pool, Settings())
        await other.run_for_election()
        async with working(dsn, idle, sweep_s=3600) as worker:
            job = await idle.submit(conn, {"n": 1})
            assert (await wait(dsn, job.job_id, timeout=60)).done == 1
            assert not worker._leader.is_elected
        other.step_down()


async def test_leases_are_looked_at_from_the_lowest_one_on(dsn: str, idle: Pipeline[dict[str, int]]) -> None:
    add = """insert into forebay.lease
        (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        values ($1, 1, 1, 0, 1, 1, 1, $2, $2, '{[1,1]}')"""
    async with testbed(dsn, [idle], migrated=True) as bed:
        sweeper, now = bed.worker._sweeper, bed.clock.now()

        async def left_after(look: Callable[[], Awaitable[None]]) -> list[int]:
            sweeper._expire_at = 0.0
            await look()
            return [row["token"] for row in await bed.pool.fetch("select token from forebay.lease order by token")]

        await bed.pool.execute(add, 100, now + timedelta(hours=1))
        await bed.pool.execute(add, 200, now)
        assert await left_after(sweeper.look) == [100]
        for token in (50, 300):  # the first belongs to a claim whose commit came late
            await bed.pool.execute(add, token, now)
        assert await left_after(sweeper.look_at_leases) == [50, 100]
        sweeper._all_leases_at = 0.0  # a minute later
        assert await left_after(sweeper.look_at_leases) == [100]
