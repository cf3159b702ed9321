"""Counts of the last seconds, by key: what a worker did lately, for its row in the database."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")


class RecentCounts(Generic[K]):
    """Counts of at least the last `window` seconds. Each call of `totals` begins a new part of the window."""

    def __init__(self, window: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window = window
        self._clock = clock
        self._began = clock()
        self._counts: dict[K, int] = {}  # since `_began`
        self._parts: deque[tuple[float, dict[K, int]]] = deque()  # earlier counts, and when each part began

    def add(self, key: K, count: int = 1) -> None:
        self._counts[key] = self._counts.get(key, 0) + count

    def totals(self) -> tuple[dict[K, int], float]:
        """The counts of the window, and its length in seconds."""
        now = self._clock()
        self._parts.append((self._began, self._counts))
        self._began, self._counts = now, {}
        while len(self._parts) > 1 and now - self._parts[1][0] >= self._window:
            self._parts.popleft()
        sums: dict[K, int] = {}
        for _, counts in self._parts:
            for key, count in counts.items():
                sums[key] = sums.get(key, 0) + count
        return sums, now - self._parts[0][0]
