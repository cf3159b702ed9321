"""Leases that are renewed, released, lost; progress; scheduled runs."""

# demands: S1-62, S1-63, S3-21, S3-66, S5-38, S5-39, S5-70, X-02

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import asyncpg
import pytest

from tests.sql._db import START, Db, step


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"), step("b", "a"))


async def heartbeat(db: Db, worker: int, tokens: list[int], seconds: float) -> dict[int, bool]:
    rows = await db.fetch(
        "select * from forebay.heartbeat($1, $2, $3, $4)", worker, tokens, [seconds] * len(tokens), db.now
    )
    return {row["token"]: row["cancelled"] for row in rows}


async def expire(db: Db, max_leases: int = 500) -> tuple[int, int, int, int]:
    """Leases, requeued, failed, cancelled."""
    row = await db.row("select * from forebay.expire($1, $2)", db.now, max_leases)
    return tuple(row.values())


async def expiry(db: Db, token: int) -> timedelta:
    expires_at: datetime = await db.one("select expires_at from forebay.lease where token = $1", token)
    return expires_at - db.now


async def test_a_heartbeat_renews_what_is_held_and_leaves_the_lost_out(db: Db) -> None:
    await db.submit(4)
    first, second = await db.claim("a", 2) + await db.claim("a", 2)
    await db.settle([second])
    answer = await heartbeat(db, 1, [second["token"], first["token"], 999_999], 300)
    assert answer == {first["token"]: False}
    assert await expiry(db, first["token"]) == timedelta(seconds=300)


async def test_a_heartbeat_of_another_worker_changes_nothing(db: Db) -> None:
    await db.submit()
    (lease,) = await db.claim("a", lease_s=60)
    assert await heartbeat(db, 2, [lease["token"]], 300) == {}
    assert await expiry(db, lease["token"]) == timedelta(seconds=60)


async def test_a_heartbeat_never_shortens_and_tells_of_a_cancel(db: Db) -> None:
    job = await db.submit()
    (lease,) = await db.claim("a", lease_s=60)
    await db.execute("select forebay.cancel($1, now => $2)", job, db.now)
    assert await heartbeat(db, 1, [lease["token"]], 5) == {lease["token"]: True}
    assert await expiry(db, lease["token"]) == timedelta(seconds=60)


async def test_a_heartbeat_shows_that_the_worker_lives(db: Db) -> None:
    worker = await db.one(
        "insert into forebay.worker (name, started_at, seen_at, stopped_at) values ('w', $1, $1, $1) returning id",
        START,
    )
    await heartbeat(db, worker, [], 5)
    assert await db.row("select seen_at, stopped_at from forebay.worker") == {"seen_at": START, "stopped_at": None}


async def test_released_tasks_are_as_if_never_claimed(db: Db) -> None:
    await db.submit(10)
    (lease,) = await db.claim("a", 6)
    await db.settle([lease], ns=[2])
    assert await db.one("select forebay.release(2, $1, $2)", [lease["token"]], db.now) == 0
    assert await db.one("select forebay.release(1, $1, $2)", [lease["token"]], db.now) == 5
    assert await db.runs() == [("a", 1, 1, 0), ("a", 3, 6, 0), ("a", 7, 10, 0), ("b", 2, 2, 0)]
    assert await db.one("select count(*) from forebay.lease") == 0
    assert (await db.settle([lease]))["settled"] == 0


async def test_a_release_keeps_the_attempts_that_were_spent(db: Db) -> None:
    await db.submit()
    await db.run("a", "ERROR", again_at=db.now, error="transient")
    (lease,) = await db.claim("a")
    assert lease["attempt"] == 2
    await db.execute("select forebay.release(1, $1, $2)", [lease["token"]], db.now)
    assert await db.runs() == [("a", 1, 1, 1)]


