"""Durations of attempts are measured by one clock, and survive changes of the wall clock."""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta, tzinfo
from typing import Any, Self

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.engine.clock import Clock
from forebay.engine.maintenance.schedules import put_schedule
from forebay.engine.submit.results import wait
from tests.engine.test_worker import working

_HOUR = 3600.0


async def test_a_change_of_the_wall_clock_changes_no_duration(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped: Pipeline[dict[str, int]] = Pipeline("stepped", dict)
    real = time.time

    @stepped.step()
    async def step(ctx: Context, value: dict[str, int]) -> None:
        monkeypatch.setattr(time, "time", lambda: real() - value["n"] * _HOUR)

    async with working(dsn, stepped):
        for hours in (1, -1):
            job = await stepped.submit(conn, {"n": hours})
            await wait(dsn, job.job_id, timeout=60)
    took = await conn.fetch(
        "select ended_at - started_at as took, clock_timestamp() - started_at as ago from forebay.attempt"
    )
    assert len(took) == 2
    assert all(timedelta(0) <= row["took"] < timedelta(minutes=5) for row in took)
    assert all(timedelta(0) <= row["ago"] < timedelta(minutes=5) for row in took)


def test_marks_are_converted_by_the_wall_clock_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    mark = clock.mark()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + _HOUR)
    assert clock.wall(mark) == pytest.approx(real() + _HOUR, abs=60)


class _Ahead(datetime):
    """The clock of a host that is two hours off."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) + timedelta(hours=2)


async def test_a_host_whose_clock_is_two_hours_off_writes_no_wrong_time(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 2 * _HOUR)
    for name, module in list(sys.modules.items()):
        if name.startswith("forebay.") and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", _Ahead)
    skewed: Pipeline[dict[str, int]] = Pipeline("skewed", dict)

    @skewed.step()
    async def step(ctx: Context, value: dict[str, int]) -> None: ...

    # Every other hour: planned by the clock of the host, it would be two hours late.
    hour = (await conn.fetchval("select extract(hour from clock_timestamp() at time zone 'UTC')::int") + 1) % 24
    skewed.schedule("declared", f"30 {hour},{(hour + 2) % 24} * * *", {"n": 1})
    async with working(dsn, skewed) as worker:
        await put_schedule(conn, "own", skewed, f"30 {hour},{(hour + 2) % 24} * * *", {"n": 1}, owner="ada")
        job = await skewed.submit(conn, {"n": 1})
        await wait(dsn, job.job_id, timeout=60)
        await worker.report_status()
    near = timedelta(minutes=5)
    assert abs(worker.clock.now() - await conn.fetchval("select clock_timestamp()")) < near
    row = await conn.fetchrow(
        """select clock_timestamp() - a.started_at as started, clock_timestamp() - a.ended_at as ended,
                  clock_timestamp() - (w.stats ->> 'last_processed')::timestamptz as last,
                  array(select s.next_at - clock_timestamp() from forebay.schedule s) as next
           from forebay.attempt a, forebay.worker w"""
    )
    assert row is not None
    assert all(-near < row[name] < near for name in ("started", "ended", "last")), row
    assert len(row["next"]) == 2
    assert all(timedelta(0) < at < timedelta(hours=1, minutes=31) for at in row["next"]), row
