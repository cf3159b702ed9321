"""Durations of attempts are measured by one clock, and survive changes of the wall clock."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.engine.clock import Clock
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
