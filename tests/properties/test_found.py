"""What the state machine found, each as small as it gets."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from tests.sql._db import Db, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Db]:
    """A database with a fork, and a pipeline with a step after all items."""
    conn = await asyncpg.connect(dsn)
    db = Db(conn, dsn)
    await db.register(step("left"), step("right"))
    await db.register(step("load"), step("total", after_all=True), name="gather")
    yield db
    await conn.close()


async def do(db: Db, verb: str, *args: object) -> Any:
    slots = ", ".join(f"${i}" for i in range(1, len(args) + 1))
    at = f"${len(args) + 1}"
    return await db.one(f"select forebay.{verb}({slots}, actor => 'bob', now => {at})", *args, db.now)


async def merge(db: Db, value: str) -> tuple[int, bool]:
    row = await db.row(
        "select * from forebay.submit('p', $1, 'ann', 'k', \"coalesce\" => true, now => $2)", value, db.now
    )
    return row["job_id"], row["created"]


async def test_the_dead_letter_of_a_jobs_own_item_goes_when_that_runs_again(db: Db) -> None:
    job = await db.submit(1, pipeline="gather")
    await db.run("load")
    await db.run("total", "ERROR", error="data")
    assert await do(db, "reprocess", job, ["DONE"]) == 1
    await db.run("load")
    await db.run("total")
    assert (await db.item(job, 0))["status"] == "DONE"
    assert await db.one("select count(*) from forebay.dead_letter") == 0


async def test_the_dead_letter_of_a_jobs_own_item_can_be_reprocessed(db: Db) -> None:
    job = await db.submit(1, pipeline="gather")
    await db.run("load")
    await db.run("total", "ERROR", error="data")
    assert (await db.job(job))["state"] == "FAILED"
    assert await do(db, "reprocess", job) == 1
    assert await db.runs() == [("total", 0, 0, 0)]


async def test_a_cancelled_job_ends_when_the_last_running_step_after_all_has_ended(db: Db) -> None:
    job = await db.submit(1, pipeline="gather")
    await db.run("load")
    leases = await db.claim("total")
    await do(db, "cancel", job)
    assert (await db.job(job))["finished_at"] is None
    db.after(minutes=1)
    await db.settle(leases, "ERROR", again_at=db.now + timedelta(minutes=1), error="transient")
    await db.one("select forebay.reap_cancelled($1)", db.now)
    assert (await db.item(job, 0))["status"] == "SKIPPED"
    assert await db.runs("scheduled") == []
    assert (await db.job(job))["finished_at"] == db.now


async def test_a_job_that_was_paused_and_resumed_still_coalesces(db: Db) -> None:
    job, _ = await merge(db, "1")
    await do(db, "pause", job)
    await do(db, "resume", job)
    assert await merge(db, "2") == (job, False)


async def test_a_paused_item_stays_paused_when_its_input_is_replaced(db: Db) -> None:
    job, _ = await merge(db, "1")
    await do(db, "pause_item", job, 1)
    await merge(db, "2")
    assert all(lease["job_id"] != job for lease in await db.claim("left"))


async def test_cancelling_an_item_that_has_failed_keeps_the_reason(db: Db) -> None:
    job = await db.submit(1)
    await db.run("left", "ERROR", error="data")
    await do(db, "cancel_item", job, 1)
    item = await db.item(job)
    assert (item["status"], item["error"]["class"]) == ("ERROR", "data")


async def test_giving_up_an_item_that_has_failed_keeps_the_reason(db: Db) -> None:
    job = await db.submit(1)
    await db.claim("right")
    await db.run("left", "ERROR", error="data")
    await do(db, "cancel", job)
    await db.one("select forebay.expire($1)", db.after(hours=1))
    item = await db.item(job)
    assert (item["status"], item["error"]["class"]) == ("ERROR", "data")


async def test_an_item_that_is_paused_in_part_and_in_a_workers_hands_is_not_replaced(db: Db) -> None:
    job, _ = await merge(db, "1")
    (lease,) = await db.claim("left")
    await do(db, "pause_item", job, 1)  # holds what no worker has: the other branch
    newer, created = await merge(db, "2")
    assert created
    assert newer != job
    assert lease["inputs"] == ["1"]
    assert (await db.item(job))["input"] == "1"


async def test_what_a_jobs_own_item_left_behind_does_not_run_besides(db: Db) -> None:
    await db.register(step("x"), step("sum", after_all=True), step("print", after_all=True), name="report")
    job = await db.submit(1, pipeline="report")
    await db.run("x")
    await db.run("sum", "ERROR", ends_item=True, error="data")
    assert await do(db, "reprocess", job) == 1
    assert await db.runs() == [("sum", 0, 0, 0), ("print", 0, 0, 0)]


async def test_what_a_worker_has_of_a_jobs_own_item_is_stale_once_that_runs_again(db: Db) -> None:
    await db.register(step("x"), step("sum", after_all=True), step("print", after_all=True), name="report")
    job = await db.submit(1, pipeline="report")
    await db.run("x")
    (stale,) = await db.claim("print")
    await db.run("sum", "ERROR", ends_item=True, error="data")
    assert await do(db, "reprocess", job) == 1
    assert (await db.settle([stale]))["stale_ns"] == [0]
