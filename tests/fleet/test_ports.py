"""What an adapter of a broker promises to dispatchers and runners, on a real broker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nats
import pytest
from nats.aio.msg import Msg

from forebay.fleet import wire
from forebay.fleet.broker_clock import BrokerClock
from forebay.fleet.bullmq import BullMQDispatcher, BullMQRunner
from forebay.fleet.jetstream.pulls import Pull
from forebay.fleet.port import (
    Beat,
    BrokerUnavailable,
    DispatcherPort,
    Drop,
    InputGone,
    InputRequest,
    Offer,
    OfferedTask,
    Report,
    RunnerPort,
    TaskEnd,
    TaskInput,
)
from tests.fleet._nats import NatsCluster
from tests.fleet._redis import RedisServer
from tests.fleet._setups import Fleet

_LARGE = "x" * 300_000
TOKEN = 2**60 + 1  # more than a number of JavaScript can hold


@dataclass
class Side:
    """The names of a test, and ways into the broker."""

    fleet: Fleet
    step: str
    dispatcher: str
    runner: str

    @asynccontextmanager
    async def dispatcher_port(self, name: str | None = None) -> AsyncIterator[DispatcherPort]:
        async def inputs(asked: InputRequest) -> TaskInput | None:
            return TaskInput(f'"{_LARGE}"', None) if asked.n == 1 else None

        port = self.fleet.dispatcher_port()
        await port.open(name or self.dispatcher, [self.step], inputs)
        try:
            yield port
        finally:
            await port.close()

    @asynccontextmanager
    async def runner_port(self, name: str | None = None, **options: Any) -> AsyncIterator[RunnerPort]:
        port = self.fleet.runner_port()
        await port.open(name or self.runner, [self.step], **options)
        try:
            yield port
        finally:
            await port.close()

    def offer(self, name: str) -> Offer:
        task = OfferedTask(TOKEN, 1, 2**61 + 1, 4, 1, None, names={"old": "new"})
        return Offer(name, self.dispatcher, self.step, (task,))

    def report(self, name: str) -> Report:
        return Report(name, self.dispatcher, self.runner, (TaskEnd(TOKEN, 1, 0.5, {"kind": "done"}),))


@pytest.fixture(params=["jetstream", "bullmq"])
def side(request: pytest.FixtureRequest) -> Side:
    return _side(request.getfixturevalue(request.param))


def _side(fleet: Fleet) -> Side:
    return Side(fleet, "pages.fetch: all", "dispatcher 1", "runner 1")


async def test_bundles_are_taken_once_in_order_and_have_left_the_broker(side: Side) -> None:
    async with side.dispatcher_port() as dispatcher, side.runner_port() as one, side.runner_port("another") as other:
        for n in range(5):
            await dispatcher.offer(side.step, [side.offer(f"{n} a"), side.offer(f"{n} b")])
        first = await _take(one, side.step, 2)
        assert first == [side.offer(name) for name in ("0 a", "0 b", "1 a", "1 b")]
        assert [offer.id for offer in await _take(other, side.step, 3)] == ["2 a", "2 b", "3 a", "3 b", "4 a", "4 b"]
        assert await one.take(side.step, 10) == []
    async with side.runner_port("a third") as third:  # the runners have ended without a report
        assert await third.take(side.step, 10) == []


async def _take(runner: RunnerPort, step: str, bundles: int) -> list[Offer]:
    """So many bundles of two offers: `take` returns what has come."""
    taken: list[Offer] = []
    async with asyncio.timeout(30):
        while len(taken) < 2 * bundles:
            taken += await runner.take(step, bundles - len(taken) // 2)
    return taken


async def test_a_runner_that_waits_gets_what_is_offered_then(side: Side) -> None:
    async with side.dispatcher_port() as dispatcher, side.runner_port() as runner:
        assert await runner.take(side.step, 1) == []
        waiting = asyncio.create_task(runner.take(side.step, 1))
        await dispatcher.offer(side.step, [side.offer("late")])
        async with asyncio.timeout(30):
            taken = await waiting
            while not taken:
                taken = await runner.take(side.step, 1)
        assert [offer.id for offer in taken] == ["late"]


async def test_bundles_that_have_waited_for_too_long_are_dropped(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock of the broker: that of the dispatcher may be wrong."""
    monkeypatch.setattr("forebay.fleet.broker_clock._VALID_S", float("inf"))
    monkeypatch.setattr("bullmq.job.time", SimpleNamespace(time=lambda: 1.0))
    async with side.dispatcher_port() as dispatcher, side.runner_port(fresh_s=60) as runner:
        assert await _next_id(side, dispatcher, runner, "first") == "first"  # the clock of the broker has been read
        await dispatcher.offer(side.step, [side.offer("old")])
        with monkeypatch.context() as later:
            later.setattr("forebay.fleet.broker_clock.monotonic", lambda: time.monotonic() + 100)
            assert await runner.take(side.step, 1) == []
        assert await _next_id(side, dispatcher, runner, "new") == "new"


async def _next_id(side: Side, dispatcher: DispatcherPort, runner: RunnerPort, name: str) -> str:
    """Offer something, and take the next bundle."""
    await dispatcher.offer(side.step, [side.offer(name)])
    async with asyncio.timeout(30):
        while not (taken := await runner.take(side.step, 1)):
            pass
    return taken[0].id


