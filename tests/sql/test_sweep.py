"""Maintenance: partitions, retention, lanes, orphans, workers."""

# demands: S2-31, S4-33, S4-93, S4-104, S4-106, S4-112, S4-113, X-08

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import asyncpg
import pytest

from tests.sql._db import START, Db, step

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"), step("b", "a"))


async def log_attempts(db: Db, *ended: datetime) -> None:
    await db.conn.executemany(
        "insert into forebay.attempt values (1, 1, 1, 1, 'DONE', 1, 1, 1, $1, $1)", [(at,) for at in ended]
    )


async def attempts_by_partition(db: Db) -> dict[str, int]:
    found = await db.fetch("select tableoid::regclass::text as part, count(*) from forebay.attempt group by 1")
    return {row["part"].removeprefix("forebay."): row["count"] for row in found}


async def make_partitions(db: Db, days_ahead: int = 1) -> Sequence[str]:
    made: Sequence[str] = await db.one("select forebay.make_partitions($1, $2)", db.now, days_ahead)
    return made


async def test_partitions_are_made_ahead_once(db: Db) -> None:
    assert await make_partitions(db, 2) == ["attempt_20300101", "attempt_20300102", "attempt_20300103"]
    assert await make_partitions(db, 2) == []
    db.after(days=1)
    assert await make_partitions(db, 2) == ["attempt_20300104"]
    await log_attempts(db, START)
    assert await attempts_by_partition(db) == {"attempt_20300101": 1}
    indexed = await db.one("select count(*) from pg_inherits where inhparent = 'forebay.attempt_task'::regclass")
    assert indexed == 5  # that of each partition and of the default


async def test_days_are_those_of_utc(db: Db) -> None:
    await db.execute("set timezone = 'Pacific/Auckland'")
    await make_partitions(db, 0)
    midnight = datetime.fromisoformat("2030-01-01T00:00:00Z")
    await log_attempts(db, midnight, midnight + timedelta(hours=24, microseconds=-1))
    await log_attempts(db, midnight - timedelta(microseconds=1), midnight + timedelta(hours=24))
    assert await attempts_by_partition(db) == {"attempt_20300101": 2, "attempt_default": 2}
    assert await db.one("show timezone") == "Pacific/Auckland"


async def test_rows_in_the_default_partition_move_over(db: Db) -> None:
    await log_attempts(db, START, START - timedelta(days=3), START + timedelta(days=1), START + timedelta(days=50))
    assert await make_partitions(db) == ["attempt_20291229", "attempt_20300101", "attempt_20300102"]
    assert await attempts_by_partition(db) == {
        "attempt_20291229": 1,
        "attempt_20300101": 1,
        "attempt_20300102": 1,
        "attempt_default": 1,
    }


async def test_old_partitions_are_dropped_and_old_rows_of_the_default(db: Db) -> None:
    await log_attempts(db, *(START - timedelta(days=days) for days in range(5)))
    await make_partitions(db, 0)
    await log_attempts(db, START - timedelta(days=90))
    dropped = await db.one("select forebay.drop_partitions($1, interval '2 days')", db.now)
    assert dropped == ["attempt_20291228", "attempt_20291229"]
    assert set(await attempts_by_partition(db)) == {"attempt_20291230", "attempt_20291231", "attempt_20300101"}


async def test_a_partition_in_use_is_left_for_later(db: Db) -> None:
    await make_partitions(db, 0)
    reader = await asyncpg.connect(db.dsn)
    await db.execute("alter function forebay.make_partitions set lock_timeout = '10ms'")
    await db.execute("alter function forebay.drop_partitions set lock_timeout = '10ms'")
    async with reader.transaction():
        await reader.execute("select from forebay.attempt")
        assert await make_partitions(db) == []
        assert await db.one("select forebay.drop_partitions($1, interval '0')", db.after(days=9)) == []
    await reader.close()
    assert await db.one("select forebay.drop_partitions($1, interval '0')", db.now) == ["attempt_20300101"]


async def finish(db: Db, items: int) -> int:
    job = await db.submit(items)
    await db.run("a")
    await db.run("b", "ERROR", error="data")
    return job


async def delete_finished(db: Db, max_jobs: int = 100, max_items: int = 10_000) -> int:
    return int(
        await db.one("select forebay.delete_finished($1, interval '1 day', $2, $3)", db.now, max_jobs, max_items)
    )


async def test_finished_jobs_are_deleted_after_a_while(db: Db) -> None:
    await finish(db, 3)
    db.after(hours=20)
    young, running = await finish(db, 2), await db.submit(2)
    db.after(hours=5)
    assert await delete_finished(db) == 4
    assert await delete_finished(db) == 0
    jobs = await db.fetch("select id from forebay.job order by id")
    assert [row["id"] for row in jobs] == [young, running]
    assert await db.one("select count(*) from forebay.item") == 4
    assert await db.one("select count(*) from forebay.dead_letter") == 2


