"""Only the database's clock matters for the times of attempts; workers of the release before report a start."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.sql._db import Db, step

_NEXT = timedelta(microseconds=1)


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"))


async def _settle(db: Db, function: str, times: str) -> None:
    (lease,) = await db.claim("a")
    ns = [str(n) for n in lease["ns"]]
    await db.execute(
        f"select * from forebay.{function}(1, $1, $2, $3, $4, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', $5)",
        ",".join([str(lease["token"])] * len(ns)),
        ",".join(ns),
        times,
        chr(30).join([""] * len(ns)),
        db.now,
    )


async def _durations(db: Db) -> list[timedelta]:
    rows = await db.fetch("select ended_at - started_at as took from forebay.attempt order by n")
    return [row["took"] for row in rows]


async def test_the_database_subtracts_what_has_elapsed(db: Db) -> None:
    await db.submit(2)
    await _settle(db, "settle_reports", "1500000,0")
    assert await _durations(db) == [timedelta(seconds=1.5), timedelta(0)]


async def test_a_start_by_the_clock_of_an_old_worker_is_no_negative_duration(db: Db) -> None:
    await db.submit(2)
    now = int(db.now.timestamp() * 1e6)
    await _settle(db, "settle_packed", f"{now - 250_000},{now + 3_600_000_000}")
    assert await _durations(db) == [timedelta(seconds=0.25), timedelta(0)]


async def test_a_settle_that_began_earlier_does_not_set_times_back(db: Db) -> None:
    """It waited for the row of the job, which a settle that began later has updated."""
    job = await db.submit(2)
    leases = await db.claim("a")
    later = db.after(seconds=5)
    await db.settle(leases, ns=[1])
    db.now -= timedelta(seconds=5)
    await db.settle(leases, ns=[2])
    assert (await db.job(job))["updated_at"] == later + _NEXT


async def test_the_item_of_two_steps_that_end_at_the_same_time_keeps_the_later_time(db: Db) -> None:
    await db.register(step("a"), step("b"))
    job = await db.submit()
    first, second = await db.claim("a"), await db.claim("b")
    later = db.after(seconds=5)
    await db.settle(first)
    db.now -= timedelta(seconds=5)
    await db.settle(second)
    assert (await db.item(job))["updated_at"] == later + _NEXT


async def test_two_changes_of_a_job_have_different_times_also_where_the_clock_stands_still(db: Db) -> None:
    """Readers of changes know a change by its time."""
    job = await db.submit(2)
    leases = await db.claim("a")
    later = db.after(seconds=5)
    await db.settle(leases, ns=[1])
    assert (await db.job(job))["updated_at"] == later
    await db.settle(leases, ns=[2])
    ended = await db.job(job)
    assert (ended["updated_at"], ended["finished_at"]) == (later + _NEXT, later + _NEXT)
