"""A cache with single flight: concurrent callers share one load; values expire, the least recently used are evicted."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

T = TypeVar("T")


class SingleFlightCache(Generic[T]):
    """Values by key, for `ttl_s` seconds each."""

    def __init__(
        self,
        max_size: int,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        size: Callable[[T], int] = lambda _: 1,
    ) -> None:
        """`max_size`: maximum total of `size` over all values. A larger value is not cached."""
        self._max_size, self._ttl_s, self._clock, self._size_of = max_size, ttl_s, clock, size
        self._entries: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._size = 0
        self._loading: dict[Hashable, asyncio.Future[T]] = {}

    async def get(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        """The value, loaded if it is not cached. An exception of `load` is raised in all callers that wait for it."""
        return (await self.lookup(key, load))[0]

    async def lookup(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The value, and whether it came without a load by this call."""
        while True:
            if key in self._entries:
                expires, value = self._entries[key]
                if expires > self._clock():
                    self._entries.move_to_end(key)
                    return value, True
                self._remove(key)
            loading = self._loading.get(key)
            if loading is None:
                return await self._load(key, load), False
            await asyncio.wait([loading])
            if not loading.cancelled():  # otherwise the loading caller was cancelled: load it here
                return loading.result(), True

    async def _load(self, key: Hashable, load: Callable[[], Awaitable[T]]) -> T:
        loading = self._loading[key] = asyncio.get_running_loop().create_future()
        try:
            value = await load()
        except Exception as error:
            loading.set_exception(error)
            loading.exception()  # mark it as retrieved: perhaps no other caller waits
            raise
        except BaseException:
            loading.cancel()
            raise
        else:
            loading.set_result(value)
            self._add(key, value)
            return value
        finally:
            del self._loading[key]

    def _add(self, key: Hashable, value: T) -> None:
        size = self._size_of(value)
        if size > self._max_size:
            return
        self._entries[key] = self._clock() + self._ttl_s, value
        self._size += size
        while self._size > self._max_size:
            self._remove(next(iter(self._entries)))

    def _remove(self, key: Hashable) -> None:
        _, value = self._entries.pop(key)
        self._size -= self._size_of(value)
