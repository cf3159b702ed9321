"""Time as the engine sees it: the database's clock, or a clock that a test controls."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


def in_seconds(time: float | timedelta) -> float:
    return time.total_seconds() if isinstance(time, timedelta) else float(time)


class Clock:
    """Real time. Statements get no timestamp and use the database's clock, which all machines share. A worker tells it
    the time of the database, so that a host whose clock is wrong writes no wrong times."""

    def __init__(self) -> None:
        self._database: tuple[float, float] | None = None  # its time, and ours then, monotonic

    def follow(self, at: datetime) -> None:
        """Go on from this time, which is that of the database now."""
        self._database = at.timestamp(), time.monotonic()

    def stamp(self) -> datetime | None:
        """The timestamp for statements; None means the database's clock."""
        return None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), UTC)

    def time(self) -> float:
        """Seconds since the epoch."""
        if self._database is None:
            return time.time()
        at, then = self._database
        return at + time.monotonic() - then

    def mark(self, monotonic: float | None = None) -> float:
        """A time to measure from, now or at a time of the monotonic clock: no change of the wall clock affects it."""
        return time.monotonic() if monotonic is None else monotonic

    def wall(self, mark: float) -> float:
        """Seconds since the epoch at a mark, by the clock as it is now."""
        return self.time() - time.monotonic() + mark


class ManualClock(Clock):
    """A clock that only a test advances."""

    def __init__(self, start: datetime | None = None) -> None:
        super().__init__()
        self._now = start or datetime.now(UTC)

    def follow(self, at: datetime) -> None:
        """Only the test advances it."""

    def stamp(self) -> datetime | None:
        return self._now

    def now(self) -> datetime:
        return self._now

    def time(self) -> float:
        return self._now.timestamp()

    def mark(self, monotonic: float | None = None) -> float:
        return self._now.timestamp()

    def wall(self, mark: float) -> float:
        return mark

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
