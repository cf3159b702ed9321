"""Leases of rates and slots: the limiters of one worker, by limit and key, and their requests to the database."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.engine.db import limits as db
from forebay.engine.db.limits import SlotAsk
from forebay.engine.limits.batching import RequestBatcher
from forebay.engine.limits.limiters import AHEAD, BUSY_WAIT, SLACK, SLOT_LEASE, ClockSkew, RateLimiter, SlotLimiter
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.limit import Limit

log = get_logger("limits")

_FORGET = 60.0  # seconds after which the worker forgets a key


class LimitLeases:
    """What a worker has leased of each limit and key.

    It calls `on_capacity` when a limit without a key may admit more than before, and `on_key` when a key may.
    """

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        *,
        on_capacity: Callable[[], None],
        on_key: Callable[[str, str], None],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._pool, self._worker_id, self._clock = pool, worker_id, clock
        self._on_capacity, self._on_key, self._sleep = on_capacity, on_key, sleep
        self._skew = ClockSkew()
        self.rates: dict[tuple[str, str], RateLimiter] = {}
        self.slots: dict[tuple[str, str], SlotLimiter] = {}
        self._idling: set[SlotLimiter] = set()  # limiters whose idle slots will be returned soon
        self._returning: asyncio.Task[None] | None = None
        self.rate_requests = RequestBatcher(self._ask_tokens)
        self.slot_requests = RequestBatcher(self._ask_slots)
        self.deferred = 0  # tasks that could not start

    def now(self) -> float:
        """Monotonic local time; the clock's time only if a test controls it."""
        stamp = self._clock.stamp()
        return time.monotonic() if stamp is None else stamp.timestamp()

    def rate_limiter(self, limit: Limit, rate: float, key: str) -> RateLimiter:
        interval = limit.per / rate
        limiter = self.rates.get((limit.name, key))
        if limiter is None:
            limiter = self.rates[limit.name, key] = RateLimiter(limit.name, key, interval, limit.key is not None)
        elif limiter.interval != interval:
            limiter.change(interval)
        return limiter

    def slot_limiter(self, limit: Limit, concurrency: int, key: str) -> SlotLimiter:
        limiter = self.slots.get((limit.name, key))
        if limiter is None:
            limiter = self.slots[limit.name, key] = SlotLimiter(limit.name, key, concurrency, limit.key is not None)
        limiter.capacity = concurrency
        return limiter

    async def _ask_tokens(self, limiters: list[RateLimiter]) -> None:
        sent = self.now()
        asks = [limiter.ask(sent) for limiter in limiters]
        try:
            grants = await db.take_tokens(self._pool, asks, AHEAD, SLACK, self._clock.stamp())
        except Exception as error:  # the tasks are retried; the loops that need the database log the error
            self._failed(limiters, error)
            return
        now = self.now()
        self._skew.observe(sent, grants[0].at, now)
        for limiter, ask, grant in zip(limiters, asks, grants, strict=True):
            block = self._skew.block(grant, ask.interval)
            self.deferred += limiter.receive(grant, block, now)
            if limiter.keyed:
                self._on_key(limiter.name, limiter.key)
        if any(grant.granted and not limiter.keyed for limiter, grant in zip(limiters, grants, strict=True)):
            self._on_capacity()

    async def _ask_slots(self, limiters: list[SlotLimiter]) -> None:
        sent = self.now()
        asks = [limiter.ask() for limiter in limiters]
        try:
            grants = await db.lease_slots(self._pool, self._worker_id, asks, SLOT_LEASE, self._clock.stamp())
        except Exception as error:
            self._failed(limiters, error)
            return
        now = self.now()
        for limiter, ask, grant in zip(limiters, asks, grants, strict=True):
            self.deferred += limiter.receive(ask, grant, sent, now)
            # For a key also if it got nothing: the request may have been made before the demand, to return idle slots.
            if limiter.starved and (limiter.keyed or limiter.free(now) > 0):
                self.end_starving(limiter)

    def end_starving(self, limiter: SlotLimiter) -> None:
        limiter.starved = False
        if limiter.keyed:
            self._on_key(limiter.name, limiter.key)
        else:
            self._on_capacity()

    def _failed(self, limiters: Iterable[RateLimiter | SlotLimiter], error: Exception) -> None:
        log.warning("limits_not_leased", worker=self._worker_id, error=one_line(error))
        for limiter in limiters:
            limiter.fail(self.now())
            if limiter.keyed:
                self._on_key(limiter.name, limiter.key)

    def return_soon(self, limiter: SlotLimiter) -> None:
        """Return an idle slot soon: the next task of that key may be in another worker, which should not wait for
        it."""
        self._idling.add(limiter)
        if self._returning is None:
            self._returning = asyncio.create_task(self._return_idle(), name="limits return")

    async def _return_idle(self) -> None:
        try:
            while self._idling:
                limiters, self._idling = self._idling, set()
                await self._sleep(BUSY_WAIT)
                for limiter in limiters:
                    if limiter.held > limiter.used:
                        self.slot_requests.queue(limiter)
        finally:
            self._returning = None

    async def renew(self) -> None:
        """Renew slots in use, return idle slots, and forget unused keys."""
        now = self.now()
        for limiter in self.slots.values():
            self.deferred += limiter.defer_overdue(now + 0.5)  # the next check is a second away
            if limiter.is_due(now):
                self.slot_requests.queue(limiter)
        await self.slot_requests.wait_until_idle()
        for limiter in self.slots.values():
            limiter.peak = limiter.used
        self._forget(now)

    def _forget(self, now: float) -> None:
        old = now - _FORGET
        for key in [k for k, g in self.rates.items() if g.used_at < old and not (g.waiters or g.asked or g.asking)]:
            del self.rates[key]
        for key in [k for k, g in self.slots.items() if g.used_at < old and not (g.used or g.held or g.asking)]:
            del self.slots[key]

    async def close(self) -> None:
        """Return all slots."""
        if self._returning is not None:
            self._returning.cancel()
        await self.rate_requests.wait_until_idle()
        await self.slot_requests.wait_until_idle()
        held = [limiter for limiter in self.slots.values() if limiter.held]
        asks = [SlotAsk(limiter.name, limiter.key, limiter.capacity, 0, started=limiter.started) for limiter in held]
        for limiter in held:
            limiter.held = 0
        if asks:
            await db.lease_slots(self._pool, self._worker_id, asks, SLOT_LEASE, self._clock.stamp())

    def describe(self) -> dict[str, Any]:
        """Totals, and each limit summed over its keys."""
        now = self.now()
        about: dict[str, dict[str, float]] = {}
        for rate in self.rates.values():
            seen = about.setdefault(rate.name, {})
            _add(seen, rate_keys=1, tokens=rate.tokens.count(now), slice=rate.size, lapsed=rate.tokens.wasted)
            _add(seen, waiters=len(rate.waiters) + len(rate.asked))
        for slot in self.slots.values():
            seen = about.setdefault(slot.name, {})
            _add(seen, slot_keys=1, held=slot.held, used=slot.used)
            _add(seen, waiters=len(slot.waiters) + len(slot.asked) + len(slot.promised))
        calls = {"rate_calls": self.rate_requests.calls, "slot_calls": self.slot_requests.calls}
        return {"sent_away": self.deferred, **calls, "limits": about}


def _add(seen: dict[str, float], **values: float) -> None:
    for name, value in values.items():
        seen[name] = seen.get(name, 0) + value
