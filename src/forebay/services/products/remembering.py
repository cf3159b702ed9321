"""Answers that are kept for a while: rows repeat each other, and a provider is asked once for all of them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

T = TypeVar("T")


class Remembered(Generic[T]):
    """Lists by key, the ones that were used least lately forgotten first; only one asks for a key at a time."""

    def __init__(self, most: int, keep_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`most`: of all their values together, a list counting as one more."""
        self._most, self._keep_s, self._clock = most, keep_s, clock
        self._kept: OrderedDict[Hashable, tuple[float, Sequence[T]]] = OrderedDict()
        self._size = 0
        self._asking: dict[Hashable, asyncio.Future[Sequence[T]]] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[Sequence[T]]]) -> tuple[Sequence[T], bool]:
        """The list, and whether nobody had to be asked for it. What asking raises is raised to all who wait for it."""
        while True:
            if (kept := self._find(key)) is not None:
                return kept, True
            asking = self._asking.get(key)
            if asking is None:
                return await self._ask(key, ask), False
            await asyncio.wait([asking])
            if not asking.cancelled():  # else the one who asked was stopped, and another has to
                return asking.result(), True

    async def _ask(self, key: Hashable, ask: Callable[[], Awaitable[Sequence[T]]]) -> Sequence[T]:
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            found = await ask()
        except Exception as error:
            asking.set_exception(error)
            asking.exception()  # seen: perhaps nobody else waits
            raise
        except BaseException:
            asking.cancel()
            raise
        else:
            asking.set_result(found)
            self._keep(key, found)
            return found
        finally:
            del self._asking[key]

    def _find(self, key: Hashable) -> Sequence[T] | None:
        if key not in self._kept:
            return None
        until, found = self._kept[key]
        if until <= self._clock():
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return found

    def _keep(self, key: Hashable, found: Sequence[T]) -> None:
        self._kept[key] = self._clock() + self._keep_s, found
        self._size += 1 + len(found)
        while self._size > self._most:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: Hashable) -> None:
        _, found = self._kept.pop(key)
        self._size -= 1 + len(found)
