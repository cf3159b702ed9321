"""Progress of running steps: accepted at any rate, written at most twice a second."""

from __future__ import annotations

import math
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic_core import to_json

from forebay.engine.db import tasks
from forebay.engine.work.attempt import clean

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.context import Context, Progress

_FAR = 10 * 365 * 86400.0  # seconds; later estimates are dropped
_SAMPLE = 1.0  # seconds between two samples of a rate
_WINDOW = 5.0  # seconds; time constant of the moving average


class ByteRate:
    """The recent transfer rate, in bytes per second."""

    def __init__(self, at: datetime, done: int) -> None:
        self._at, self._done = at, done
        self.value: float | None = None

    def add(self, at: datetime, done: int) -> None:
        elapsed = (at - self._at).total_seconds()
        if elapsed < _SAMPLE and done >= self._done:
            return
        if done < self._done:  # the transfer restarted
            self.value = None
        else:
            rate = (done - self._done) / elapsed
            kept = math.exp(-elapsed / _WINDOW)
            self.value = rate if self.value is None else kept * self.value + (1 - kept) * rate
        self._at, self._done = at, done


class ProgressBook:
    """The latest progress of each running task, until it is written."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._lock = Lock()
        self._notes: dict[Context, dict[str, Any]] = {}
        # The first fraction that each attempt reported, and when: a resumed transfer does not start at zero.
        self._first: WeakKeyDictionary[Context, tuple[datetime, float]] = WeakKeyDictionary()
        self._rates: WeakKeyDictionary[Context, ByteRate] = WeakKeyDictionary()

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        fraction = None if progress.fraction is None else min(1.0, max(0.0, float(progress.fraction)))
        noted: dict[str, Any] = {"step": ctx.step, "fraction": fraction}
        noted["note"] = None if progress.note is None else clean(progress.note)[:200]
        sizes = {"bytesDone": progress.bytes_done, "bytesTotal": progress.bytes_total}
        noted |= {name: max(0, int(size)) for name, size in sizes.items() if size is not None}
        with self._lock:  # steps on threads report progress, too
            if fraction is not None and (ends_at := self._ends_at(ctx, fraction)) is not None:
                noted["endsAt"] = ends_at.isoformat()
            if progress.bytes_done is not None and (rate := self._rate(ctx, progress.bytes_done)) is not None:
                noted["bytesPerSecond"] = round(rate)
            self._notes[ctx] = noted

    def _ends_at(self, ctx: Context, fraction: float) -> datetime | None:
        """The estimated end of the step, extrapolated from its first report; None while there is too little data."""
        now = self._clock.now()
        began, at_first = self._first.setdefault(ctx, (now, fraction))
        elapsed, gained = (now - began).total_seconds(), fraction - at_first
        if elapsed < 1 or gained <= 0:
            return None
        left = elapsed * (1 - fraction) / gained
        return now + timedelta(seconds=left) if left < _FAR else None

    def _rate(self, ctx: Context, done: int) -> float | None:
        now = self._clock.now()
        rate = self._rates.setdefault(ctx, ByteRate(now, done))
        rate.add(now, done)
        return rate.value

    async def flush(self) -> None:
        if not self._notes:
            return
        with self._lock:
            notes, self._notes = self._notes, {}
        written = [to_json(noted).decode() for noted in notes.values()]
        await tasks.report_progress(
            self._pool, [ctx.token for ctx in notes], [ctx.n for ctx in notes], written, self._clock.stamp()
        )
