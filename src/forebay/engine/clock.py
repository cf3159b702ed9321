"""Time as the engine sees it: the database's clock, or a clock that a test controls."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = time.time() - time.monotonic()


class Clock:
    """Real time. Statements get no timestamp and use the database's clock, which all machines share."""

    def stamp(self) -> datetime | None:
        """The timestamp for statements; None means the database's clock."""
        return None

    def now(self) -> datetime:
        return datetime.now(UTC)

    def time(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def wall(self, monotonic: float) -> float:
        """Seconds since the epoch, for a time of the monotonic clock."""
        return monotonic + _EPOCH


class ManualClock(Clock):
    """A clock that advances only when told to."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime.now(UTC)

    def stamp(self) -> datetime | None:
        return self._now

    def now(self) -> datetime:
        return self._now

    def time(self) -> float:
        return self._now.timestamp()

    def wall(self, monotonic: float) -> float:
        return self._now.timestamp()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
