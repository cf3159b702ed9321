"""The stored progress of a step: bytes, and the estimated end."""

# demands: S1-97

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from forebay.engine.clock import ManualClock
from forebay.engine.declare.context import Context
from forebay.engine.work.progress import ProgressBook


class Bench:
    """A progress book, and what it wrote last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))
        self.book = ProgressBook(cast("Any", None), self.clock)
        self.ctx = Context(1, 1, 1, "fetch", 1, 7, cast("Any", self.book))
        self.written: list[dict[str, Any]] = []
        monkeypatch.setattr("forebay.engine.db.tasks.report_progress", self._write)

    async def _write(self, _pool: object, _tokens: object, _ns: object, told: list[str], _now: object) -> None:
        self.written = [json.loads(text) for text in told]

    async def told(self, *args: Any, **sizes: Any) -> dict[str, Any]:
        self.ctx.progress(*args, **sizes)
        await self.book.flush()
        (only,) = self.written
        return only


async def test_bytes_make_the_fraction(monkeypatch: pytest.MonkeyPatch) -> None:
    told = await Bench(monkeypatch).told(None, "half", bytes_done=50, bytes_total=100)
    assert told == {"step": "fetch", "fraction": 0.5, "note": "half", "bytesDone": 50, "bytesTotal": 100}


async def test_bytes_without_a_total_make_none(monkeypatch: pytest.MonkeyPatch) -> None:
    told = await Bench(monkeypatch).told(bytes_done=50)
    assert told == {"step": "fetch", "fraction": None, "note": None, "bytesDone": 50}


async def test_the_end_goes_by_what_was_done_since_the_step_first_told(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    assert "endsAt" not in await bench.told(0.5)  # a download that is resumed
    bench.clock.advance(10)
    assert (await bench.told(0.6))["endsAt"] == "2030-01-01T00:00:50+00:00"
    bench.clock.advance(10)
    assert (await bench.told(0.6))["endsAt"] == "2030-01-01T00:01:40+00:00"


async def test_the_rate_is_that_of_the_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    assert "bytesPerSecond" not in await bench.told(bytes_done=5000)  # resumed: those came before
    bench.clock.advance(2)
    assert (await bench.told(bytes_done=7000))["bytesPerSecond"] == 1000
    bench.clock.advance(0.1)
    assert (await bench.told(bytes_done=9000))["bytesPerSecond"] == 1000  # too soon to say
    bench.clock.advance(59.9)
    assert (await bench.told(bytes_done=7000 + 60 * 20))["bytesPerSecond"] == 20
    assert "bytesPerSecond" not in await bench.told(bytes_done=10)  # the transfer restarted
