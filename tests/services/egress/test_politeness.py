"""Hosts are asked as much as they take, and left alone when they say so."""

# demands: S5-67, X-07

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from forebay.errors import ThrottledError
from forebay.owner_turns import acting_for
from forebay.services.egress import Politeness
from forebay.settings import Settings
from tests.services.egress._world import until


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def polite(clock: Clock | None = None, **settings: Any) -> Politeness:
    clock = clock or Clock()
    given = Settings(**{f"egress_{name}": value for name, value in settings.items()})
    return Politeness(given, clock=clock, sleep=clock.sleep)


async def ask(politeness: Politeness, seconds: float = 0.1, host: str = "a.test") -> None:
    async with politeness.slot(host) as slot:
        slot.answered(seconds)


async def test_a_host_that_answers_is_asked_more() -> None:
    politeness = polite(host_concurrency=5)
    for _ in range(100):
        async with AsyncExitStack() as stack:
            limit = politeness._host("a.test").limit.value
            slots = [await stack.enter_async_context(politeness.slot("a.test")) for _ in range(limit)]
            for slot in slots:
                slot.answered(0.1)
    assert politeness._host("a.test").limit.value == 5


async def test_owners_get_the_slots_of_a_host_in_turn() -> None:
    """A row of one owner does not wait for all rows of another that ask the same provider."""
    politeness, served = polite(), list[int]()

    async def ask_for(owner_id: int) -> None:
        acting_for.set(owner_id)
        async with politeness.slot("shop", 1):
            served.append(owner_id)

    async with politeness.slot("shop", 1):
        asking = [asyncio.create_task(ask_for(owner_id)) for owner_id in (1, 1, 1, 1, 2, 2)]
        await until(lambda: politeness.totals()["waiting"] == len(asking))
        asking[1].cancel()  # its place is not kept
        await asyncio.wait({asking[1]})
        assert politeness.totals()["waiting"] == len(asking) - 1
    await asyncio.wait(asking)
    assert served == [1, 2, 1, 2, 1]


async def test_a_host_that_fails_is_asked_less() -> None:
    politeness = polite(host_wait_s=600)
    politeness._host("a.test").limit.limit = 8
    for _ in range(50):
        async with politeness.slot("a.test") as slot:
            slot.failed(1.0)
    assert politeness._host("a.test").limit.value == 1
    await ask(politeness)  # but never less than one at a time


async def test_others_wait_for_their_turn() -> None:
    politeness = polite(host_concurrency=1)
    order: list[int] = []

    async def asks(n: int) -> None:
        async with politeness.slot("a.test"):
            order.append(n)

    async with asyncio.TaskGroup() as group, politeness.slot("a.test"):
        tasks = [group.create_task(asks(n)) for n in range(4)]
        await until(lambda: politeness.describe()["a.test"]["waiting"] == 4)
        assert not order
        await ask(politeness, host="b.test")  # another host has nothing to do with it
        tasks[1].cancel()
    assert order == [0, 2, 3]
    await ask(politeness)


async def test_a_wait_that_is_too_long() -> None:
    politeness = polite(host_concurrency=1, host_wait_s=0.01)
    async with politeness.slot("a.test"):
        with pytest.raises(ThrottledError, match=r"enough requests to a\.test are under way already") as told:
            await ask(politeness)
        assert told.value.retry_after == 0.01
    await ask(politeness)


async def test_patience_ends_waits_and_then_itself() -> None:
    clock = Clock()
    politeness = polite(clock, host_concurrency=1)
    waiting: asyncio.Task[None] | None = None
    async with politeness.slot("a.test") as slot:
        waiting = asyncio.create_task(ask(politeness))
        await until(lambda: politeness.describe()["a.test"]["waiting"] == 1)
        assert slot.throttled(50) == 50
        with pytest.raises(ThrottledError, match=r"a\.test is rate limiting us; retrying in 50 s") as told:
            await waiting
        assert told.value.retry_after == 50
    clock.now += 20
    with pytest.raises(ThrottledError, match=r"a\.test is rate limiting us; retrying in 30 s") as told:
        await ask(politeness)
    assert told.value.retry_after == 30
    assert politeness.describe()["a.test"]["closed_s"] == 30
    clock.now += 30
    await ask(politeness)


async def test_patience_that_was_not_told_doubles_within_reason() -> None:
    clock = Clock()
    politeness = polite(clock, retry_after_max_s=100)
    given: list[float] = []
    for _ in range(4):
        async with politeness.slot("a.test") as slot:
            given.append(slot.throttled(None))
        clock.now += 100
    assert given == [30, 60, 100, 100]
    await ask(politeness)
    async with politeness.slot("a.test") as slot:
        assert slot.throttled(None) == 30
    clock.now += 100
    async with politeness.slot("a.test") as slot:
        assert slot.throttled(9999) == 100


