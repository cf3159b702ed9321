"""Values that are read from the database for all who ask for them at about the same time."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
R = TypeVar("R", bound="SharedReading[Any]")

FRESH_S = 1.9  # less than the interval of the topic `overview`, which must not get the same value twice
_FORGOTTEN_S = 60.0
_SHARE = 0.1  # of the time at most, all readings together take


class SharedReading(Generic[T]):
    """The last value, which is read again when it is too old. The longer a reading takes, the rarer it is."""

    def __init__(self) -> None:
        self.asked_at = self.read_at = float("-inf")  # monotonic
        self._value: T | None = None
        self._seconds = 0.0
        self._lock = asyncio.Lock()

    async def get(self, read: Callable[[], Awaitable[T]], others: int = 0) -> T:
        """The value; `others`: how many other readings of this kind there are, which share the time."""
        self.asked_at = time.monotonic()
        async with self._lock:
            began = time.monotonic()
            if self._value is None or began - self.read_at >= fresh_for(self._seconds, others):
                self._value = await read()
                self.read_at = time.monotonic()
                self._seconds = self.read_at - began
            return self._value


def fresh_for(seconds: float, others: int) -> float:
    """How long a value stays fresh that took so many seconds to read."""
    return max(FRESH_S, seconds * (1 + others) / _SHARE)


class OwnerReadings(Generic[R]):
    """A reading for each owner who asked of late; None: of all owners."""

    def __init__(self, make: Callable[[], R]) -> None:
        self._make = make
        self._readings: OrderedDict[int | None, R] = OrderedDict()

    def __len__(self) -> int:
        return len(self._readings)

    def of(self, owner_id: int | None) -> R:
        """The reading of an owner. Readings that nobody has asked for of late are dropped."""
        reading = self._readings.pop(owner_id, None) or self._make()
        since = time.monotonic() - _FORGOTTEN_S
        while self._readings and next(iter(self._readings.values())).asked_at < since:
            self._readings.popitem(last=False)
        self._readings[owner_id] = reading
        return reading
