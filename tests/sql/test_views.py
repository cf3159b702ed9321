"""The views for users of psql."""

# demands: S1-86, S1-101, S1-102, S2-100, S2-101, S3-33, S4-06, S4-30, X-10

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.sql._db import Db, step


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    db.now = datetime.now(UTC)  # views use the server's clock
    await db.register(step("a"), step("b", "a", queue="slow"))


async def view(db: Db, name: str, order: str = "1, 2") -> list[dict[str, Any]]:
    return [dict(row) for row in await db.fetch(f"select * from forebay.{name} order by {order}")]


def only(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


async def test_items_that_a_worker_has_are_processing(db: Db) -> None:
    job = await db.submit(3)
    (lease,) = await db.claim("a", 2)
    await db.settle([lease], ns=[1])
    shown = [
        only(row, "job_id", "n", "pipeline", "owner", "status", "running", "done") for row in await view(db, "items")
    ]
    assert shown == [
        (job, 1, "p", "ann", "PENDING", None, ["a"]),
        (job, 2, "p", "ann", "PROCESSING", ["a"], []),
        (job, 3, "p", "ann", "PENDING", None, []),
    ]


async def test_items_that_ended_say_which_steps_are_dead(db: Db) -> None:
    await db.submit()
    await db.run("a", "ERROR", error="data")
    (item,) = await view(db, "items")
    assert only(item, "status", "done", "dead") == ("ERROR", [], ["a", "b"])


async def test_jobs_in_words(db: Db) -> None:
    await db.submit(3, key="k")
    leases = await db.claim("a")
    await db.settle(leases, "ERROR", ns=[1], error="data")
    began = db.now - timedelta(minutes=10)
    await db.execute("update forebay.job set pace = row($1::timestamptz, 0, null, null)", began)
    (job,) = await view(db, "jobs")
    assert only(job, "pipeline", "owner", "state", "key", "error", "open") == ("p", "ann", "RUNNING", "k", 1, 2)
    assert float(job["percent"]) == 33.3
    assert timedelta(minutes=19) < job["eta"] - db.now < timedelta(minutes=21)
    await db.settle(leases, "ERROR", ns=[2, 3], error="data")
    (job,) = await view(db, "jobs")
    assert (job["state"], float(job["percent"]), job["eta"]) == ("FAILED", 100, None)


async def test_an_empty_job_is_all_done(db: Db) -> None:
    await db.submit(0)
    (job,) = await view(db, "jobs")
    assert (job["open"], job["percent"]) == (0, 100)


async def test_queue_depth_counts_tasks_exactly(db: Db) -> None:
    await db.submit(10)
    paused = await db.submit(2000)
    await db.execute("select forebay.pause($1)", paused)
    await db.submit(7, run_at=db.now + timedelta(hours=1))
    (lease,) = await db.claim("a", 4)
    await db.settle([lease], ns=[2])
    await db.execute("select forebay.pause_item($1, 6)", lease["job_id"])
    await db.execute("select forebay.pause_queue('a')")
    await db.execute("select forebay.park_queue('slow', 'no key', $1)", db.now + timedelta(seconds=30))
    a, b = await view(db, "queue_depth")
    counts = ("pipeline", "step", "queue", "ready", "scheduled", "leased", "on_hold", "paused", "parked")
    assert only(a, *counts) == ("p", "a", "a", 5, 7, 3, 2001, True, None)
    assert only(b, *counts) == ("p", "b", "slow", 1, 0, 0, 0, False, "no key")
    assert a["next_at"] == db.now + timedelta(hours=1)
    assert b["probe_at"] == db.now + timedelta(seconds=30)
    oldest = await db.conn.fetchval("select created_at from forebay.job where id = $1", lease["job_id"])
    assert (a["oldest_at"], b["oldest_at"]) == (oldest, oldest)  # not that of the paused job


async def test_the_last_hour(db: Db) -> None:
    job = await db.submit(100)
    await db.conn.executemany(
        """insert into forebay.attempt
               (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at)
           values ($1, $2, $3, 1, $4, 1, 1, 1, $5, $6)""",
        [
            (job, n, await db.step_id("a"), "ERROR" if n <= 25 else "DONE", db.now - timedelta(seconds=n), db.now)
            for n in range(1, 101)
        ]
        + [(job, 1, await db.step_id("a"), "SNOOZED", db.now, db.now)]
        + [(job, 1, await db.step_id("b"), "DONE", db.now, db.now - timedelta(minutes=61))],
    )
    (row,) = await view(db, "last_hour")
    assert only(row, "pipeline", "step", "attempts", "done", "errors") == ("p", "a", 101, 75, 25)
    assert float(row["failure_rate"]) == 0.25
    assert (float(row["not_found_rate"]), float(row["throttle_rate"])) == (0, 0)
    assert float(row["average_s"]) == 63  # of those that are DONE: 26 s to 100 s
    assert float(row["p95_s"]) == 96.3


async def test_the_last_hour_tells_what_was_not_found_and_what_was_throttled(db: Db) -> None:
    await db.conn.executemany(
        """insert into forebay.attempt
               (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class)
           values (1, 1, $1, 1, $2, 1, 1, 1, $4, $4, $3)""",
        [
            (await db.step_id("a"), outcome, error, db.now)
            for outcome, error in (
                ("DONE", None),
                ("NOT_FOUND", "not_found"),
                ("THROTTLED", "throttled"),
                ("THROTTLED", "throttled"),
                ("THROTTLED", None),  # by a limit of our own
            )
        ],
    )
    (row,) = await view(db, "last_hour")
    assert (float(row["not_found_rate"]), float(row["throttle_rate"])) == (0.5, 0.5)


async def test_waits_show_the_signal_and_the_time(db: Db) -> None:
    job = await db.submit(2)
    insert = (
        "insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at) select $1, $2, 1, j.owner_id, "
    )
    for n, expires in ((1, "clock_timestamp() + interval '1 hour'"), (2, "'infinity'")):
        await db.execute(f"{insert} 'paid', 'k', {expires} from forebay.job j where j.id = $1", job, n)
    first, second = await view(db, "waits", order="n")
    assert (first["job_id"], first["n"], first["pipeline"], first["owner"]) == (job, 1, "p", "ann")
    assert (first["signal"], first["key"], first["until"] is None, second["until"]) == ("paid", "k", False, None)


async def test_dead_letters_show_what_they_failed_on(db: Db) -> None:
    await db.submit(1, keys=["k"])
    await db.run("a", "ERROR", error="data")
    (row,) = await view(db, "dead_letters")
    assert only(row, "pipeline", "step", "owner", "class", "reason", "attempt", "key", "input") == (
        "p",
        "a",
        "ann",
        "data",
        "data",
        1,
        "k",
        "{}",
    )


async def test_attempts_in_words(db: Db) -> None:
    job = await db.submit()
    leases = await db.claim("a")
    started, ended = db.now, db.after(seconds=7)
    await db.settle(leases)
    await db.execute("update forebay.attempt set started_at = $1, ended_at = $2", started, ended)
    (row,) = await view(db, "attempts")
    assert only(row, "job_id", "n", "pipeline", "step", "owner", "attempt", "outcome", "duration", "worker") == (
        job,
        1,
        "p",
        "a",
        "ann",
        1,
        "DONE",
        timedelta(seconds=7),
        None,
    )


async def add_worker(db: Db, seen_ago: timedelta) -> int:
    return int(
        await db.one(
            "insert into forebay.worker (name, started_at, seen_at) values ('w', $1, $1) returning id",
            db.now - seen_ago,
        )
    )


async def test_a_worker_is_stuck_only_while_work_is_pending(db: Db) -> None:
    await add_worker(db, timedelta(minutes=6))
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "in_flight", "stuck") == (False, 0, False)
    await db.submit()
    (worker,) = await view(db, "workers")
    assert worker["stuck"]
    await db.execute("update forebay.worker set stopped_at = now()")
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "stuck") == (False, False)


