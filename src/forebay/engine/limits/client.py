"""Rate and concurrency limits across all workers, with leased blocks of tokens and slots.

A worker leases what it needs next in one round trip and uses it locally.

Rates. The starts of a key are on a time line, `interval` = per / rate apart. A worker leases a section of it: each
start in the section can be used from its time on, and expires `slack` = max(interval, 0.1 s) later. So, for any number
of workers, keys and blocks, a window of W seconds contains at most

    ceil((W + slack) · rate / per)

starts: one more than declared for slow limits, a tenth of a second's worth more for fast ones. (If the round trip takes
more than 50 ms, the slack grows by the excess, because the worker cannot know the server's clock more precisely.)

Concurrency. Slots are leased for ten seconds and renewed every second. The slots of a worker that dies expire, and a
worker that cannot renew its slots starts nothing more. The slots leased by all workers never exceed the limit.

A task that is not admitted waits in its slot for up to a second if it can start within that time and no other task
could use the slot; otherwise it is deferred. If a limit of its step defers a task, it goes to the lane of its key, from
which the claimer takes no more tasks than `key_capacity` admits. Permits that steps acquire by themselves have no lane:
their tasks are told a time, at most 30 s ahead, and the database counts them, so that each gets a different one.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

from forebay.engine.declare.keys import key_text
from forebay.engine.limits.limit_leases import LimitLeases
from forebay.engine.limits.limiters import AHEAD, BUSY_WAIT, LimitReached, RateLimiter, SlotLimiter, Waiter
from forebay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.limit import Limit, TaskInfo
    from forebay.engine.limits.limiters import RateToken

__all__ = ["LimitClient", "LimitReached", "Permits"]


class Permits:
    """The slots that an attempt returns when it ends."""

    __slots__ = ("slots",)

    def __init__(self) -> None:
        self.slots: list[tuple[SlotLimiter, float]] = []


class LimitClient:
    """The limits of one worker.

    It calls `on_capacity` when `capacity` may return more than before, and `on_key` when `key_capacity` of a key may.
    `has_line` says whether tasks wait in lanes of a key: others must not start before them.
    """

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        *,
        on_capacity: Callable[[], None] = lambda: None,
        on_key: Callable[[str, str], None] = lambda _name, _key: None,
        has_line: Callable[[str, str], bool] = lambda _name, _key: False,
        sleep: Callable[[float], Awaitable[object]] | None = None,
    ) -> None:
        self._has_line = has_line
        self._sleep = sleep or asyncio.sleep
        # A clock that a test controls does not advance while a task waits in its slot.
        self._can_wait = sleep is not None or clock.stamp() is None
        self._leases = LimitLeases(pool, worker_id, clock, on_capacity=on_capacity, on_key=on_key, sleep=self._sleep)
        self.now = self._leases.now
        self._starts = 0

    # -- before a claim ------------------------------------------------------------------------------------------

    def capacity(self, limits: Sequence[Limit], wanted: int = 1) -> int | None:
        """How many tasks can start within about a second; None: unlimited.

        Only limits without a key are known before the input is. Requests more in the background.
        """
        capacities: list[int] = []
        for limit in limits:
            if limit.key is None:
                if limit.rate is not None:
                    capacities.append(self._rate_capacity(self._leases.rate_limiter(limit, limit.rate, "")))
                if limit.concurrency is not None:
                    capacities.append(
                        self._slot_capacity(self._leases.slot_limiter(limit, limit.concurrency, ""), wanted)
                    )
        return min(capacities, default=None)

    def _rate_capacity(self, limiter: RateLimiter) -> int:
        now = limiter.used_at = self.now()
        self._request_ahead(limiter, now)
        starts = limiter.tokens.count(now) if self._can_wait else limiter.tokens.due(now, now)[0]
        return max(0, starts - len(limiter.waiters))

    def _request_ahead(self, limiter: RateLimiter, now: float) -> None:
        if limiter.needs_more(now):
            limiter.ahead = True
            self._leases.rate_requests.queue(limiter)

    def _slot_capacity(self, limiter: SlotLimiter, wanted: int) -> int:
        now = limiter.used_at = self.now()
        free = max(0, limiter.free(now) - len(limiter.waiters))
        has_all = limiter.held >= limiter.capacity and now < limiter.deadline
        if free < wanted and not has_all and now >= limiter.retry_at and not limiter.asking:
            limiter.demand = wanted - free
            self._leases.slot_requests.queue(limiter)
        limiter.starved = free == 0
        return free

    def wait(self, limits: Sequence[Limit]) -> float:
        """Seconds after which to call `capacity` again unless `on_capacity` is called before; at most 1."""
        now, until = self.now(), -math.inf
        for limit in limits:
            for limiter in (self._leases.rates.get((limit.name, "")), self._leases.slots.get((limit.name, ""))):
                if limit.key is None and limiter is not None:
                    until = max(until, limiter.retry_at)
        return min(1.0, until - now) if until > now else 1.0

    def held_back_s(self, limits: Sequence[Limit]) -> float:
        """For how many seconds limits without a key admit no task; 0 if one may start, or a request is in progress."""
        now, until = self.now(), -math.inf
        for limit in limits:
            if limit.key is not None:
                continue
            rate, slots = self._leases.rates.get((limit.name, "")), self._leases.slots.get((limit.name, ""))
            if rate is not None and not rate.asking:
                due, later = rate.tokens.due(now, now)
                until = max(until, now if due else min(later, rate.next_request(now)))
            if slots is not None and not slots.asking and slots.free(now) <= 0:
                until = max(until, slots.retry_at)
        return max(0.0, until - now)

    def key_capacity(self, limit: Limit, key: str, wanted: int) -> tuple[int, float]:
        """How many tasks of a key can start at once, and after how many seconds to ask again; `on_key` may be called
        before. Requests more in the background."""
        now = self.now()
        capacity, ask_at = wanted, now
        if limit.rate is not None:
            rate = self._leases.rate_limiter(limit, limit.rate, key)
            rate.used_at = now
            self._request_ahead(rate, now)
            due, later = rate.tokens.due(now, now + (BUSY_WAIT if self._can_wait else 0.0))
            capacity = min(capacity, due - len(rate.waiters))
            ask_at = max(ask_at, min(later - BUSY_WAIT * self._can_wait, rate.next_request(now)))
        if limit.concurrency is not None:
            slots = self._leases.slot_limiter(limit, limit.concurrency, key)
            capacity = min(capacity, self._slot_capacity(slots, min(wanted, limit.concurrency)))
            if slots.asking:
                ask_at = math.inf
            elif slots.starved:
                ask_at = max(ask_at, slots.retry_at if slots.retry_at > now else now + 1)
        return max(0, capacity), ask_at - now

    def is_asking(self, name: str, key: str) -> bool:
        """Whether a request for this key is in progress."""
        rate, slots = self._leases.rates.get((name, key)), self._leases.slots.get((name, key))
        return (rate is not None and rate.asking) or (slots is not None and slots.asking)

    # -- an attempt ----------------------------------------------------------------------------------------------

    async def acquire(
        self,
        limits: Sequence[Limit],
        value: Any,
        *,
        busy: bool = False,
        lane: tuple[str, str] | None = None,
        task: TaskInfo | None = None,
    ) -> Permits:
        """Wait until the attempt may start, but not long; for a key almost not at all while the worker is `busy`,
        because tasks of other keys could run in its place. `lane`: the limit and key in whose lane the task has waited.
        Such a task does not wait behind those of its other keys, too: two lines would send it to each other forever.
        `task` is required if the key of a limit depends on it.

        Raises: LimitReached with the time after which the attempt can try again.
        """
        permits = Permits()
        rates: list[tuple[RateLimiter, float]] = []
        try:
            for limit in limits:
                key = "" if limit.key is None else _limit_key(limit, value, task)
                if limit.key is not None and lane is None:
                    self._check_line(limit.name, key)
                max_wait = BUSY_WAIT if busy and limit.key is not None else AHEAD
                max_wait *= self._can_wait
                if limit.rate is not None:
                    rates.append((self._leases.rate_limiter(limit, limit.rate, key), max_wait))
                if limit.concurrency is not None:
                    limiter = self._leases.slot_limiter(limit, limit.concurrency, key)
                    await self._slot(limiter, max_wait)
                    permits.slots.append((limiter, self.now()))
            if rates:
                await self._start(rates)
        except BaseException:
            self.release(permits)
            raise
        self._starts += 1
        return permits

    def take_over(self, limits: Sequence[Limit], value: Any, task: TaskInfo | None) -> Permits:
        """Count an attempt that runs already, because another worker has started it. The next renewal asks for its
        slots; until they are there, no other attempt starts here."""
        permits = Permits()
        for limit in limits:
            if limit.concurrency is not None:
                key = "" if limit.key is None else _limit_key(limit, value, task)
                limiter = self._leases.slot_limiter(limit, limit.concurrency, key)
                limiter.take_slot()
                permits.slots.append((limiter, self.now()))
        return permits

    def _check_line(self, name: str, key: str) -> None:
        """Raises: LimitReached if tasks wait for this key."""
        if self._has_line(name, key):
            self._leases.deferred += 1
            raise LimitReached(name, key, AHEAD)

    def release(self, permits: Permits) -> None:
        """Return the permits: the attempt has ended, or did not start."""
        now = self.now()
        for limiter, since in permits.slots:
            limiter.hold.add(now - since)
            limiter.return_slot(now)
            if limiter.starved and limiter.free(now) > 0:
                self._leases.end_starving(limiter)
            if limiter.keyed and limiter.held > limiter.used:
                self._leases.return_soon(limiter)
        permits.slots.clear()

    async def _slot(self, limiter: SlotLimiter, max_wait: float) -> None:
        now = limiter.used_at = self.now()
        if not limiter.waiters and not limiter.promised and limiter.free(now) > 0:
            limiter.take_slot()
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        limiter.waiters.append(Waiter(waiter, max_wait))
        self._leases.slot_requests.queue(limiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                limiter.return_slot(self.now())  # the slot was granted at the moment of the cancellation
            limiter.forget_stopped()
            raise

    async def _start(self, limiters: list[tuple[RateLimiter, float]]) -> None:
        """Take a start of each limiter, the slowest first: its starts are scarce, and stay usable for longer."""
        if len(limiters) == 1:
            while (await self._token(*limiters[0])).lapses <= self.now():
                pass
            return
        limiters.sort(key=lambda pair: -pair[0].interval)
        got: dict[RateLimiter, RateToken] = {}
        try:
            while True:
                now = self.now()
                missing = next((pair for pair in limiters if pair[0] not in got or got[pair[0]].lapses <= now), None)
                if missing is None:
                    return
                got[missing[0]] = await self._token(*missing)
        except BaseException:
            for limiter, token in got.items():
                limiter.tokens.put_back(token)
            raise

    async def _token(self, limiter: RateLimiter, max_wait: float) -> RateToken:
        """A start that can be used now; waits for it if necessary."""
        now = limiter.used_at = self.now()
        token = None if limiter.waiters else limiter.take(now, max_wait)
        if token is None:
            waiter: asyncio.Future[RateToken] = asyncio.get_running_loop().create_future()
            limiter.waiters.append(Waiter(waiter, max_wait))
            self._leases.rate_requests.queue(limiter)
            token = await waiter
        elif limiter.requests_ahead and limiter.needs_more(now):
            self._leases.rate_requests.queue(limiter)
        try:
            while (pause := token.release - self.now()) > 0:
                await self._sleep(pause)
        except BaseException:
            limiter.tokens.put_back(token)
            raise
        return token

    # -- maintenance ---------------------------------------------------------------------------------------------

    async def renew(self) -> None:
        """Called once a second: renew slots in use, return idle slots, and forget unused keys."""
        await self._leases.renew()

    async def close(self) -> None:
        """Return all slots."""
        await self._leases.close()

    def describe(self) -> dict[str, Any]:
        """The status for the worker's row and the metrics: totals, and each limit summed over its keys."""
        return {"starts": self._starts, **self._leases.describe()}


def _limit_key(limit: Limit, value: Any, task: TaskInfo | None) -> str:
    """The key of an input.

    Raises: DataError if the input has no key.
    """
    try:
        key = limit.key_of(value, task)
    except Exception as error:
        raise DataError(f"limit {limit.name}: the input has no key ({type(error).__name__}: {error})") from error
    return key_text(key)
