"""Submits that replace the input of a job that has not begun."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.sql._db import Db, step


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"))


async def _merge(db: Db, value: str, key: str = "k", **options: Any) -> int:
    given = {"key": key, '"coalesce"': True, "now": db.now} | options
    slots = [f"{name} => ${i}" for i, name in enumerate(given, 2)]
    return int(
        await db.one(f"select job_id from forebay.submit('p', $1, 'ann', {', '.join(slots)})", value, *given.values())
    )


async def _next(db: Db) -> list[tuple[int, str]]:
    return [(lease["job_id"], lease["inputs"][0]) for lease in await db.claim("a", 1)]


async def test_a_job_keeps_its_place_in_the_lane(db: Db) -> None:
    first = await _merge(db, "1")
    second = await _merge(db, "2", "other")
    for value in ("3", "4"):
        assert await _merge(db, value) == first
    assert await _next(db) == [(first, "4")]
    assert await _next(db) == [(second, "2")]
    assert await _next(db) == []


async def test_a_job_that_is_due_is_not_postponed_again(db: Db) -> None:
    """Else it would never run in a lane with a backlog that is longer than the delay."""
    job = await _merge(db, "1", run_at=db.now + timedelta(minutes=1))
    await db.execute("select from forebay.promote($1)", db.after(minutes=2))
    assert await _merge(db, "2", run_at=db.now + timedelta(minutes=1)) == job
    assert await _next(db) == [(job, "2")]


async def test_another_priority_moves_it_to_another_lane(db: Db) -> None:
    job = await _merge(db, "1")
    assert await _merge(db, "2", priority=5) == job
    (lease,) = await db.claim("a")
    assert lease["inputs"] == ["2"]
    assert await db.one("select priority from forebay.lane where id = $1", lease["lane_id"]) == 5
    assert await db.runs() == []


async def test_a_delay_is_counted_anew_up_to_max_wait(db: Db) -> None:
    delay, longest = timedelta(minutes=1), timedelta(minutes=2, seconds=30)
    first, job = db.now, 0
    for minute in range(3):
        job = await _merge(db, str(minute), run_at=db.now + delay, max_wait=longest)
        run_at = await db.one("select run_at from forebay.scheduled where job_id = $1", job)
        assert run_at == min(db.now + delay, first + longest)
        db.after(seconds=50)
    await _merge(db, "3", run_at=db.now + delay, max_wait=longest)  # it has waited long enough
    assert await _next(db) == [(job, "3")]
    assert await db.one("select count(*) from forebay.job") == 1


async def test_max_wait_bounds_the_first_delay_too(db: Db) -> None:
    job = await _merge(db, "1", run_at=db.now + timedelta(hours=1), max_wait=timedelta(minutes=1))
    assert await db.one("select run_at from forebay.scheduled where job_id = $1", job) == db.now + timedelta(minutes=1)
    with pytest.raises(asyncpg.PostgresError, match=r"^max_wait: must not be negative$"):
        await _merge(db, "1", max_wait=timedelta(seconds=-1))
    with pytest.raises(asyncpg.PostgresError, match=r"^max_wait: is for coalesce only$"):
        await db.execute("select forebay.submit('p', '1', key => 'k', max_wait => '1 minute')")


async def test_a_job_without_a_delay_does_not_wait(db: Db) -> None:
    job = await _merge(db, "1", max_wait=timedelta(minutes=1))
    assert await _next(db) == [(job, "1")]


async def test_a_claim_that_meets_the_new_input_gets_it_or_nothing(db: Db) -> None:
    """While the submit is not committed, the run is locked; a job that a worker has is not changed."""
    job = await _merge(db, "1")
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        assert await _merge(Db(other, db.dsn), "2") == job
        assert await _next(db) == []
    await other.close()
    assert await _next(db) == [(job, "2")]
    assert await _merge(db, "3") != job
