"""Limits the requests to each host: adaptive limits and delays, and none while the host is rate limiting us. Owners
get the slots of a host in turn."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from forebay.errors import ThrottledError
from forebay.owner_turns import WaitingLines, acting_for
from forebay.tuning import Concurrency, ProbingConcurrency

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from forebay.settings import Settings

_START = 2  # concurrent requests to a new host
_KNOWN = 4096  # remembered hosts
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 60.0  # between requests to a host that fails or is busy; doubles while it does
_NO_DELAY = 0.05  # seconds; a shorter delay makes no difference
_SHORTEST_PAUSE = 0.05  # seconds before a permit is requested again
_FIRST_PAUSE = 30.0  # seconds after a 429 without Retry-After; doubles with each that follows


class Host:
    """The state of a host, and the requests that wait for it."""

    def __init__(self, name: str, limit: Concurrency, delay: float, *, is_service: bool) -> None:
        self.name = name
        self.limit = limit
        self.is_service = is_service  # its limit finds out what it can handle; delays are for outages only
        self.least_delay = self.delay = delay
        self.running = 0
        self.waiting = WaitingLines()
        self.next_start = 0.0
        self.closed_until = 0.0
        self.throttled = 0  # consecutive times
        self.slowed_until = 0.0  # failures of concurrent requests count once

    @property
    def is_idle(self) -> bool:
        return not self.running and not self.waiting


class HostSlot:
    """A slot for one request to a host. Its caller reports the outcome, which adapts the limit and the delay."""

    def __init__(self, host: Host, politeness: Politeness) -> None:
        self._host, self._politeness = host, politeness

    def answered(self, seconds: float) -> None:
        """The host responded after this time."""
        host = self._host
        host.throttled = 0
        host.limit.add(1, seconds, host.running)
        if host.is_service:
            host.delay, host.next_start = host.least_delay, min(host.next_start, self._politeness.now())
            return
        aim = seconds if host.least_delay else 0.0
        delay = max(host.least_delay, (host.delay + aim) / 2)
        host.delay = min(_LONGEST_DELAY, delay) if delay > _NO_DELAY else host.least_delay

    def failed(self, seconds: float) -> None:
        """The host did not respond, or failed: send fewer requests."""
        self._host.limit.drop()
        self._politeness.add_delay(self._host, seconds)

    def begin_again(self) -> None:
        """Reset the limit of the host to one request at a time."""
        self._host.limit.begin_again()

    def throttled(self, retry_after: float | None) -> float:
        """The host is rate limiting us: close it for all requests; returns for how many seconds."""
        return self._politeness.close_host(self._host, retry_after)

    def reject_waiting(self, error: Callable[[], Exception]) -> None:
        """Raise this error in all requests that wait for the host."""
        self._politeness.reject_waiting(self._host, error)


class HostPermits(Protocol):
    """A permit for a request to a host, shared by all workers, held within the `async with` block.

    `delay_s` is the minimum time between two requests. Raises: ThrottledError with the time to wait.
    """

    def __call__(self, host: str, delay_s: float) -> AbstractAsyncContextManager[object]: ...


class Politeness:
    """Limits requests per host, with an adaptive limit for each."""

    def __init__(
        self,
        settings: Settings,
        *,
        permits: HostPermits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`permits`: limits that are shared with other processes; None: each process has its own limits."""
        self._permits = permits
        self._most = settings.egress_host_concurrency
        self._delay = settings.egress_host_delay_s
        self._wait_s = settings.egress_host_wait_s
        self._longest_pause = settings.egress_retry_after_max_s
        self._clock, self._sleep = clock, sleep
        self._hosts: OrderedDict[str, Host] = OrderedDict()
        self._throttled = 0

    @asynccontextmanager
    async def slot(self, name: str, most: int | None = None) -> AsyncGenerator[HostSlot, None]:
        """Wait for a slot of a host; `most`: the maximum number of slots instead of that of the settings.

        Raises: ThrottledError when the host is closed, or the wait is too long.
        """
        host = self._host(name, most)
        self.check_open(name)
        await self._enter(name, host)
        try:
            async with self._permitted(host, is_web=most is None):
                await self._keep_apart(name, host)
                yield HostSlot(host, self)
        finally:
            host.running -= 1
            self._let_in(host)

    @asynccontextmanager
    async def _permitted(self, host: Host, *, is_web: bool) -> AsyncGenerator[None, None]:
        """Wait for a permit that is shared by all workers, as long as for a slot of this process."""
        if self._permits is None or not is_web:
            yield
            return
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self._wait_s):
                    await self._ask_permit(stack, self._permits, host)
            except TimeoutError:
                raise busy(host.name, self._wait_s) from None
            yield

    async def _ask_permit(self, stack: AsyncExitStack, permits: HostPermits, host: Host) -> None:
        """Request a permit until there is one."""
        while True:
            try:
                await stack.enter_async_context(permits(host.name, host.least_delay))
            except ThrottledError as error:
                await self._sleep(max(error.retry_after, _SHORTEST_PAUSE))
            else:
                return

    def check_open(self, name: str) -> None:
        """Raises: ThrottledError while the host is rate limiting us."""
        host = self._hosts.get(name)
        left = 0.0 if host is None else host.closed_until - self._clock()
        if left > 0:
            raise rate_limited(name, left)

    def now(self) -> float:
        return self._clock()

    def slow_down(self, name: str, delay: float) -> None:
        """Set the minimum delay between two requests to a host, as its robots.txt may require."""
        host = self._host(name)
        host.least_delay = max(self._delay, min(delay, _LONGEST_DELAY))
        host.delay = max(host.delay, host.least_delay)

    def add_delay(self, host: Host, seconds: float) -> None:
        """Increase the delay of a failing or busy host: half a second at first, then doubled each time."""
        now = self._clock()
        if now < host.slowed_until:
            return
        slow = (host.delay + seconds) / 2 if host.least_delay else 0.0
        host.delay = min(_LONGEST_DELAY, max(_FIRST_DELAY, 2 * host.delay, slow))
        host.slowed_until = host.next_start = max(host.next_start, now + host.delay)

    def close_host(self, host: Host, retry_after: float | None) -> float:
        """Reject requests to this host for a while, including those that wait."""
        self._throttled += 1
        if host.closed_until <= self._clock():  # otherwise a response to a request from before, which tells nothing new
            host.throttled += 1
            host.limit.drop()
            self.add_delay(host, 0.0)
        told = _FIRST_PAUSE * 2 ** min(host.throttled - 1, 10) if retry_after is None else retry_after
        pause = min(told, self._longest_pause)
        host.closed_until = max(host.closed_until, self._clock() + pause)
        self.reject_waiting(host, lambda: rate_limited(host.name, pause))
        return pause

    def reject_waiting(self, host: Host, error: Callable[[], Exception]) -> None:
        while (found := host.waiting.take()) is not None:
            found[1].set_exception(error())

    def describe(self) -> dict[str, dict[str, float | None]]:
        """The hosts that are busy, slowed or closed, for metrics."""
        now = self._clock()
        return {
            name: host.limit.describe()
            | {
                "running": host.running,
                "waiting": len(host.waiting),
                "delay_s": round(host.delay, 3),
                "closed_s": round(max(0.0, host.closed_until - now), 3),
            }
            for name, host in self._hosts.items()
            if not host.is_idle or host.closed_until > now or host.delay
        }

    def totals(self) -> dict[str, float]:
        """Totals and maxima of all hosts, without their names, which are private."""
        now = self._clock()
        hosts = self._hosts.values()
        return {
            "known": len(hosts),
            "busy": sum(1 for host in hosts if host.running),
            "closed": sum(1 for host in hosts if host.closed_until > now),
            "running": sum(host.running for host in hosts),
            "waiting": sum(len(host.waiting) for host in hosts),
            "most_waiting": max((len(host.waiting) for host in hosts), default=0),
            "longest_closed_s": round(max((max(0.0, host.closed_until - now) for host in hosts), default=0.0), 3),
            "longest_delay_s": round(max((host.delay for host in hosts), default=0.0), 3),
            "throttled": self._throttled,
        }

    def describe_one(self, name: str, most: int | None = None) -> dict[str, float | None]:
        """The same for one host, also if it is idle."""
        host = self._hosts.get(name) or self._new(name, most)
        return host.limit.describe() | {"running": host.running, "waiting": len(host.waiting)}

    def _host(self, name: str, most: int | None = None) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = self._new(name, most)
            self._forget_some()
        self._hosts.move_to_end(name)
        return host

    def _new(self, name: str, most: int | None) -> Host:
        """Response times of pages vary; those of a service are comparable, so that its optimum can be found."""
        limit = Concurrency(1, self._most, start=_START) if most is None else ProbingConcurrency(1, most, start=_START)
        return Host(name, limit, self._delay, is_service=most is not None)

    def _forget_some(self) -> None:
        """Drop the least recently used hosts, but none that is in use or closed."""
        now = self._clock()
        for name in list(self._hosts)[: max(0, len(self._hosts) - _KNOWN)]:
            if self._hosts[name].is_idle and self._hosts[name].closed_until <= now:
                del self._hosts[name]

    async def _enter(self, name: str, host: Host) -> None:
        if host.running < host.limit.value and not host.waiting:
            host.running += 1
            return
        waiter = asyncio.get_running_loop().create_future()
        host.waiting.add(waiter, acting_for.get())
        try:
            async with asyncio.timeout(self._wait_s):
                await waiter
        except TimeoutError:
            self._give_up(host, waiter)
            raise busy(name, self._wait_s) from None
        except asyncio.CancelledError:
            self._give_up(host, waiter)
            raise

    def _give_up(self, host: Host, waiter: asyncio.Future[None]) -> None:
        host.waiting.discard(waiter)
        if not waiter.cancelled() and waiter.done() and waiter.exception() is None:
            host.running -= 1  # it was admitted while the wait timed out
            self._let_in(host)

    def _let_in(self, host: Host) -> None:
        while host.running < host.limit.value and (found := host.waiting.take()) is not None:
            host.running += 1
            found[1].set_result(None)

    async def _keep_apart(self, name: str, host: Host) -> None:
        if not host.delay:
            return
        now = self._clock()
        begin = max(now, host.next_start)
        if begin - now > self._wait_s:
            raise busy(name, begin - now)
        host.next_start = begin + host.delay
        if begin > now:
            await self._sleep(begin - now)
            self.check_open(name)


def rate_limited(name: str, wait_s: float) -> ThrottledError:
    return ThrottledError(f"{name} is rate limiting us", retry_after=wait_s, says_when=True)


def busy(name: str, wait_s: float) -> ThrottledError:
    return ThrottledError(
        f"enough requests to {name} are under way already", retry_after=wait_s, ours=True, says_when=True
    )
