"""Names are asked for once, within a time, and not for ever."""

from __future__ import annotations

import asyncio
import socket
import threading
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

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        self.asked += 1
        self.begun.set()
        await self.go.wait()
        return [ip_address("1.1.1.1")]


async def test_the_systems() -> None:
    system = SystemResolver()
    assert ip_address("127.0.0.1") in await system.resolve("localhost")
    with pytest.raises(Unreachable, match=r"does not exist|could not be resolved"):
        await system.resolve("absent.invalid")
    with pytest.raises(Unreachable, match="does not exist"):
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
        with pytest.raises(Unreachable, match=r"the host a\.test does not exist"):
            await caching.resolve("a.test")
    names.put("a.test", [])
    with pytest.raises(Unreachable, match=r"the host a\.test does not exist"):
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


async def test_slow_names_of_one_caller_leave_threads_to_others() -> None:
    """Also when it has given up waiting: the threads are still busy then."""
    done = threading.Event()

    def look_up(host: str) -> list[str]:
        if host.startswith("slow"):
            done.wait(30)
        return ["1.1.1.1"]

    system = SystemResolver(look_up)
    caching = CachingResolver(system, timeout_s=0.05)
    mine, other = asyncio.Semaphore(3), asyncio.Semaphore(3)
    try:
        slow = [caching.resolve(f"slow{n}.test", mine) for n in range(100)]
        told = await asyncio.gather(*slow, return_exceptions=True)
        assert all(isinstance(error, Unreachable) and error.code == "dns" for error in told)
        assert system._threads._work_queue.qsize() == 0
        assert len(system._threads._threads) == 3
        assert await CachingResolver(system).resolve("quick.test", other) == [ip_address("1.1.1.1")]
    finally:
        done.set()
        system.close()
    async with asyncio.timeout(10):
        await mine.acquire()  # they come back once the threads are free


@pytest.mark.parametrize(
    ("errno", "code"),
    [(socket.EAI_NONAME, "no_such_host"), (socket.EAI_AGAIN, "dns"), (socket.EAI_FAIL, "dns")],
)
async def test_a_name_that_does_not_exist_is_told_from_a_dns_that_fails(errno: int, code: str) -> None:
    def look_up(host: str) -> list[str]:
        raise socket.gaierror(errno, f"no answer for {host}")

    system = SystemResolver(look_up)
    with pytest.raises(Unreachable) as told:
        await system.resolve("a.test")
    system.close()
    assert told.value.code == code


async def test_closing_gives_up() -> None:
    slow = Slow()
    caching = CachingResolver(slow)
    waiting = asyncio.create_task(caching.resolve("a.test"))
    await slow.begun.wait()
    await caching.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
