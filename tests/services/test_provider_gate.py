"""The gate of one provider: what it makes of how the provider answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from forebay.errors import ConfigError, DataError, StepError, ThrottledError, TransientError
from forebay.services.cache import SingleFlightCache
from forebay.services.egress.politeness import Politeness
from forebay.services.provider_gate import ProviderGate
from forebay.settings import Settings
from tests.services.egress._world import until

AT_ONCE = 2  # of a provider that nothing is known of


class Shop:
    """A provider that answers when it may, with what it is told to, and a gate before it whose clock is the test's."""

    def __init__(self, cache_s: float | None = None) -> None:
        self.asked, self.may_answer = asyncio.Semaphore(0), asyncio.Event()
        self.may_answer.set()
        self.calls: list[str] = []
        self.error: Exception | None = None
        self.errors: dict[str, Exception] = {}  # of single questions
        self.permits_wait, self.may_start = asyncio.Semaphore(0), asyncio.Event()
        self.may_start.set()
        self.now = 0.0
        self.permitted = 0
        cache: SingleFlightCache[str] | None = None
        if cache_s is not None:
            cache = SingleFlightCache(10, cache_s, self._time)
        politeness = Politeness(Settings(), clock=self._time, sleep=self._sleep)
        self.gate: ProviderGate[str, str] = ProviderGate(
            "shop", self._call, politeness, concurrency=16, permits=self._permit, cache=cache, clock=self._time
        )

    async def _call(self, question: str) -> str:
        self.calls.append(question)
        self.asked.release()
        await self.may_answer.wait()
        if (error := self.errors.get(question, self.error)) is not None:
            raise error
        return question.upper()

    @asynccontextmanager
    async def _permit(self) -> AsyncIterator[None]:
        self.permits_wait.release()
        await self.may_start.wait()
        self.permitted += 1
        try:
            yield
        finally:
            self.permitted -= 1

    def _time(self) -> float:
        return self.now

    async def _sleep(self, seconds: float) -> None:
        self.now += seconds

    async def fails(self, error: StepError, times: int = 1) -> None:
        self.error = error
        for _ in range(times):
            with pytest.raises(type(error)):
                await self.gate.ask("a")
        self.error = None


async def test_tasks_that_are_cancelled_say_nothing_of_the_provider() -> None:
    """However many: it stays open for all others, and as many may ask it as before."""
    shop = Shop()
    shop.may_answer.clear()
    before = shop.gate.describe()
    for title in range(5):
        asking = [asyncio.create_task(shop.gate.ask(f"{title} {n}")) for n in range(AT_ONCE)]
        for _ in asking:
            await shop.asked.acquire()
        for each in asking:
            each.cancel()
        ended = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
    assert shop.gate.describe() == before | {"asked": 5 * AT_ONCE}
    shop.may_answer.set()
    assert await shop.gate.ask("of somebody else") == "OF SOMEBODY ELSE"


async def test_the_same_question_is_asked_once() -> None:
    shop = Shop(cache_s=60)
    shop.may_answer.clear()
    asking = [asyncio.create_task(shop.gate.ask("a", key="a")) for _ in range(3)]
    await shop.asked.acquire()
    shop.may_answer.set()
    assert await asyncio.gather(*asking) == ["A"] * 3
    assert (shop.calls, shop.gate.describe()["remembered"]) == (["a"], 2)
    shop.now = 60.0
    await shop.gate.ask("a", key="a")
    assert shop.calls == ["a", "a"]
    assert await shop.gate.ask("b") == "B"  # without a key, no answer is another one's
    assert await shop.gate.ask("c") == "C"


async def test_a_provider_that_throttles_is_left_alone_as_long_as_it_says() -> None:
    shop = Shop()
    await shop.fails(ThrottledError("slow down", retry_after=7))
    with pytest.raises(ThrottledError, match=r"^shop is rate limiting us$") as raised:
        await shop.gate.ask("b")
    assert raised.value.retry_after == 7
    assert (shop.calls, shop.gate.describe()["closed_because"]) == (["a"], "shop is rate limiting us")
    shop.now = 7.0
    assert await shop.gate.ask("b") == "B"


