"""The cache: values are loaded once, expire in time, and are never more than there is room for."""

from __future__ import annotations

import asyncio

import pytest

from forebay.services.cache import SingleFlightCache
from tests.services.egress._world import until


class Source:
    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.go.set()
        self.kept: SingleFlightCache[list[str]] = SingleFlightCache(
            10, 60.0, self._time, size=lambda value: 1 + len(value)
        )

    def _time(self) -> float:
        return self.now

    async def get(self, key: str, size: int = 1) -> tuple[list[str], bool]:
        async def ask() -> list[str]:
            self.asked.append(key)
            await self.go.wait()
            if key == "bad":
                raise ValueError("bad on purpose")
            return [key] * size

        return await self.kept.lookup(key, ask)


async def test_they_are_kept_for_a_while() -> None:
    source = Source()
    assert await source.get("a") == (["a"], False)
    assert await source.get("a") == (["a"], True)
    source.now = 60.0
    assert await source.get("a") == (["a"], False)
    assert await source.get("none", size=0) == ([], False)
    assert await source.get("none", size=0) == ([], True)


async def test_those_used_least_lately_go_first() -> None:
    source = Source()
    for key in "abc":
        await source.get(key, size=2)  # three each
    await source.get("a")
    await source.get("d", size=2)
    source.asked.clear()
    for key in "acdb":
        await source.get(key)
    assert source.asked == ["b"]
    await source.get("large", size=100)  # larger than all that may be kept: given, but not kept
    await source.get("large", size=100)
    assert source.asked == ["b", "large", "large"]
    await source.get("b")  # nor does it displace the others
    assert source.asked == ["b", "large", "large"]


async def test_one_asks_for_all() -> None:
    source = Source()
    source.go.clear()
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(source.get("a")) for _ in range(5)]
        await until(lambda: source.asked)
        source.go.set()
    assert source.asked == ["a"]
    assert [task.result()[1] for task in asking] == [False, True, True, True, True]


async def test_what_fails_fails_for_all_and_is_not_kept() -> None:
    source = Source()
    source.go.clear()
    asking = [asyncio.create_task(source.get("bad")) for _ in range(3)]
    await until(lambda: source.asked)
    source.go.set()
    for result in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(result, ValueError)
    with pytest.raises(ValueError, match="bad on purpose"):
        await source.get("bad")
    assert source.asked == ["bad", "bad"]


async def test_another_asks_when_the_first_is_stopped() -> None:
    source = Source()
    source.go.clear()
    first, second = asyncio.create_task(source.get("a")), asyncio.create_task(source.get("a"))
    await until(lambda: source.asked)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.go.set()
    assert await second == (["a"], False)
    assert source.asked == ["a", "a"]


async def test_nothing_is_a_value_too() -> None:
    loads = 0

    async def load() -> None:
        nonlocal loads
        loads += 1

    cache: SingleFlightCache[None] = SingleFlightCache(2, 60.0)
    for _ in range(3):
        await cache.get("a", load)
    assert loads == 1
