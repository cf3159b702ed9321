"""Names are asked for once, within a time, and not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from forebay.services.egress import Unreachable
from forebay.services.egress.addresses import Address
from forebay.services.egress.resolver import CachingResolver, SystemResolver
from tests.services.egress._world import Names


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def resolve(self, host: str) -> Sequence[Address]:
        self.asked += 1
        self.begun.set()
        await self.go.wait()
        return [ip_address("1.1.1.1")]


async def test_the_systems() -> None:
    system = SystemResolver()
    assert ip_address("127.0.0.1") in await system.resolve("localhost")
    with pytest.raises(Unreachable, match=r"there is no host|could not be resolved"):
        await system.resolve("absent.invalid")
    with pytest.raises(Unreachable, match="there is no host"):
        await system.resolve("a" * 64 + ".test")
    system.close()


async def test_answers_are_kept_for_a_while() -> None:
    now = 0.0
    names = Names()
    names.put("a.test", "1.1.1.1", "2.2.2.2")
    caching = CachingResolver(names, keep_s=30, clock=lambda: now)
    assert [await caching.resolve("a.test") for _ in range(3)] == [[ip_address("1.1.1.1")]] * 3
    now = 31
    assert await caching.resolve("a.test") == [ip_address("2.2.2.2")]
    assert names.asked == ["a.test"] * 2


async def test_failures_are_not_kept() -> None:
    names = Names()
    caching = CachingResolver(names)
    for _ in range(2):
        with pytest.raises(Unreachable, match=r"there is no host a\.test"):
            await caching.resolve("a.test")
    names.put("a.test", [])
    with pytest.raises(Unreachable, match=r"there is no host a\.test"):
        await caching.resolve("a.test")
    names.put("a.test", "1.1.1.1")
    assert await caching.resolve("a.test")


async def test_only_so_many_are_kept() -> None:
    names = Names()
    for n in range(3):
        names.put(f"{n}.test", "1.1.1.1")
    caching = CachingResolver(names, size=2)
    for n in (0, 1, 2, 1, 2, 0):
        await caching.resolve(f"{n}.test")
    assert names.asked == ["0.test", "1.test", "2.test", "0.test"]


async def test_one_question_for_all_who_wait() -> None:
    slow = Slow()
    caching = CachingResolver(slow)
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(caching.resolve("a.test")) for _ in range(5)]
        await slow.begun.wait()
        waiting[0].cancel()
        slow.go.set()
    assert slow.asked == 1
    assert [task.result() for task in waiting[1:]] == [[ip_address("1.1.1.1")]] * 4


async def test_nobody_answers() -> None:
    caching = CachingResolver(Slow(), timeout_s=0.01)
    with pytest.raises(Unreachable, match=r"a\.test could not be resolved within 0\.01 s"):
        await caching.resolve("a.test")


async def test_closing_gives_up() -> None:
    slow = Slow()
    caching = CachingResolver(slow)
    waiting = asyncio.create_task(caching.resolve("a.test"))
    await slow.begun.wait()
    await caching.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