async def test_a_release_after_a_cancel_ends_the_items(db: Db) -> None:
    job = await db.submit(3)
    (lease,) = await db.claim("a")
    await db.execute("select forebay.cancel($1, now => $2)", job, db.now)
    assert (await db.job(job))["finished_at"] is None
    assert await db.one("select forebay.release(1, $1, $2)", [lease["token"]], db.now) == 3
    assert await db.runs() == []
    assert await db.counters(job) == (0, 3, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now + timedelta(microseconds=1)  # after the cancel


async def test_nothing_expires_before_its_time(db: Db) -> None:
    await db.submit(2)
    await db.claim("a", lease_s=60)
    db.after(seconds=59)
    assert await expire(db) == (0, 0, 0, 0)


async def test_an_expired_lease_returns_its_tasks_one_by_one_and_unspent(db: Db) -> None:
    await db.submit(5)
    (lease,) = await db.claim("a")
    await db.settle([lease], ns=[3])
    db.after(seconds=60)
    assert await expire(db) == (1, 4, 0, 0)
    assert await db.runs() == [("a", n, n, 0) for n in (1, 2, 4, 5)] + [("b", 3, 3, 0)]
    logged = await db.fetch("select n, attempt, worker_id from forebay.attempt where outcome = 'EXPIRED' order by n")
    assert [tuple(row) for row in logged] == [(n, 1, 1) for n in (1, 2, 4, 5)]
    assert (await db.settle([lease], ns=[1]))["stale_ns"] == [1]


async def test_expire_reads_leases_from_a_token_on(db: Db) -> None:
    await db.submit(2)
    low, high = [lease["token"] for _ in range(2) for lease in await db.claim("a", quota=1)]
    db.after(seconds=60)
    expire_from = "select leases from forebay.expire($1, first_token => $2)"
    assert [await db.one(expire_from, db.now, token) for token in (high + 1, high, low)] == [0, 1, 1]


async def test_expire_takes_no_more_leases_than_told(db: Db) -> None:
    await db.submit(3)
    for _ in range(3):
        await db.claim("a", 1)
    db.after(hours=1)
    assert await expire(db, 2) == (2, 2, 0, 0)
    assert await expire(db, 2) == (1, 1, 0, 0)


async def lose(db: Db, times: int) -> tuple[int, int, int, int]:
    """Claim and lose all ready tasks of step a, repeatedly."""
    answer = (0, 0, 0, 0)
    for _ in range(times):
        await db.claim("a", lease_s=60)
        db.after(seconds=60)
        answer = await expire(db)
    return answer


async def test_a_task_that_is_lost_too_often_is_in_error(db: Db) -> None:
    job = await db.submit(2)
    assert await lose(db, 2) == (2, 2, 0, 0)
    assert await lose(db, 1) == (2, 0, 2, 0)
    item = await db.item(job)
    assert (item["status"], item["error"]["class"]) == ("ERROR", "transient")
    assert item["error"]["reason"] == "the worker was lost 3 times while it had this task"
    assert await db.one("select count(*) from forebay.dead_letter") == 2
    assert (await db.job(job))["state"] == "FAILED"
    assert await db.counters(job) == (0, 0, 0, 2)
    assert await db.runs() == []


async def test_one_task_at_its_limit_does_not_take_the_others_of_its_lease_along(db: Db) -> None:
    job = await db.submit(3)
    await lose(db, 2)
    await db.execute("delete from forebay.attempt where n = 2")
    await db.execute("delete from forebay.ready")
    await db.execute(
        "insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n) "
        "select $1, lane_id, id, owner_id, 1, 3 from forebay.job",
        await db.step_id("a"),
    )
    assert await lose(db, 1) == (1, 1, 2, 0)
    assert await db.runs() == [("a", 2, 2, 0)]
    assert await db.counters(job) == (0, 0, 0, 2)


async def test_tasks_that_are_lost_for_the_third_time_come_back_one_after_the_other(db: Db) -> None:
    await db.register(step("a", max_expiries=20), step("b", "a"))
    await db.submit(30)
    for _ in range(2):
        await db.claim("a")
        db.after(seconds=60)
        await expire(db)
        assert await db.one("select count(*) from forebay.scheduled") == 0
    await db.submit(1)
    await db.claim("a")
    db.after(seconds=60)
    assert (await expire(db))[:3] == (31, 31, 0)
    assert len(await db.runs()) == 1, "the one that was lost for the first time"
    times = [row["run_at"] for row in await db.fetch("select run_at from forebay.scheduled order by first_n")]
    assert len(set(times)) == 30
    assert db.now < min(times) <= max(times) <= db.now + timedelta(seconds=10)


async def test_losses_before_a_task_last_ended_do_not_count(db: Db) -> None:
    job = await db.submit()
    await lose(db, 3)
    assert await db.one("select forebay.reprocess($1, now => $2)", job, db.now) == 1
    assert await lose(db, 2) == (1, 1, 0, 0)
    assert await lose(db, 1) == (1, 0, 1, 0)


async def test_an_expired_lease_of_a_cancelled_job_ends_its_items(db: Db) -> None:
    job = await db.submit(3)
    await db.claim("a", 2)
    await db.execute("select forebay.cancel($1, now => $2)", job, db.now)
    assert await db.counters(job) == (0, 1, 0, 0)
    db.after(minutes=2)
    assert await expire(db) == (1, 0, 0, 2)
    assert await db.counters(job) == (0, 3, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now


async def test_what_expires_of_an_item_that_has_ended_is_dropped(db: Db) -> None:
    await db.register(step("x"), step("y"), name="q")
    await db.submit(1, pipeline="q")
    await db.claim("y")
    await db.run("x", "CANCELLED", ends_item=True)
    db.after(minutes=2)
    assert await expire(db) == (1, 0, 0, 0)
    assert await db.runs() == []
    assert await db.one("select count(*) from forebay.attempt") == 1


async def test_a_lease_that_someone_is_settling_is_not_expired(db: Db) -> None:
    await db.submit()
    (lease,) = await db.claim("a")
    db.after(hours=1)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await other.execute("select from forebay.lease where token = $1 for update", lease["token"])
        assert await expire(db) == (0, 0, 0, 0)
    await other.close()
    assert await expire(db) == (1, 1, 0, 0)


async def test_progress_is_written_only_where_the_lease_holds_the_task(db: Db) -> None:
    job = await db.submit(4)
    (lease,) = await db.claim("a", 3)
    await db.settle([lease], ns=[3])
    token = lease["token"]
    written = await db.one(
        "select forebay.report_progress($1, $2, $3, $4)",
        [token, token, token, token, token + 99],
        [1, 1, 3, 4, 2],
        ['{"at": 1}', '{"at": 2}', '{"at": 3}', '{"at": 4}', '{"at": 5}'],
        db.now,
    )
    assert written == 1
    shown = await db.fetch("select progress from forebay.item where job_id = $1 order by n", job)
    assert [row["progress"] for row in shown] == ['{"at": 2}', None, None, None]


async def promote(db: Db, max_rows: int = 1000, after: datetime | None = None) -> dict[str, object]:
    if after is None:
        return await db.row("select * from forebay.promote($1, $2)", db.now, max_rows)
    return await db.row("select * from forebay.promote($1, $2, $3)", db.now, max_rows, after)


async def test_scheduled_runs_become_ready_in_time_and_order(db: Db) -> None:
    for minutes in (3, 1, 2):
        await db.submit(minutes, run_at=db.now + timedelta(minutes=minutes))
    step_id, lane = await db.step_id("a"), await db.one("select lane_id from forebay.job limit 1")
    nothing = {"moved": 0, "next_at": START + timedelta(minutes=1), "steps": [], "lanes": [], "seqs": []}
    assert await promote(db) == nothing
    db.after(minutes=2)
    answer = await promote(db, 1)
    assert (answer["moved"], answer["next_at"]) == (1, START + timedelta(minutes=2))
    assert (answer["steps"], answer["lanes"]) == ([step_id], [lane])
    answer = await promote(db)
    assert (answer["moved"], answer["next_at"]) == (1, START + timedelta(minutes=3))
    in_order = await db.fetch("select last_n from forebay.ready order by seq")
    assert [row["last_n"] for row in in_order] == [1, 2]
    assert answer["seqs"] == [await db.one("select max(seq) from forebay.ready")]


async def test_promote_starts_at_the_watermark_and_includes_it(db: Db) -> None:
    for minutes in (1, 2):
        await db.submit(run_at=START + timedelta(minutes=minutes))
    db.after(minutes=5)
    assert (await promote(db, after=START + timedelta(minutes=2)))["moved"] == 1
    assert (await promote(db, after=START + timedelta(minutes=2)))["moved"] == 0
    assert (await promote(db))["moved"] == 1


async def test_promote_keeps_attempts_and_passes_over_what_is_locked(db: Db) -> None:
    await db.submit(2)
    await db.run("a", "ERROR", again_at=db.now + timedelta(seconds=9), error="transient")
    db.after(seconds=9)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await other.execute("select from forebay.scheduled where first_n = 1 for update")
        answer = await promote(db)
        assert (answer["moved"], answer["next_at"]) == (1, db.now)
    await other.close()
    await promote(db)
    assert await db.runs() == [("a", 1, 1, 1), ("a", 2, 2, 1)]


async def test_a_retry_goes_ahead_of_the_newer_work_of_its_lane(db: Db) -> None:
    first, second, third = [await db.submit() for _ in range(3)]
    other = await db.submit(owner="bob")
    leases = await db.claim("a", 2)
    failed = [each for each in leases if each["job_id"] in (first, second)]
    await db.settle(failed, "ERROR", again_at=db.now + timedelta(seconds=9), error="transient")
    later = await db.submit()
    db.after(seconds=9)
    answer = await promote(db)
    assert answer["moved"] == 2
    lanes = {row["job_id"]: row["lane_id"] for row in await db.fetch("select job_id, lane_id from forebay.ready")}
    assert lanes[first] == lanes[later] != lanes.get(other)  # other owners are served as before
    assert [row["job_id"] for row in await db.claim("a", lane=lanes[first])] == [first, second, third, later]


async def test_retries_of_one_job_keep_their_order_and_none_is_lost(db: Db) -> None:
    job = await db.submit(4)
    await db.run("a", "ERROR", again_at=db.now + timedelta(seconds=9), error="transient")
    new = await db.submit(1)
    db.after(seconds=9)
    assert (await promote(db))["moved"] == 4
    claimed = [(row["job_id"], row["ns"]) for row in await db.claim("a")]
    assert sorted(claimed) == [*((job, [n]) for n in (1, 2, 3, 4)), (new, [1])]
    assert claimed[0] == (job, [1])


async def test_a_retry_whose_place_is_taken_goes_behind(db: Db) -> None:
    job = await db.submit()
    await db.run("a", "ERROR", again_at=db.now + timedelta(seconds=9), error="transient")
    await db.execute(
        "insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, first_n, last_n) "
        "select s.step_id, s.lane_id, j.first_seq, $1, s.owner_id, 1, 1 "
        "from forebay.scheduled s join forebay.job j on j.id = s.job_id where s.attempt > 0",
        await db.submit(run_at=db.now + timedelta(days=1)),
    )
    db.after(seconds=9)
    assert (await promote(db))["moved"] == 1
    assert [row["job_id"] for row in await db.claim("a")] == [job + 1, job]


async def test_paused_items_are_never_due(db: Db) -> None:
    job = await db.submit()
    await db.execute("select forebay.pause_item($1, 1, now => $2)", job, db.now)
    db.after(days=100_000)
    assert await promote(db) == {"moved": 0, "next_at": None, "steps": [], "lanes": [], "seqs": []}


async def test_workers_are_woken_for_what_comes_back(db: Db) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    await db.submit()
    (lease,) = await db.claim("a")
    await db.conn.add_listener("forebay", lambda *args: heard.put_nowait(str(args[-1])))
    await db.execute("select forebay.release(1, $1, $2)", [lease["token"]], db.now)
    seq = await db.one("select seq from forebay.ready")
    assert await heard.get() == f"ready {lease['step_id']} {lease['lane_id']} {seq}"
    busy = "select forebay.mark_busy_lanes($1, $2, 86400, $3)"
    await db.fetch(busy, [lease["step_id"]], [lease["lane_id"]], db.now)
    await db.claim("a")
    db.after(minutes=2)
    await expire(db)
    await db.execute("notify forebay, 'end'")
    assert await heard.get() == "end"


async def test_a_step_that_has_ended_is_not_ended_again(db: Db) -> None:
    """Even if a lease says that it still runs."""
    await db.register(step("a"), step("b"))
    job = await db.submit(1)
    (lease,) = await db.claim("a")
    await db.settle([lease])
    await db.execute(
        """insert into forebay.lease
               (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
           values ($1, $2, $3, $4, 1, 1, $5, $5, '{[1,2)}')""",
        lease["step_id"],
        lease["lane_id"],
        job,
        lease["owner_id"],
        db.now,
    )
    again = lease | {"token": await db.one("select max(token) from forebay.lease")}
    await db.settle([again], "ERROR", error="twice")
    assert (await db.item(job))["verdict"] == "DONE"
    await db.run("b")
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_tokens_grow_even_when_their_sequence_does_not(db: Db) -> None:
    """As after a failover to a replica that lags."""
    await db.register(step("a"))
    await db.submit(1)
    (first,) = await db.claim("a")
    await db.execute("select setval('forebay.token', 1, false), pg_sleep(0.002)")
    await db.submit(1)
    (second,) = await db.claim("a")
    assert second["token"] > first["token"] > 2**40
