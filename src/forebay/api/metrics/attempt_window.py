"""The attempts of the last hour, by minute.

Only the newest minutes are read again, so the cost of the metrics does not grow with the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from forebay.api.metrics.metric import Distribution

if TYPE_CHECKING:
    from forebay.engine.db.metrics import AttemptCount

Durations: TypeAlias = dict[tuple[str, str, str], Distribution]  # by pipeline, step and outcome
Errors: TypeAlias = Counter[tuple[str, str, str]]  # failed attempts by pipeline, step and class of error

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_PIECE = timedelta(minutes=10)  # minutes per statement: the first hour of a busy service would take too long
_LATE = 2 * _MINUTE  # an attempt may be committed this long after its time


class AttemptWindow:
    """The attempts of the last hour, and their totals since the process began."""

    def __init__(self) -> None:
        self._minutes: dict[datetime, Durations] = {}
        self._errors: dict[datetime, Errors] = {}
        self._older: Durations = {}
        self._settled = datetime.min.replace(tzinfo=UTC)  # earlier minutes no longer change

    def unread(self, now: datetime) -> Iterator[tuple[datetime, datetime | None]]:
        """The range of time to read next; an end of None means now."""
        since, end = max(self._settled, _minute(now) - _HOUR), _minute(now)
        while since + _PIECE < end:
            yield since, since + _PIECE
            since += _PIECE
        yield since, None

    def take(self, since: datetime, rows: Iterable[AttemptCount]) -> None:
        """Replace the minutes that were read."""
        for minute in [minute for minute in self._minutes if minute >= since]:
            del self._minutes[minute]
            self._errors.pop(minute, None)
        for row in rows:
            durations = self._minutes.setdefault(row.minute, {})
            _at(durations, (row.pipeline, row.step, row.outcome)).add(row.bucket, row.attempts, row.seconds)
            if row.error_class is not None:
                errors = self._errors.setdefault(row.minute, Counter())
                errors[row.pipeline, row.step, row.error_class] += row.attempts

    def move_on(self, now: datetime) -> None:
        """Everything up to now is read: add old minutes to the totals and drop them."""
        self._settled = _minute(now) - _LATE
        for minute in [minute for minute in self._minutes if minute < _minute(now) - _HOUR]:
            _merge(self._older, self._minutes.pop(minute))
            self._errors.pop(minute, None)

    def totals(self) -> Durations:
        """The totals since the process began; they only grow."""
        return _sum([self._older, *self._minutes.values()])

    def last_hour(self) -> Durations:
        return _sum(self._minutes.values())

    def minutes(self, since: datetime) -> Iterator[tuple[datetime, Durations, Errors]]:
        """The minutes from then on, in order: their attempts, and the failed ones by class of error."""
        for minute in sorted(minute for minute in self._minutes if minute >= since):
            yield minute, self._minutes[minute], self._errors.get(minute, Counter())

    def latest(self, now: datetime, minutes: int) -> tuple[Durations, float]:
        """The latest minutes, including the current one, and their length in seconds."""
        since = _minute(now) - (minutes - 1) * _MINUTE
        parts = [durations for minute, durations in self._minutes.items() if minute >= since]
        return _sum(parts), (now - since).total_seconds()


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _at(durations: Durations, key: tuple[str, str, str]) -> Distribution:
    return durations.setdefault(key, Distribution(BOUNDS))


def _merge(durations: Durations, other: Durations) -> None:
    for key, distribution in other.items():
        _at(durations, key).merge(distribution)


def _sum(parts: Iterable[Durations]) -> Durations:
    total: Durations = {}
    for durations in parts:
        _merge(total, durations)
    return total