async def test_our_own_limits_say_nothing_of_the_provider() -> None:
    shop = Shop()
    await shop.fails(ThrottledError("limit x is reached", retry_after=7, ours=True), times=10)
    described = shop.gate.describe()
    assert (described["throttled"], described["failed"], described["closed_s"]) == (0, 0, 0)
    assert shop.permitted == 0


async def test_one_that_is_down_is_tried_less_and_less() -> None:
    shop = Shop()
    waits: list[float] = []
    for _ in range(4):
        await shop.fails(TransientError("broken"))
        shop.now += 1000  # behind the pauses between two requests
    assert shop.gate.wait_s == 0
    for _ in range(7):
        await shop.fails(TransientError("broken"))
        with pytest.raises(ThrottledError, match=r"^shop does not answer$"):
            await shop.gate.ask("b")
        waits.append(shop.gate.wait_s)
        shop.now += 1000
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    assert await shop.gate.ask("b") == "B"
    shop.now += 1000
    await shop.fails(TransientError("broken"))
    assert shop.gate.wait_s == 0  # one answer was enough


async def test_errors_that_are_answers_pause_nothing() -> None:
    shop = Shop()
    await shop.fails(DataError("no such thing"), times=10)
    assert (shop.gate.wait_s, shop.gate.describe()["failed"]) == (0, 10)


async def test_a_refused_key_is_told_once_and_tried_again_later() -> None:
    shop = Shop()
    await shop.fails(ConfigError("check the key"))
    with pytest.raises(ConfigError, match=r"^check the key$"):
        await shop.gate.ask("b")
    assert shop.gate.describe()["closed_because"] == "shop cannot be called until its key or its declaration is fixed"
    shop.now = 60.0
    assert await shop.gate.ask("b") == "B"
    assert shop.gate.describe()["problem"] is None


async def test_who_waited_while_the_circuit_opened_does_not_call() -> None:
    """The limits of all workers are waited for after the first check of the circuit."""
    shop = Shop()
    shop.may_answer.clear()
    first = asyncio.create_task(shop.gate.ask("a"))
    await shop.asked.acquire()
    await shop.permits_wait.acquire()
    shop.may_start.clear()
    second = asyncio.create_task(shop.gate.ask("b"))
    await shop.permits_wait.acquire()
    shop.errors["a"] = ThrottledError("slow down", retry_after=7)
    shop.may_answer.set()
    with pytest.raises(ThrottledError, match=r"^slow down$"):
        await first
    shop.may_start.set()
    with pytest.raises(ThrottledError, match=r"^shop is rate limiting us$"):
        await second
    assert (shop.calls, shop.permitted) == (["a"], 0)


async def test_a_refusal_is_told_to_those_who_wait() -> None:
    shop = Shop()
    shop.may_answer.clear()
    running = [asyncio.create_task(shop.gate.ask(title)) for title in ("a", "b")]
    for _ in running:
        await shop.asked.acquire()
    waiting = asyncio.create_task(shop.gate.ask("c"))
    await until(lambda: shop.gate.describe()["waiting"])
    shop.errors["a"] = ConfigError("check the key")
    shop.may_answer.set()
    with pytest.raises(ConfigError, match=r"^check the key$"):
        await running[0]
    with pytest.raises(ConfigError, match=r"^check the key$"):
        await waiting
    assert await running[1] == "B"
    assert shop.calls == ["a", "b"]


async def test_a_refusal_outlasts_a_pause() -> None:
    shop = Shop()
    shop.may_answer.clear()
    shop.errors = {"a": ConfigError("check the key"), "b": ThrottledError("slow down", retry_after=90)}
    asking = [asyncio.create_task(shop.gate.ask(title)) for title in shop.errors]
    for _ in asking:
        await shop.asked.acquire()
    shop.may_answer.set()
    await asyncio.gather(*asking, return_exceptions=True)
    with pytest.raises(ConfigError, match=r"^check the key$"):
        await shop.gate.ask("c")
    described = shop.gate.describe()
    assert (described["problem"], described["closed_s"]) == ("check the key", 90)
    assert described["closed_because"] == "shop cannot be called until its key or its declaration is fixed"
    shop.now = 60.0  # the refusal is over, what the provider asked for is not
    with pytest.raises(ThrottledError, match=r"^shop is rate limiting us$") as raised:
        await shop.gate.ask("c")
    assert raised.value.retry_after == 30