async def test_a_worker_is_stuck_when_nothing_ends_of_what_it_holds(db: Db) -> None:
    worker_id = await add_worker(db, timedelta())
    await db.submit(5)
    db.after(minutes=-6)
    leases = await db.claim("a", worker=worker_id, lease_s=3600)
    db.after(minutes=6)
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "in_flight", "stuck") == (True, 5, True)
    await db.settle(leases, ns=[1])
    await db.execute("update forebay.attempt set worker_id = $1", worker_id)
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "in_flight", "stuck") == (True, 4, False)


@pytest.mark.parametrize(
    ("step_name", "limited", "age", "is_stuck"),
    [("p.a", "false", 6, True), ("p.a", "true", 6, False), ("p.b", "false", 6, False), ("p.a", "false", 4, False)],
    ids=["idle", "limited", "other step", "not yet"],
)
async def test_a_worker_is_stuck_when_it_takes_nothing_of_what_waits(
    db: Db, step_name: str, limited: str, age: int, *, is_stuck: bool
) -> None:
    await add_worker(db, timedelta())
    stats = f'{{"steps": {{"{step_name}": {{"limited": {limited}}}}}}}'
    await db.execute("update forebay.worker set started_at = now() - interval '1 hour', stats = $1", stats)
    await db.submit()
    await db.execute("update forebay.job set updated_at = now() - $1 * interval '1 minute'", age)
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "in_flight", "stuck") == (True, 0, is_stuck)
    await db.execute("update forebay.queue set paused = true")
    (worker,) = await view(db, "workers")
    assert not worker["stuck"]


async def test_a_busy_worker_is_not_stuck(db: Db) -> None:
    worker_id = await add_worker(db, timedelta())
    await db.submit()
    await db.claim("a", worker=worker_id)
    (worker,) = await view(db, "workers")
    assert only(worker, "alive", "in_flight", "stuck") == (True, 1, False)