async def test_totals_tell_of_the_worst_and_name_nobody() -> None:
    clock = Clock()
    politeness = polite(clock, host_concurrency=2)
    assert politeness.totals()["longest_closed_s"] == politeness.totals()["known"] == 0
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(politeness.slot("a.test"))
        late = asyncio.create_task(ask(politeness))
        await until(lambda: politeness.totals()["waiting"] == 1)
        for seconds in (30.0, 90.0):
            slot = await stack.enter_async_context(politeness.slot(f"{seconds}.test"))
            slot.throttled(seconds)
        assert politeness.totals() == {
            "known": 3,
            "busy": 3,
            "closed": 2,
            "running": 4,
            "waiting": 1,
            "most_waiting": 1,
            "longest_closed_s": 90.0,
            "longest_delay_s": 0.5,
            "throttled": 2,
        }
    await late


async def test_a_pause_between_requests() -> None:
    clock = Clock()
    politeness = polite(clock, host_delay_s=2)
    for _ in range(3):
        await ask(politeness, seconds=0.5)
    assert clock.slept == [2, 2]
    for _ in range(20):
        await ask(politeness, seconds=10)
    assert 9 < clock.slept[-1] <= 10  # a slow host is asked more slowly
    async with politeness.slot("a.test") as slot:
        slot.failed(0.1)  # and a quick error does not change that
    assert politeness.describe()["a.test"]["delay_s"] > 9  # type: ignore[operator]


async def test_a_host_that_fails_is_asked_less_often_by_itself() -> None:
    clock = Clock()
    politeness = polite(clock, host_delay_s=0)
    for _ in range(4):
        async with politeness.slot("a.test") as slot:
            slot.failed(0.01)
    assert clock.slept == [0.5, 1.0, 2.0]
    await ask(politeness, host="b.test")
    assert len(clock.slept) == 3  # others are asked as ever
    for _ in range(10):
        await ask(politeness, seconds=5.0)
    assert clock.slept[3:7] == [4.0, 4.0, 2.0, 1.0]
    assert "a.test" not in politeness.describe()  # it has recovered


async def test_failures_of_one_moment_count_once() -> None:
    politeness = polite(host_concurrency=8)
    politeness._host("a.test").limit.limit = 8
    async with AsyncExitStack() as stack:
        slots = [await stack.enter_async_context(politeness.slot("a.test")) for _ in range(8)]
        for slot in slots:
            slot.failed(1.0)
    assert politeness.describe()["a.test"]["delay_s"] == 0.5


async def test_a_host_that_was_closed_is_asked_slowly_at_first() -> None:
    clock = Clock()
    politeness = polite(clock)
    async with politeness.slot("a.test") as slot:
        slot.throttled(10)
    clock.now += 10
    for _ in range(2):
        await ask(politeness)
    assert clock.slept == [0.5]


async def test_a_pause_that_is_too_long() -> None:
    politeness = polite(host_wait_s=5)
    politeness.slow_down("a.test", 20)
    await ask(politeness)
    with pytest.raises(ThrottledError, match=r"enough requests to a\.test are under way already") as told:
        await ask(politeness)
    assert told.value.retry_after == 20
    politeness.slow_down("b.test", 10_000)
    assert politeness.describe()["b.test"]["delay_s"] == 60


async def test_only_so_many_hosts_are_remembered() -> None:
    politeness = polite()
    async with politeness.slot("busy.test"), politeness.slot("closed.test") as closing:
        closing.throttled(100)
        for n in range(5000):
            await ask(politeness, host=f"{n}.test")
        assert len(politeness._hosts) <= 4098
        assert {"busy.test", "closed.test", "4999.test"} <= set(politeness._hosts)
        assert "0.test" not in politeness._hosts
    assert set(politeness.describe()) == {"closed.test"}


async def test_a_service_that_is_well_again_is_asked_without_delay() -> None:
    clock = Clock()
    politeness = polite(clock, host_wait_s=600)
    for _ in range(6):
        async with politeness.slot("shop", 64) as slot:
            slot.failed(0.1)
    assert politeness._host("shop").delay > 5
    async with politeness.slot("shop", 64) as slot:
        slot.answered(0.1)
    clock.slept.clear()
    async with politeness.slot("shop", 64) as slot:
        slot.answered(0.1)
    assert clock.slept == []


async def test_refusals_of_one_moment_count_once() -> None:
    clock = Clock()
    politeness = polite(clock, host_concurrency=8, retry_after_max_s=3600.0)
    politeness._host("a.test").limit.limit = 8
    async with AsyncExitStack() as stack:
        slots = [await stack.enter_async_context(politeness.slot("a.test")) for _ in range(8)]
        pauses = [slot.throttled(None) for slot in slots]
    assert pauses == [30.0] * 8
    assert politeness._host("a.test").limit.value == 7