async def test_single_pipelines_keep_their_jobs_longer_or_shorter(db: Db) -> None:
    await finish(db, 2)
    db.after(days=2)
    statement = "select forebay.delete_finished($1, interval '1 day', of_pipelines => $2, but_pipelines => $3)"
    assert await db.one(statement, db.now, ["other"], None) == 0
    assert await db.one(statement, db.now, None, ["p"]) == 0
    assert await db.one(statement, db.now, ["p"], []) == 3


async def test_a_large_job_is_deleted_in_pieces(db: Db) -> None:
    job = await finish(db, 1200)
    db.after(days=2)
    assert await delete_finished(db, max_items=500) == 500
    assert await db.one("select count(*) from forebay.job where id = $1", job) == 1
    assert await delete_finished(db, max_items=500) == 500
    assert await delete_finished(db, max_items=500) == 201
    assert await delete_finished(db, max_items=500) == 0
    assert await db.one("select count(*) from forebay.lane where job_id <> 0") == 0
    assert await db.one("select count(*) from forebay.job") == 0


async def test_deleting_goes_job_by_job(db: Db) -> None:
    for _ in range(3):
        await finish(db, 1)
    db.after(days=2)
    assert [await delete_finished(db, max_jobs=2) for _ in range(3)] == [4, 2, 0]


async def test_a_job_that_someone_works_on_is_not_deleted(db: Db) -> None:
    job = await finish(db, 1)
    db.after(days=2)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await other.execute("select forebay.lock_job($1)", job)
        assert await delete_finished(db) == 0
    await other.close()
    assert await delete_finished(db) == 2


async def test_runs_left_by_a_deleted_job_do_not_stop_its_lane(db: Db) -> None:
    gone, other = await db.submit(), await db.submit()
    await db.execute("delete from forebay.job where id = $1", gone)
    await db.execute("select forebay.adopt_orphans($1)", db.now)
    assert [row["job_id"] for row in await db.fetch("select job_id from forebay.ready")] == [other]


async def tidy(db: Db, **idle: float) -> int:
    return int(await db.one("select forebay.tidy_lanes($1, $2)", db.now, timedelta(**idle)))


async def lanes(db: Db) -> list[int]:
    return [row["job_id"] for row in await db.fetch("select job_id from forebay.lane order by job_id")]


async def test_idle_lanes_of_jobs_go(db: Db) -> None:
    await db.execute("update forebay.lane set used_at = $1", START)
    large = await finish(db, 1100)
    await db.submit(1, owner="busy")
    await db.submit(1, owner="later", run_at=db.now + timedelta(days=9))
    await db.submit(1, owner="held")
    await db.settle([e for e in await db.claim("a") if e["owner_id"] != 4], "ERROR", again_at=db.now, error="transient")
    await db.execute("update forebay.lane set used_at = $1", START)
    assert await lanes(db) == [0, 0, 0, 0, large]
    db.after(minutes=50)
    assert await tidy(db, hours=1) == 0
    db.after(minutes=50)
    assert await tidy(db, hours=1) == 1  # the one of the large job; those of owners stay
    assert await tidy(db, hours=1) == 0
    assert await lanes(db) == [0, 0, 0, 0]


async def test_the_lane_of_a_job_that_is_reprocessed_stays(db: Db) -> None:
    large = await finish(db, 1100)
    await db.execute("update forebay.lane set used_at = $1", START)
    db.after(hours=2)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await other.execute("select forebay.reprocess($1, now => $2)", large, db.now)
        assert await tidy(db, hours=1) == 0
    await other.close()
    assert await tidy(db, hours=1) == 0
    assert large in await lanes(db)


async def test_the_lane_of_a_job_that_goes_on_stays(db: Db) -> None:
    job = await db.submit(2000)
    await db.execute("delete from forebay.ready")  # e.g. a stream that has not brought anything yet
    await db.execute("update forebay.lane set used_at = $1", START)
    db.after(days=1)
    assert await tidy(db, hours=1) == 0
    assert await lanes(db) == [0, job]


async def test_orphans_get_a_lane_again(db: Db) -> None:
    small, large = await db.submit(2), await db.submit(1500)
    later = await db.submit(1, run_at=db.now + timedelta(hours=1))
    await db.execute("delete from forebay.lane")
    assert await db.one("select forebay.adopt_orphans($1)", db.now) == 4
    assert await db.one("select forebay.adopt_orphans($1)", db.now) == 0
    assert await lanes(db) == [0, large]
    claimed = await db.claim("a", 5000)
    assert {lease["job_id"] for lease in claimed} == {small, large}
    await db.execute("select forebay.promote($1)", db.after(hours=2))
    assert await db.one("select forebay.adopt_orphans($1)", db.now) == 1  # when it is ready
    assert {lease["job_id"] for lease in await db.claim("a")} == {later}


