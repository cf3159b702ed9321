"""What a runner does with what a broker gives it, and with what it has to send."""

# demands: S1-120

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay import Context, Pipeline
from forebay.engine.submit.results import wait
from forebay.fleet import wire
from forebay.fleet.port import BrokerUnavailable
from tests.fleet._pipelines import Input
from tests.fleet._polling import until
from tests.fleet._setups import Fleet

if TYPE_CHECKING:
    import asyncpg
    import pytest

    from forebay.fleet.port import Offer, Report

    Conn = asyncpg.Connection[Any]


class _Around:
    """A port of a runner of which a test replaces some methods."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class _Doubling(_Around):
    """Gives each offer out twice at once."""

    async def take(self, step: str, most: int) -> Sequence[Offer]:
        return [offer for offer in await self._port.take(step, most) for _ in range(2)]


async def test_an_offer_that_comes_twice_at_once_runs_once(dsn: str, conn: Conn, fleet: Fleet) -> None:
    pipeline: Pipeline[Input] = Pipeline("twice", dict)
    single: list[int] = []
    batched: list[int] = []

    @pipeline.step()
    async def one(ctx: Context, value: Input) -> None:
        single.append(value["n"])

    @pipeline.batch_step(after=one, size=5)
    async def many(ctx: Context, values: Sequence[tuple[Input, Any]]) -> list[None]:
        batched.extend(value["n"] for value, _ in values)
        return [None] * len(values)

    doubling = Fleet(fleet.dispatcher_port, lambda: _Doubling(fleet.runner_port()))  # type: ignore[arg-type,return-value]
    async with doubling.working(dsn, pipeline):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(20)])
        assert (await wait(dsn, job.job_id, timeout=60)).done == 20
    assert sorted(single) == sorted(batched) == list(range(20))
    assert await conn.fetchval("select count(*) from forebay.attempt where outcome <> 'DONE'") == 0


class _Delaying(_Around):
    """Cannot be reached with reports before it is told."""

    def __init__(self, port: Any, reached: asyncio.Event) -> None:
        super().__init__(port)
        self._reached = reached

    async def report(self, reports: Sequence[Report]) -> None:
        if not self._reached.is_set():
            raise BrokerUnavailable("not yet")
        await self._port.report(reports)


async def test_reports_that_have_waited_fit_into_messages_that_dispatchers_read(
    dsn: str, conn: Conn, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "_LONGEST", 1 << 20)
    pipeline: Pipeline[Input] = Pipeline("long", dict)
    reached, runs = asyncio.Event(), []

    @pipeline.step(concurrency=(8, 8))
    async def step(ctx: Context, value: Input) -> str:
        runs.append(value["n"])
        return "x" * 300_000

    slow = Fleet(fleet.dispatcher_port, lambda: _Delaying(fleet.runner_port(), reached))  # type: ignore[arg-type,return-value]
    async with slow.working(dsn, pipeline):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(8)])
        async with asyncio.timeout(60):
            while len(runs) < 8:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        reached.set()
        assert (await wait(dsn, job.job_id, timeout=60)).done == 8
    assert sorted(runs) == list(range(8))
    await until(conn, "count(*) = 0 from forebay.lease")
