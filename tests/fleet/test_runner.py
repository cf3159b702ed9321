"""Messages between a broker and its runners: what comes twice, what had to wait, and what is too large."""

# demands: S1-120

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from nats.errors import MaxPayloadError

from forebay import Context, Pipeline, Retry
from forebay.engine.submit.results import wait
from forebay.errors import DefinitionError
from forebay.fleet import wire
from forebay.fleet.beats import beats_of
from forebay.fleet.jetstream.connection import Address, connect
from forebay.fleet.port import BUNDLE_BYTES, Beat, BrokerUnavailable, Drop, HeldOffer
from tests.fleet._nats import NatsCluster
from tests.fleet._pipelines import Input
from tests.fleet._polling import until
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from pathlib import Path

    import asyncpg

    from forebay.fleet.port import Offer, Report, RunnerPort

    Conn = asyncpg.Connection[Any]


class _Around:
    """A port of which a test replaces some methods."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


def _fleet(dispatcher_port: Any, runner_port: Any) -> Fleet:
    return Fleet(dispatcher_port, runner_port)


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

    doubling = _fleet(fleet.dispatcher_port, lambda: _Doubling(fleet.runner_port()))
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
    monkeypatch.setattr(wire, "LONGEST", 1 << 20)
    pipeline: Pipeline[Input] = Pipeline("long", dict)
    reached, runs = asyncio.Event(), []

    @pipeline.step(concurrency=(8, 8))
    async def step(ctx: Context, value: Input) -> str:
        runs.append(value["n"])
        return "x" * 300_000

    slow = _fleet(fleet.dispatcher_port, lambda: _Delaying(fleet.runner_port(), reached))
    async with slow.working(dsn, pipeline):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(8)])
        async with asyncio.timeout(60):
            while len(runs) < 8:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        reached.set()
        assert (await wait(dsn, job.job_id, timeout=60)).done == 8
    assert sorted(runs) == list(range(8))
    await until(conn, "count(*) = 0 from forebay.lease")


class _Refusing(_Around):
    """Takes no offers, because they are too large."""

    async def offer(self, *_: object) -> None:
        raise MaxPayloadError


async def test_an_offer_that_the_broker_never_takes_fails_with_its_reason(
    dsn: str, conn: Conn, jetstream: Fleet
) -> None:
    pipeline: Pipeline[Input] = Pipeline("refused", dict)

    @pipeline.step(retry=Retry(attempts=1))
    async def step(ctx: Context, value: Input) -> None: ...

    refusing = _fleet(lambda: _Refusing(jetstream.dispatcher_port()), jetstream.runner_port)
    async with refusing.working(dsn, pipeline):
        job = await pipeline.submit(conn, {})
        assert (await wait(dsn, job.job_id, timeout=60)).error == 1
    assert "maximum payload exceeded" in await conn.fetchval("select error ->> 'reason' from forebay.item")


async def test_a_nats_server_that_takes_small_messages_only_is_refused(tmp_path: Path) -> None:
    server = NatsCluster(tmp_path, 1, more="max_payload: 100KB")
    server.start()
    try:
        await server.wait_until_ready()
        with pytest.raises(DefinitionError) as caught:
            await connect(Address.parse(server.url), "test")
    finally:
        server.kill()
    assert str(caught.value) == (
        "the NATS server takes messages of 102400 bytes, but a fleet needs 270336: set max_payload in its configuration"
    )


def test_beats_of_a_runner_with_many_tasks_are_divided() -> None:
    held = [HeldOffer(f"1:{n}", "d", tuple(range(2**62, 2**62 + 800)), {"note": "x" * 200}) for n in range(40)]
    beats = list(beats_of("runner", held, slots={"step": 3}))
    assert [offer for beat in beats for offer in beat.held] == held
    assert [beat.slots for beat in beats] == [{"step": 3}] + [None] * (len(beats) - 1)
    assert 1 < len(beats) < len(held)
    assert max(len(wire.encode(beat)) for beat in beats) < BUNDLE_BYTES
    assert list(beats_of("runner", [])) == [Beat("runner")]


async def test_a_runner_that_does_not_end_a_call_at_its_timeout_loses_it(
    dsn: str, conn: Conn, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although it says all the time that it has the task."""
    monkeypatch.setattr("forebay.fleet.offers._OVERDUE_S", 0.5)
    pipeline: Pipeline[Input] = Pipeline("hung", dict)

    @pipeline.step(timeout=0.25, retry=Retry(attempts=1))
    async def step(ctx: Context, value: Input) -> None: ...

    port = fleet.runner_port()
    async with running(fleet.dispatcher(dsn, pipeline)):
        await port.open("hung", ["hung.step"])
        try:
            job = await pipeline.submit(conn, {})
            (offer,) = await _first_offers(port, "hung.step")
            assert offer.timeout == 0.25
            held = HeldOffer(offer.id, offer.dispatcher, (offer.tasks[0].token,))
            told = asyncio.ensure_future(anext(port.tells()))
            while not told.done():
                await port.beat(Beat("hung", slots={"hung.step": 1}, held=(held,)))
                await asyncio.wait({told}, timeout=0.1)
            assert told.result() == Drop((offer.id,))
            assert (await wait(dsn, job.job_id, timeout=60)).error == 1
        finally:
            await port.close()
    assert await conn.fetchval("select error ->> 'reason' from forebay.item") == "timed out after 0.25 s"


async def _first_offers(port: RunnerPort, step: str) -> Sequence[Offer]:
    async with asyncio.timeout(60):
        while True:
            await port.beat(Beat("hung", slots={step: 1}))
            if offers := await port.take(step, 1):
                return offers


async def test_an_offer_that_was_released_is_not_begun(dsn: str, conn: Conn, fleet: Fleet) -> None:
    """A runner says that it has a slot, and takes nothing; the next one finds this offer in the broker."""
    runs: list[int] = []
    pipeline: Pipeline[Input] = Pipeline("released", dict)

    @pipeline.step(concurrency=(1, 1))
    async def step(ctx: Context, value: Input) -> None:
        runs.append(ctx.n)

    port = fleet.runner_port()
    async with running(fleet.dispatcher(dsn, pipeline, lease_floor_s=2.0)):
        await port.open("silent", [])
        job = await pipeline.submit(conn, {})
        while await conn.fetchval("select count(*) = 0 from forebay.lease"):
            await port.beat(Beat("silent", slots={"released.step": 1}))
            await asyncio.sleep(0.05)
        await port.beat(Beat("silent", is_last=True))
        await port.close()
        await until(conn, "count(*) = 0 from forebay.lease")
        async with running(fleet.runner(pipeline, lease_floor_s=1.0)):
            assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert len(runs) == 1