async def test_orphans_join_the_lane_that_was_made_meanwhile(db: Db) -> None:
    first = await db.submit()
    await db.execute("delete from forebay.lane")
    second = await db.submit()
    assert await db.one("select forebay.adopt_orphans($1)", db.now) == 1
    assert (await db.job(first))["lane_id"] == (await db.job(second))["lane_id"]
    assert len(await lanes(db)) == 1


async def test_orphans_of_one_run_in_two_lanes_get_places_of_their_own(db: Db) -> None:
    await db.submit(4)
    await db.execute("update forebay.ready set last_n = 2")
    await db.execute(
        """insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, first_n, last_n)
           select step_id, lane_id + 1000, seq, job_id, owner_id, 3, 4 from forebay.ready"""
    )
    await db.execute("delete from forebay.lane")
    assert await db.one("select forebay.adopt_orphans($1)", db.now) == 2
    assert sorted(n for lease in await db.claim("a") for n in lease["ns"]) == [1, 2, 3, 4]


async def test_orphans_of_a_paused_job_stay_paused(db: Db) -> None:
    job = await db.submit()
    await db.execute("select forebay.pause($1)", job)
    await db.claim("a")
    await db.execute("delete from forebay.lane")
    await db.execute("select forebay.adopt_orphans($1)", db.now)
    assert await db.claim("a") == []
    await db.execute("select forebay.resume($1)", job)
    assert len(await db.claim("a")) == 1


async def test_lost_workers_are_written_off_and_their_leases_run_out(db: Db) -> None:
    seen = (START, START + timedelta(minutes=9))
    lost, alive = [
        await db.one("insert into forebay.worker (name, started_at, seen_at) values ('w', $1, $1) returning id", at)
        for at in seen
    ]
    await db.submit(2)
    await db.claim("a", 1, worker=lost, lease_s=3600)
    await db.claim("a", 1, worker=alive, lease_s=3600)
    db.after(minutes=10)
    assert await db.one("select forebay.close_workers($1, interval '5 minutes')", db.now) == 1
    assert await db.one("select forebay.close_workers($1, interval '5 minutes')", db.now) == 0
    assert await db.one("select stopped_at from forebay.worker where id = $1", lost) == db.now
    assert (await db.row("select * from forebay.expire($1)", db.now))["requeued"] == 1
    assert await db.one("select worker_id from forebay.lease") == alive
    db.after(days=31)
    await db.execute("update forebay.worker set seen_at = $1 where id = $2", db.now, alive)
    await db.execute("select forebay.close_workers($1)", db.now)
    assert await db.one("select array_agg(id) from forebay.worker") == [alive]


async def test_old_audit_records_go_oldest_first(db: Db) -> None:
    for _ in range(3):
        await db.execute("select forebay.note('ann', 'pause', 1, 1, null, null, $1)", db.now)
        db.after(days=1)
    delete = "select forebay.delete_audit($1, interval '36 hours', $2)"
    assert await db.one(delete, db.now, 1) == 1
    assert await db.one(delete, db.now, 10) == 1
    assert await db.one(delete, db.now, 10) == 0
    assert await db.one("select count(*) from forebay.audit") == 1


async def test_what_the_service_left_goes(db: Db) -> None:
    await db.execute("insert into forebay.owner (name) values ('ann')")
    account = await db.one("insert into forebay.account (owner_id, name) values (1, 'ann') returning id")
    for age in (0, 40):
        at = db.now - timedelta(days=age)
        secret = str(age).encode()
        await db.execute(
            "insert into forebay.session (hash, account_id, expires_at) values ($1, $2, $3)",
            secret,
            account,
            at + timedelta(days=1),
        )
        await db.execute(
            "insert into forebay.invitation (hash, created_by, expires_at) values ($1, 'x', $2)", secret, at
        )
        await db.execute("insert into forebay.sign_in_failure values ($1, 1, $2, $2)", str(age), at)
        await db.execute("insert into forebay.idempotency values (1, $1, '', 201, '{}', $2)", str(age), at)
        kept = "insert into forebay.webhook_delivery values (1, 'x', $1, $2, $2::timestamptz + interval '30 days')"
        await db.execute(kept, str(age), at)
    await db.execute("insert into forebay.webhook_delivery values (1, 'y', 'z', '-infinity')")  # replayable for ever
    for left in (5, 0):
        tidied = "select forebay.tidy_identity($1) + forebay.tidy_answers($1) + forebay.tidy_deliveries($1)"
        assert await db.one(tidied, db.now) == left
    for table in ("session", "invitation", "sign_in_failure", "idempotency", "webhook_delivery where source = 'x'"):
        assert await db.one(f"select count(*) from forebay.{table}") == 1
    assert await db.one("select count(*) from forebay.webhook_delivery where source = 'y'") == 1
