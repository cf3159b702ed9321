"""Calls to one provider from the steps of a worker.

The gate combines a circuit breaker, shared limits, adaptive concurrency and a cache with single flight.

    gate = ProviderGate("shop", ask, politeness, concurrency=16, permits=shared, cache=SingleFlightCache(4096, 60.0))
    answer = await gate.ask(question, key=question.id)
"""

from __future__ import annotations

import time
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from forebay.errors import ConfigError, ThrottledError, classify_error, message_without_values
from forebay.log import get_logger
from forebay.tuning import Ewma
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from forebay.services.cache import SingleFlightCache
    from forebay.services.egress.politeness import HostSlot, Politeness

    # A permit for one call, shared by all workers, held within the `async with` block.
    Permits: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]

Q = TypeVar("Q")
A = TypeVar("A")

_DOWN_AFTER = 5  # consecutive failures; then calls pause, and tasks wait instead of failing
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_REFUSED_PAUSE = 60.0  # seconds until a refused key or declaration is tried again
# The provider has answered: these errors concern one question only.
_ANSWERS = (ErrorClass.PERMANENT, ErrorClass.DATA, ErrorClass.NOT_FOUND)

log = get_logger("worker")


class CircuitBreaker:
    """Blocks calls while a provider is rate limiting, is down, or refuses its key."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name, self._clock = name, clock
        self._failures = 0  # consecutive
        self._pauses = 0
        self._paused_until = self._refused_until = 0.0
        self._pause_reason = ""
        self.problem: str | None = None  # what an operator has to fix before it can be called

    @property
    def wait_s(self) -> float:
        """Seconds until the next call is allowed."""
        return max(0.0, max(self._paused_until, self._refused_until) - self._clock())

    @property
    def reason(self) -> str:
        """Why calls are blocked."""
        if self._is_refused:
            return f"{self._name} cannot be called until its key or its declaration is fixed"
        return self._pause_reason

    @property
    def _is_refused(self) -> bool:
        return self._refused_until > self._clock()

    def check(self) -> None:
        """Raises: while calls are blocked, ConfigError if an operator has to fix something, else ThrottledError."""
        if self.problem is not None and self._is_refused:
            raise ConfigError(self.problem)
        if self.wait_s:
            raise ThrottledError(self.reason, retry_after=self.wait_s)

    def succeed(self) -> None:
        self._failures = self._pauses = 0
        self.problem, self._refused_until = None, 0.0

    def fail(self) -> float | None:
        """Count a failure; returns the pause in seconds if there were too many."""
        self._failures += 1
        if self._failures < _DOWN_AFTER or self.wait_s:
            return None
        self._pauses += 1
        return min(_FIRST_PAUSE * 2.0 ** (self._pauses - 1), _LONGEST_PAUSE)

    def pause(self, seconds: float, reason: str) -> None:
        """Block calls for a while. A refusal that still holds remains the reason."""
        self._pause_reason = f"{self._name} {reason}"
        self._paused_until = max(self._paused_until, self._clock() + seconds)
        if not self._is_refused:
            self.problem = None

    def refuse(self, problem: str) -> None:
        """Block calls until an operator fixes the problem, which is logged once; a call is tried every minute."""
        if self.problem != problem:
            log.error("provider_refused", provider=self._name, problem=problem)
        self.problem = problem
        self._refused_until = self._clock() + _REFUSED_PAUSE


class ProviderGate(Generic[Q, A]):
    """Calls one provider with adaptive concurrency, and blocks all calls while its circuit breaker is open."""

    def __init__(
        self,
        name: str,
        call: Callable[[Q], Awaitable[A]],
        politeness: Politeness,
        *,
        concurrency: int,
        permits: Permits | None = None,
        cache: SingleFlightCache[A] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`permits`: limits that are shared by all workers; None: no limits."""
        self.name = name
        self._call, self._concurrency, self._cache = call, concurrency, cache
        self._politeness, self._clock = politeness, clock
        self._permits: Permits = nullcontext if permits is None else permits
        self._circuit = CircuitBreaker(name, clock)
        self._counts = dict.fromkeys(("asked", "answered", "not_found", "throttled", "failed", "remembered"), 0)
        self._seconds = Ewma()
        self._throttled = Ewma(alpha=0.02, mean=0.0)  # mean over about the last hundred calls

    @property
    def wait_s(self) -> float:
        """Seconds until the next call is allowed."""
        return self._circuit.wait_s

    async def ask(self, question: Q, key: Hashable = None) -> A:
        """The answer; with a cache and a `key`, possibly the cached answer for the same key.

        Raises: ThrottledError while calls are blocked; ConfigError when the key or the declaration of the provider has
        to be fixed first; any exception of the call.
        """
        if self._cache is None or key is None:
            return await self._ask(question)
        answer, known = await self._cache.lookup(key, lambda: self._ask(question))
        self._counts["remembered"] += known
        return answer

    async def _ask(self, question: Q) -> A:
        self._circuit.check()
        async with self._politeness.slot(self.name, self._concurrency) as slot, self._permits():
            self._circuit.check()  # again: the circuit may have opened during the wait
            began = self._clock()
            self._counts["asked"] += 1
            try:
                answer = await self._call(question)
            except Exception as error:  # except a cancellation, which says nothing about the provider
                self._note_error(slot, error, self._clock() - began)
                raise
            self._counts["answered" if answer else "not_found"] += 1
            self._note_answer(slot, self._clock() - began)
            return answer

    def _note_answer(self, slot: HostSlot, seconds: float) -> None:
        self._circuit.succeed()
        self._seconds.add(seconds)
        self._throttled.add(0.0)
        slot.answered(seconds)

    def _note_error(self, slot: HostSlot, error: Exception, seconds: float) -> None:
        if isinstance(error, ThrottledError):
            if not error.ours:  # otherwise the provider was not called
                self._counts["throttled"] += 1
                self._throttled.add(1.0)
                self._circuit.pause(slot.throttled(error.retry_after), "is rate limiting us")
            return
        self._counts["failed"] += 1
        kind = classify_error(error)
        if kind is ErrorClass.CONFIG:
            problem = message_without_values(error)
            self._circuit.refuse(problem)
            slot.reject_waiting(lambda: ConfigError(problem))
        elif kind in _ANSWERS:
            self._note_answer(slot, seconds)
        else:
            slot.failed(seconds)
            if (pause := self._circuit.fail()) is not None:
                slot.begin_again()
                self._circuit.pause(slot.throttled(pause), "does not answer")

    def describe(self) -> dict[str, Any]:
        """The state of this provider, for the row of the worker and for metrics."""
        wait = round(self.wait_s, 3)
        return {
            **self._counts,
            **self._politeness.describe_one(self.name, self._concurrency),
            "closed_s": wait,
            "closed_because": self._circuit.reason if wait else None,
            "problem": self._circuit.problem,
            "seconds": None if self._seconds.mean is None else round(self._seconds.mean, 6),
            "throttle_ratio": round(self._throttled.mean or 0.0, 4),
        }
