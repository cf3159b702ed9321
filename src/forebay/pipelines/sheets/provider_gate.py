"""Asking one provider in one worker: no more at a time than it takes, and nothing while it asks for patience."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from forebay.engine.declare.policy import Limit
from forebay.engine.limits.limiters import LimitReached
from forebay.errors import ConfigError, ThrottledError, classify_error, message_without_values
from forebay.log import get_logger
from forebay.services.products.remembering import Remembered
from forebay.tuning import Ewma
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence

    from forebay.engine.limits.client import LimitClient
    from forebay.services.egress import Politeness
    from forebay.services.egress.politeness import Turn
    from forebay.services.products import Candidate, Query
    from forebay.services.products.provider_spec import ProviderLimits as Declared

    # Asks about a query for an owner.
    Find: TypeAlias = Callable[[Query, int], Awaitable[Sequence[Candidate]]]

_DOWN_AFTER = 5  # failures in a row: then it is left alone for a while, and rows wait instead of failing
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_REFUSED_PAUSE = 60.0  # after which it is tried whether its key, or what was declared, is right by now
_REMEMBERED = 4096  # candidates
_REMEMBERED_S = 60.0
# Not its fault: it has answered, and others need not wait for it.
_ANSWERS = (ErrorClass.PERMANENT, ErrorClass.DATA, ErrorClass.NOT_FOUND)

log = get_logger("worker")


class Asked(Protocol):
    """What a desk must know of its provider."""

    @property
    def name(self) -> str: ...
    @property
    def strategies(self) -> Collection[str]: ...
    @property
    def limits(self) -> Declared: ...


class Desk:
    """Where one provider is asked: found out how much it takes, and told to all when it has had enough."""

    def __init__(
        self,
        provider: Asked,
        find: Find,
        politeness: Politeness,
        limits: LimitClient | None,
        *,
        remembers: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`limits`: those of all workers together; None: it has none."""
        self.name, self.strategies = provider.name, provider.strategies
        self._most = provider.limits.concurrency
        self._find = find
        self._politeness, self._limits, self._clock = politeness, limits, clock
        declared = provider.limits
        self._limit = Limit(f"provider {provider.name}", rate=declared.rate_per_s, concurrency=declared.concurrency)
        self._remembered: Remembered[Candidate] | None = None
        if remembers:
            self._remembered = Remembered(_REMEMBERED, _REMEMBERED_S, clock)
        self._counts = dict.fromkeys(("asked", "answered", "not_found", "throttled", "failed", "remembered"), 0)
        self._seconds = Ewma()
        self._throttled = Ewma(alpha=0.02, mean=0.0)  # of about the last hundred
        self._failures = 0  # in a row
        self._pauses = 0
        self._closed_until = 0.0
        self._why = ""
        self._problem: str | None = None  # that somebody has to mend before it can be asked

    @property
    def closed_s(self) -> float:
        """For how much longer it is not asked."""
        return max(0.0, self._closed_until - self._clock())

    async def find(self, query: Query, owner_id: int, turn: int) -> Sequence[Candidate]:
        """What the provider has for a query; the same question is asked once, until it is forgotten or a new `turn`.

        Raises: ThrottledError when it is not to be asked now, ConfigError when its key or its declaration has to be
        mended first, and what `Provider.find` raises.
        """

        async def ask() -> Sequence[Candidate]:
            return await self._ask(query, owner_id)

        if self._remembered is None:
            return await ask()
        key = (turn, query.strategy, tuple(query.values.items()))
        found, known = await self._remembered.get(key, ask)
        self._counts["remembered"] += known
        return found

    async def _ask(self, query: Query, owner_id: int) -> Sequence[Candidate]:
        self._check_open()
        async with self._politeness.turn(self.name, self._most) as turn, self._leave():
            began = self._clock()
            self._counts["asked"] += 1
            try:
                found = await self._find(query, owner_id)
            except Exception as error:  # not who was stopped while asking: that tells nothing of the provider
                self._note_error(turn, error, self._clock() - began)
                raise
            self._counts["answered" if found else "not_found"] += 1
            self._note_answer(turn, self._clock() - began)
            return found

    def _check_open(self) -> None:
        if not self.closed_s:
            return
        if self._problem is not None:
            raise ConfigError(self._problem)
        raise ThrottledError(self._why, retry_after=self.closed_s)

    @asynccontextmanager
    async def _leave(self) -> AsyncGenerator[None]:
        """Leave of all workers together: a start, and a place."""
        if self._limits is None:
            yield
            return
        held = await self._limits.acquire([self._limit], None)
        try:
            yield
        finally:
            self._limits.release(held)

    def _note_answer(self, turn: Turn, seconds: float) -> None:
        self._failures = self._pauses = 0
        self._problem = None
        self._seconds.add(seconds)
        self._throttled.add(0.0)
        turn.answered(seconds)

    def _note_error(self, turn: Turn, error: Exception, seconds: float) -> None:
        kind = classify_error(error)
        if isinstance(error, ThrottledError) and not isinstance(error, LimitReached):
            self._counts["throttled"] += 1
            self._throttled.add(1.0)
            self._close(turn, error.retry_after, f"{self.name} is rate limiting us")
        elif kind is ErrorClass.CONFIG:
            self._counts["failed"] += 1
            self._note_refusal(message_without_values(error))
        elif kind in _ANSWERS:
            self._counts["failed"] += 1
            self._note_answer(turn, seconds)
        else:
            self._counts["failed"] += 1
            self._failures += 1
            turn.failed(seconds)
            if self._failures >= _DOWN_AFTER and self._closed_until <= self._clock():
                pause = min(_FIRST_PAUSE * 2**self._pauses, _LONGEST_PAUSE)
                self._pauses += 1
                turn.begin_again()
                self._close(turn, pause, f"{self.name} does not answer")

    def _note_refusal(self, problem: str) -> None:
        """Somebody has to mend it: told once, and all others are asked meanwhile."""
        if self._problem != problem:
            log.error("provider_refused", provider=self.name, problem=problem)
        self._problem = problem
        self._why = f"{self.name} cannot be asked until its key or its declaration is mended"
        self._closed_until = self._clock() + _REFUSED_PAUSE

    def _close(self, turn: Turn, seconds: float, why: str) -> None:
        self._why, self._problem = why, None
        self._closed_until = max(self._closed_until, self._clock() + turn.throttled(seconds))

    def describe(self) -> dict[str, Any]:
        """How it goes with this provider, for the worker's row and the metrics."""
        closed = round(self.closed_s, 3)
        return {
            **self._counts,
            **self._politeness.describe_one(self.name, self._most),
            "closed_s": closed,
            "closed_because": self._why if closed else None,
            "problem": self._problem,
            "seconds": None if self._seconds.mean is None else round(self._seconds.mean, 6),
            "throttle_ratio": round(self._throttled.mean or 0.0, 4),
        }