async def test_the_clock_of_a_broker_that_does_not_answer() -> None:
    async def read() -> float:
        raise BrokerUnavailable("not now")

    clock = BrokerClock(read)
    assert await clock.now() is None
    assert await clock.age(0.0) == 0.0


async def test_a_server_that_does_not_tell_its_time(nats_server: NatsCluster) -> None:
    async def answer(msg: Msg) -> None:
        await msg.respond(b"{}")

    client = await nats.connect(nats_server.url)
    try:
        pull = Pull(client, "none", "none")
        pull._info = client.new_inbox()
        await client.subscribe(pull._info, cb=answer)
        with pytest.raises(BrokerUnavailable, match=r"it does not tell its time: b'\{\}'"):
            await pull.server_time()
    finally:
        await client.close()


async def test_reports_wait_for_their_dispatcher_or_for_one_that_adopts_them(side: Side) -> None:
    async with side.dispatcher_port():
        pass
    async with side.runner_port() as runner:
        await runner.report([side.report("one"), side.report("two")])
    async with side.dispatcher_port("a survivor") as dispatcher:
        await dispatcher.adopt(side.dispatcher)
        async with asyncio.timeout(30):
            reports = await anext(dispatcher.reports())
    assert reports == [side.report("one"), side.report("two")]
    async with side.dispatcher_port() as dispatcher, side.runner_port() as runner:
        await runner.report([side.report("three")])
        async with asyncio.timeout(30):
            assert await anext(dispatcher.reports()) == [side.report("three")]


async def test_reports_that_nobody_reads_do_not_stay_in_redis_for_ever(redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?prefix=unread"
    side = _side(Fleet(partial(BullMQDispatcher, url), partial(BullMQRunner, url)))
    async with side.runner_port() as runner:
        await runner.report([side.report("one")])
    keys = redis_server.keys("unread:reports-*")
    assert keys
    assert [key for key in keys if redis_server.seconds_left(key) < 0] == []


async def test_beats_reach_all_dispatchers_and_tells_their_runner(side: Side) -> None:
    beat = Beat(side.runner, slots={side.step: 3})
    async with (
        side.dispatcher_port() as one,
        side.dispatcher_port("another") as other,
        side.runner_port() as runner,
        asyncio.timeout(30),
    ):
        await runner.beat(beat)
        assert await anext(one.beats()) == beat
        assert await anext(other.beats()) == beat
        await one.tell("somebody else", Drop(("x",)))
        await one.tell(side.runner, Drop(("a", "b")))
        assert await anext(runner.tells()) == Drop(("a", "b"))


async def test_a_large_input_is_asked_for(side: Side) -> None:
    async with side.runner_port() as runner:
        with pytest.raises((InputGone, BrokerUnavailable)):
            await runner.input(side.dispatcher, InputRequest("o", TOKEN, 1))
        async with side.dispatcher_port():
            assert (await runner.input(side.dispatcher, InputRequest("o", TOKEN, 1))).input == f'"{_LARGE}"'
            with pytest.raises(InputGone):
                await runner.input(side.dispatcher, InputRequest("o", TOKEN, 2))


async def test_a_message_of_another_protocol_is_dropped(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    async with side.dispatcher_port() as dispatcher, side.runner_port() as runner:
        with monkeypatch.context() as newer:
            newer.setattr(wire, "encode_object", lambda *_: {"v": 99, "m": []})
            newer.setattr(wire, "encode", lambda *_: b'{"v": 99, "m": []}')
            newer.setattr(wire, "encode_report", lambda _: b'{"v": 99, "m": []}')
            await dispatcher.offer(side.step, [side.offer("newer")])
            await runner.report([side.report("newer")])
        await dispatcher.offer(side.step, [side.offer("mine")])
        await runner.report([side.report("mine")])
        async with asyncio.timeout(30):
            while not (taken := await runner.take(side.step, 10)):
                pass
            assert [offer.id for offer in taken] == ["mine"]
            assert await anext(dispatcher.reports()) == [side.report("mine")]


async def test_redis_is_used_again_after_it_was_emptied_or_died(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        side = _side(Fleet(partial(BullMQDispatcher, server.url), partial(BullMQRunner, server.url)))
        async with side.dispatcher_port() as dispatcher, side.runner_port() as runner:
            await dispatcher.offer(side.step, [side.offer("lost")])
            server.flush()
            await _works(side, dispatcher, runner)
            server.kill()
            with pytest.raises(BrokerUnavailable):
                await dispatcher.offer(side.step, [side.offer("not taken")])
            with pytest.raises(BrokerUnavailable):
                await runner.take(side.step, 1)
            server.start()
            await _works(side, dispatcher, runner)


async def _works(side: Side, dispatcher: DispatcherPort, runner: RunnerPort) -> None:
    async with asyncio.timeout(60):
        await dispatcher.offer(side.step, [side.offer("kept")])
        while not (taken := await runner.take(side.step, 1)):
            pass
        assert [offer.id for offer in taken] == ["kept"]
        await runner.report([side.report("kept")])
        assert await anext(dispatcher.reports()) == [side.report("kept")]
        received = asyncio.create_task(_next_beat(dispatcher))
        while not received.done():  # a message to one who has not connected again yet is missed
            await runner.beat(Beat(side.runner))
            await asyncio.wait({received}, timeout=0.1)


async def _next_beat(dispatcher: DispatcherPort) -> Beat:
    return await anext(dispatcher.beats())
