"""Rates of live views, from counters."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_WINDOW = 10.0  # seconds; workers report every two


@dataclass(frozen=True, slots=True)
class _Sample:
    """Counters at one time: kind → worker or job → value."""

    at: datetime
    counts: dict[str, Mapping[str, int]]


class Rates:
    """Rates over the last seconds."""

    def __init__(self, window: float = _WINDOW) -> None:
        self._window = window
        self._samples: deque[_Sample] = deque()

    def add(self, at: datetime, settled: Mapping[str, int], ended: Mapping[str, int]) -> None:
        """Add the counters at one time: attempts that each worker has settled, and ended items of each job."""
        self._samples.append(_Sample(at, {"tasks": settled, "items": ended}))
        while len(self._samples) > 2 and self._seconds_since(self._samples[1]) >= self._window:
            self._samples.popleft()

    def _seconds_since(self, sample: _Sample) -> float:
        return (self._samples[-1].at - sample.at).total_seconds()

    @property
    def tasks(self) -> float | None:
        """Attempts per second that all workers settled."""
        return self._speed("tasks")

    @property
    def items(self) -> float | None:
        """Items per second that ended, of the listed jobs."""
        return self._speed("items")

    def _speed(self, of: str) -> float | None:
        if not self._samples:
            return None
        last = self._samples[-1].counts[of]
        grown, longest = 0, 0.0
        for who in last:
            # A new worker or job counts from its first sample: earlier progress is outside of the interval.
            first = next(sample for sample in self._samples if who in sample.counts[of])
            grown += max(0, last[who] - first.counts[of][who])
            longest = max(longest, self._seconds_since(first))
        return grown / longest if longest > 0 else None
