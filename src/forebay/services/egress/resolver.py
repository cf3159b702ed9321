"""DNS lookups with a timeout, a bound on threads, single flight and a short cache."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from forebay.services.egress.addresses import Address, parse_address
from forebay.services.egress.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ABSENT = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_THREADS = 64  # a hanging lookup occupies a thread until the system's resolver times out


class Resolver(Protocol):
    """Finds the addresses of a host."""

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        """`lookups` limits concurrent lookups of one caller: a page with a dead DNS server must not block others.

        Raises: Unreachable when there are none, or the DNS does not respond.
        """
        ...


class SystemResolver:
    """The resolver of the system: /etc/hosts, the configured servers and so on."""

    def __init__(self, look_up: Callable[[str], list[str]] | None = None) -> None:
        self._look_up = look_up or _look_up
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="egress-dns")

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        try:
            found = await self._looked_up(host, lookups)
        except socket.gaierror as error:
            if error.errno in _ABSENT:
                raise no_such_host(host) from None
            raise Unreachable("dns", f"the name {host} could not be resolved: {error.strerror}") from None
        except UnicodeError:
            raise no_such_host(host) from None
        return list(dict.fromkeys(address for text in found if (address := parse_address(text))))

    async def _looked_up(self, host: str, lookups: asyncio.Semaphore | None) -> list[str]:
        if lookups is None:
            return await asyncio.wrap_future(self._threads.submit(self._look_up, host))
        await lookups.acquire()
        loop = asyncio.get_running_loop()
        thread = self._threads.submit(self._look_up, host)
        # Released when the thread is free, which may be long after the caller timed out.
        thread.add_done_callback(lambda _: _in_loop(loop, lookups.release))
        return await asyncio.wrap_future(thread)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class CachingResolver:
    """Caches results of another resolver for `keep_s`. Addresses are checked at each use, so stale ones are safe."""

    def __init__(
        self,
        resolver: Resolver,
        *,
        timeout_s: float = 10.0,
        keep_s: float = 30.0,
        size: int = 2048,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver, self._timeout_s, self._keep_s, self._size, self._clock = (
            resolver,
            timeout_s,
            keep_s,
            size,
            clock,
        )
        self._kept: OrderedDict[str, tuple[float, Sequence[Address]]] = OrderedDict()
        self._asked: dict[str, asyncio.Task[Sequence[Address]]] = {}

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        kept = self._kept.get(host)
        if kept is not None and kept[0] > self._clock():
            self._kept.move_to_end(host)
            return kept[1]
        # Shielded, because others may wait for the same result when this caller times out.
        return await asyncio.shield(self._asked.get(host) or self._ask(host, lookups))

    async def close(self) -> None:
        """Cancel running lookups."""
        asked = list(self._asked.values())
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    def _ask(self, host: str, lookups: asyncio.Semaphore | None) -> asyncio.Task[Sequence[Address]]:
        task = asyncio.get_running_loop().create_task(self._answer(host, lookups))
        self._asked[host] = task
        task.add_done_callback(lambda done: self._answered(host, done))
        return task

    def _answered(self, host: str, task: asyncio.Task[Sequence[Address]]) -> None:
        del self._asked[host]
        with contextlib.suppress(asyncio.CancelledError):
            task.exception()  # retrieved, even if nobody waits

    async def _answer(self, host: str, lookups: asyncio.Semaphore | None) -> Sequence[Address]:
        try:
            async with asyncio.timeout(self._timeout_s):
                addresses = await self._resolver.resolve(host, lookups)
        except TimeoutError:
            raise Unreachable("dns", f"the name {host} could not be resolved within {self._timeout_s:g} s") from None
        if not addresses:
            raise no_such_host(host)
        if self._keep_s > 0:
            self._kept[host] = (self._clock() + self._keep_s, addresses)
            self._kept.move_to_end(host)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return addresses


def no_such_host(host: str) -> Unreachable:
    return Unreachable("no_such_host", f"the host {host} does not exist")


def _in_loop(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the event loop has ended
        loop.call_soon_threadsafe(callback)


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]
