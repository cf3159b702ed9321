"""The last hour of attempts: read minute by minute, replaced while it may still change, summed up for ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forebay.api.metrics.attempt_window import AttemptWindow
from forebay.api.metrics.metric import Distribution
from forebay.engine.db.metrics import AttemptCount

NOON = datetime(2030, 1, 1, 12, 0, 30, tzinfo=UTC)
KEY = ("p", "s", "DONE")


def ended(minutes_ago: int, attempts: int, now: datetime = NOON) -> AttemptCount:
    minute = (now - timedelta(minutes=minutes_ago)).replace(second=0)
    return AttemptCount(minute, *KEY, bucket=0, attempts=attempts, seconds=0.001 * attempts)


def read(window: AttemptWindow, now: datetime, *rows: AttemptCount) -> None:
    """As the service does: each piece gets the rows that lie in it."""
    for since, until in window.unread(now):
        window.take(since, [row for row in rows if since <= row.minute and (until is None or row.minute < until)])
    window.move_on(now)


def test_the_first_hour_is_read_in_pieces_and_then_only_what_may_change() -> None:
    window = AttemptWindow()
    pieces = list(window.unread(NOON))
    assert pieces[0][0] == datetime(2030, 1, 1, 11, 0, tzinfo=UTC)
    assert [until for _, until in pieces[:-1]] == [since for since, _ in pieces[1:]]
    assert len(pieces) == 6
    assert pieces[-1][1] is None
    window.move_on(NOON)
    (piece,) = window.unread(NOON + timedelta(seconds=29))
    assert piece == (datetime(2030, 1, 1, 11, 58, tzinfo=UTC), None)


def test_what_was_committed_late_is_counted_once() -> None:
    window = AttemptWindow()
    read(window, NOON, ended(30, 7), ended(1, 5))
    read(window, NOON, ended(30, 7), ended(1, 6), ended(0, 1))
    assert window.last_hour()[KEY].count == 14
    assert window.totals()[KEY].count == 14


def test_totals_grow_and_the_hour_moves_on() -> None:
    window = AttemptWindow()
    read(window, NOON, ended(59, 7), ended(5, 5))
    read(window, NOON + timedelta(minutes=10), ended(0, 1, NOON + timedelta(minutes=10)))
    assert window.last_hour()[KEY].count == 6
    assert window.totals()[KEY].count == 13


def test_the_latest_minutes_and_how_long_they_are() -> None:
    window = AttemptWindow()
    read(window, NOON, ended(0, 3), ended(4, 2), ended(5, 100))
    tally, seconds = window.latest(NOON, 5)
    assert tally[KEY].count == 5
    assert seconds == 4 * 60 + 30


def test_a_distribution_tells_mean_and_quantiles() -> None:
    values = Distribution((1.0, 2.0, 4.0))
    assert values.mean() is None
    assert values.quantile(0.5) is None
    for value in (0.5, 1.0, 1.5, 3.0):
        values.observe(value)
    assert values.counts == [2, 1, 1, 0]
    assert values.mean() == 1.5
    assert values.quantile(0.5) == 1.0
    assert values.quantile(0.75) == 2.0
    assert values.quantile(0.95) == pytest.approx(2.0 + 2.0 * 0.8)
    values.observe(100.0)
    assert values.quantile(0.99) == 4.0  # it lies beyond all bounds
