"""Estimates of a job: its end, its last activity, and the reason of its last failed attempt."""

# demands: S1-97, S5-23, S5-25, S5-110

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.sql._db import START, step

if TYPE_CHECKING:
    from tests.sql._db import Db


async def eta(db: Db, job: int) -> float | None:
    found: float | None = await db.one(
        "select forebay.eta_seconds(j, $2) from forebay.job j where j.id = $1", job, db.now
    )
    return None if found is None else round(found, 1)


async def end(db: Db, count: int, seconds: float, outcome: str = "DONE", **report: Any) -> None:
    """Claim some items, and end them this much later."""
    leases = await db.claim("a", count)
    db.after(seconds=seconds)
    await db.settle(leases, outcome, **report)


async def test_the_estimate_goes_by_the_last_minute(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit(1000)
    assert await eta(db, job) is None  # nothing is known
    await end(db, 100, 10)
    assert await eta(db, job) == 90.0
    for _ in range(12):  # it becomes ten times slower
        await end(db, 10, 10)
    assert await eta(db, job) == 780.0
    db.after(seconds=50)
    slow = await eta(db, job)
    assert slow is not None
    assert slow > 780.0  # a standstill counts, too


async def test_the_estimate_starts_anew_after_a_reprocess(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit(200)
    await end(db, 125, 100)
    await end(db, 75, 100, "ERROR", error="data")
    db.after(hours=1)
    await db.one("select forebay.reprocess($1, now => $2)", job, db.now)
    assert await eta(db, job) is None
    await end(db, 25, 5)
    assert await eta(db, job) == 10.0


async def test_the_estimate_leaves_out_a_pause(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit(100)
    await end(db, 10, 10)
    await db.one("select forebay.pause($1, now => $2)", job, db.now)
    assert await eta(db, job) is None
    db.after(hours=3)
    await db.one("select forebay.resume($1, now => $2)", job, db.now)
    assert await eta(db, job) is None
    await end(db, 10, 10)
    assert await eta(db, job) == 80.0


async def test_a_retry_that_waits_is_waited_for(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit(100)
    leases = await db.claim("a")
    db.after(seconds=10)
    await db.settle(leases, ns=range(1, 98))
    await db.settle(leases, "ERROR", ns=[98, 99, 100], again_at=db.now + timedelta(seconds=40), error="transient")
    assert await eta(db, job) == 40.0
    await db.one("select forebay.pause_item($1, 98, now => $2)", job, db.now)
    assert await eta(db, job) is None  # it is unknown when it will be resumed


async def test_the_only_item_goes_by_its_progress(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit()
    (lease,) = await db.claim("a")
    await db.execute("update forebay.job set state = 'RUNNING' where id = $1", job)
    assert await eta(db, job) is None
    told = json.dumps(
        {"step": "a", "fraction": 0.5, "note": None, "endsAt": (START + timedelta(minutes=2)).isoformat()}
    )
    await db.one("select forebay.report_progress($1, '{1}', $2, $3)", [lease["token"]], [told], db.now)
    assert await eta(db, job) == 120.0
    db.after(minutes=3)
    assert await eta(db, job) == 0.0


async def seen(db: Db, job: int) -> datetime:
    at: datetime = await db.one("select forebay.heartbeat_at(j) from forebay.job j where j.id = $1", job)
    return at


async def test_a_job_has_a_heartbeat_while_no_item_ends(db: Db) -> None:
    await db.register(step("a"), step("b", "a"))
    job = await db.submit(10)
    first = await db.claim("a", 5)
    later = await db.claim("a", 5)
    await db.settle(first)
    db.after(seconds=5)
    await db.settle(later)
    assert await seen(db, job) == db.now
    before = await db.one("select xmin from forebay.job where id = $1", job)
    db.after(milliseconds=300)
    await db.run("b", "ERROR", again_at=db.now + timedelta(hours=1), spent=False)
    assert await db.one("select xmin from forebay.job where id = $1", job) != before  # a failure is noted at once
    await db.execute("insert into forebay.worker (name, started_at, seen_at) values ('w', $1, $1)", db.now)
    db.after(hours=2)
    await db.one("select forebay.promote($1)", db.now)
    await db.claim("b")
    db.after(seconds=30)
    await db.execute("update forebay.worker set seen_at = $1", db.now)
    assert await seen(db, job) == db.now  # of the worker that has it


async def test_the_only_item_of_a_job_gives_the_sign_of_life_and_the_job_is_not_written(db: Db) -> None:
    await db.register(step("a"), step("b", "a"), step("c", "b"))
    job = await db.submit()
    await db.run("a")
    before = await db.one("select xmin from forebay.job where id = $1", job)
    db.after(seconds=5)
    await db.run("b")
    assert await seen(db, job) == db.now
    assert await db.one("select xmin from forebay.job where id = $1", job) == before


async def last_error(db: Db, job: int) -> dict[str, Any] | None:
    text = await db.one("select last_error from forebay.jobs where id = $1", job)
    return None if text is None else dict(json.loads(text))


async def test_a_job_tells_why_its_last_attempt_failed(db: Db) -> None:
    await db.register(step("a"))
    job = await db.submit(3)
    (lease,) = await db.claim("a")
    await db.settle([lease], ns=[1])
    assert await last_error(db, job) is None
    await db.settle([lease], "ERROR", ns=[2], error="data")
    told = {"item": "2", "step": "a", "class": "data", "reason": "data", "attempt": 1}
    found = await last_error(db, job)
    assert found is not None
    assert datetime.fromisoformat(found.pop("at")) == db.now
    assert found == told
    await db.settle([lease], ns=[3])
    assert (await last_error(db, job) or {})["item"] == "2"
    await db.one("select forebay.reprocess($1, now => $2)", job, db.now)
    assert await last_error(db, job) is None


@pytest.mark.parametrize("items", [1, 2])
async def test_a_job_in_which_all_went_well_at_last_has_no_error(db: Db, items: int) -> None:
    await db.register(step("a"))
    job = await db.submit(items)
    leases = await db.claim("a")
    await db.settle(leases, "ERROR", ns=[1], again_at=db.now, error="transient")
    assert (await last_error(db, job) or {})["reason"] == "transient"
    await db.settle(leases, ns=[2])
    await db.run("a")
    assert ((await db.job(job))["state"], await last_error(db, job)) == ("DONE", None)
