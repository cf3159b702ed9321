"""Items by status over all jobs: always equal to a count of the items, whoever ends, reopens or deletes them."""

# demands: S4-31, S4-72

from __future__ import annotations

import asyncio
import random
from typing import Any

import asyncpg
import pytest

from forebay.db.migrate import migrate
from forebay.engine.db.sql import load
from tests.sql._db import START, Db, step
from tests.sql._upgrades import make_version
from tests.sql.test_pages import buffers

NAMES = ("pending", "processing", "done", "skipped", "not_found", "error")
# The difference between the totals and the items, in one statement, so at one moment.
DIFFERENCE = """
select t.pipeline, t.owner, t.pending, t.processing, t.done, t.skipped, t.not_found, t.error,
       i.pending, i.processing, i.done, i.skipped, i.not_found, i.error
from (select * from forebay.totals where (pending, processing, done, skipped, not_found, error) <> (0, 0, 0, 0, 0, 0)) t
full join (
    select pipeline, owner,
           count(*) filter (where status = 'PENDING') as pending,
           count(*) filter (where status = 'PROCESSING') as processing,
           count(*) filter (where status = 'DONE') as done, count(*) filter (where status = 'SKIPPED') as skipped,
           count(*) filter (where status = 'NOT_FOUND') as not_found, count(*) filter (where status = 'ERROR') as error
    from forebay.items where n > 0 group by pipeline, owner) i on i.pipeline = t.pipeline and i.owner = t.owner
where (t.pending, t.processing, t.done, t.skipped, t.not_found, t.error)
      is distinct from (i.pending, i.processing, i.done, i.skipped, i.not_found, i.error)"""


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"), step("b", "a"))
    await db.register(step("x"), step("y"), step("all", after_all=True), name="q")


async def totals(db: Db, pipeline: str = "p") -> tuple[int, ...]:
    """Pending, processing, done, skipped, not found, error; after a comparison with the items."""
    assert await db.fetch(DIFFERENCE) == []
    counted = {row["pipeline"]: row for row in await db.fetch(load("count_items"))}
    return tuple(counted[pipeline][name] for name in NAMES)


async def test_all_statuses_as_items_move(db: Db) -> None:
    assert await totals(db) == (0, 0, 0, 0, 0, 0)
    await db.submit(6)
    assert await totals(db) == (6, 0, 0, 0, 0, 0)
    leases = await db.claim("a")
    assert await totals(db) == (0, 6, 0, 0, 0, 0)
    await db.settle(leases)
    assert await totals(db) == (6, 0, 0, 0, 0, 0)
    for n, outcome in enumerate(("DONE", "SKIPPED", "NOT_FOUND", "ERROR"), 1):
        leases = await db.claim("b", 1)
        await db.settle(leases, outcome, error="data" if outcome == "ERROR" else None)
        assert sum((await totals(db))[2:]) == n
    assert await totals(db) == (2, 0, 2, 0, 1, 1)  # a step that is skipped counts as done
    await db.submit(2, owner="bob")
    assert await totals(db) == (4, 0, 2, 0, 1, 1)
    assert await totals(db, "q") == (0, 0, 0, 0, 0, 0)


async def test_an_item_that_ended_while_another_of_its_steps_runs_is_not_processing(db: Db) -> None:
    await db.submit(2, pipeline="q")
    running = await db.claim("x")
    failing = await db.claim("y")
    assert await totals(db, "q") == (0, 2, 0, 0, 0, 0)  # in two leases, and yet two items
    await db.settle(failing, "CANCELLED", ns=[1], ends_item=True)
    assert await totals(db, "q") == (0, 1, 0, 1, 0, 0)
    await db.settle(failing, ns=[2])
    await db.settle(running)
    assert await totals(db, "q") == (0, 0, 1, 1, 0, 0)
    await db.run("all")  # the job's own item is none of its items
    assert await totals(db, "q") == (0, 0, 1, 1, 0, 0)


async def test_cancel_reprocess_and_retention(db: Db) -> None:
    job = await db.submit(5)
    await db.settle(await db.claim("a", 1), "ERROR", error="data")
    held = await db.claim("a", 1)
    await db.one("select forebay.cancel_item($1, 5)", job)
    assert await totals(db) == (2, 1, 0, 1, 0, 1)
    await db.one("select forebay.cancel($1, 'bob', $2)", job, db.now)
    await db.settle(held, "CANCELLED", ends_item=True)
    assert await totals(db) == (0, 0, 0, 4, 0, 1)
    assert await db.one("select forebay.reprocess($1, '{SKIPPED,ERROR}', now => $2)", job, db.now) == 5
    assert await totals(db) == (5, 0, 0, 0, 0, 0)
    await db.run("a")
    await db.run("b")
    assert await totals(db) == (0, 0, 5, 0, 0, 0)
    await db.submit(1)
    assert await db.one("select forebay.delete_finished($1, interval '1 day')", db.after(days=2)) == 6
    assert await totals(db) == (1, 0, 0, 0, 0, 0)


async def test_broken_rows_of_a_stream_count(db: Db) -> None:
    opened = await db.row("select * from forebay.open_job('p', 'ann', 'k', 0, 0, false, null, $1)", db.now)
    await db.execute(load("insert_broken_items"), opened["job_id"], [1, 2], [None, None], ["1", "2"], ["no", "no"])
    await db.one("select forebay.append($1, 0, 2, 2, 2, '{}', '{}', null, $2)", opened["job_id"], db.now)
    assert await totals(db) == (0, 0, 0, 0, 0, 2)


async def test_tallies_are_folded_and_say_the_same(db: Db) -> None:
    for owner in ("ann", "bob"):
        for _ in range(3):
            await db.submit(2, owner=owner)
            await db.run("a", "ERROR", error="data")
    assert await db.one("select count(*) from forebay.tally") == 6
    assert await db.one("select forebay.fold_tallies()") == 4
    assert await totals(db) == (0, 0, 0, 0, 0, 12)
    assert await db.one("select forebay.fold_tallies()") == 0
    await db.one("select forebay.delete_finished($1, interval '1 day')", db.after(days=2))
    await db.one("select forebay.fold_tallies()")
    assert await db.one("select count(*) from forebay.tally") == 0
    assert await totals(db) == (0, 0, 0, 0, 0, 0)


async def test_who_has_deleted_jobs_by_hand_counts_anew(db: Db) -> None:
    gone, kept = await db.submit(3), await db.submit(2)
    await db.run("a")
    await db.run("b")
    await db.execute("delete from forebay.item where job_id = $1", gone)
    await db.execute("delete from forebay.job where id = $1", gone)
    assert len(await db.fetch(DIFFERENCE)) == 1
    await db.execute("select forebay.recount()")
    assert await totals(db) == (0, 0, 2, 0, 0, 0)
    assert (await db.job(kept))["done"] == 2


async def test_jobs_of_before_are_counted_by_the_migration(bare_dsn: str) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await make_version(conn, 9)  # the tally came with the tenth
    await conn.execute("insert into forebay.pipeline (name) values ('p')")
    await conn.execute("insert into forebay.owner (name) values ('ann')")
    await conn.execute(
        """insert into forebay.job (owner_id, pipeline_id, steps, lane_id, total, done, error, finished_at)
           values (1, 1, 1, 1, 3, 2, 1, now()), (1, 1, 1, 1, 5, 4, 0, null)"""
    )
    await migrate(bare_dsn)
    (row,) = await conn.fetch("select * from forebay.totals")
    assert tuple(row[name] for name in NAMES) == (1, 0, 6, 0, 0, 1)
    await conn.close()


class Actor:
    """One of many sessions that work on the same jobs."""

    def __init__(self, conn: asyncpg.Connection[Any], worker: int, dsn: str) -> None:
        self.db = Db(conn, dsn)
        self.conn = conn
        self.worker = worker
        self.dice = random.Random(worker)

    async def work(self, rounds: int) -> None:
        outcomes = ("DONE", "DONE", "SKIPPED", "NOT_FOUND", "ERROR")
        for _ in range(rounds):
            leases = await self.db.claim(self.dice.choice("ab"), self.dice.randint(1, 9), worker=self.worker)
            await self.db.settle(leases, self.dice.choice(outcomes), error="data")

    async def steer(self, rounds: int) -> None:
        """Rejections are expected: a job may have ended, or may have been deleted."""
        for _ in range(rounds):
            job = self.dice.randint(1, 12)
            verb = self.dice.choice((
                f"forebay.cancel({job})",
                f"forebay.cancel_item({job}, {self.dice.randint(1, 20)})",
                f"forebay.reprocess({job}, '{{DONE,SKIPPED,ERROR,NOT_FOUND}}')",
                f"forebay.reprocess({job})",
                "forebay.delete_finished(now() + interval '200 days', interval '1 day', 1)",
                "forebay.reap_cancelled()",
                "forebay.fold_tallies()",
                f"forebay.submit_many('p', array_fill('{{}}'::jsonb, array[{self.dice.randint(1, 20)}]))",
            ))  # fmt: skip
            try:
                await self.conn.execute(f"select {verb}")
            except asyncpg.PostgresError as error:
                if not (error.sqlstate or "").startswith("FB"):
                    raise

    async def watch(self, others: asyncio.Task[Any]) -> int:
        looks = 0
        while not others.done():
            assert await self.conn.fetch(DIFFERENCE) == []
            looks += 1
        return looks


async def test_whatever_happens_at_once(db: Db) -> None:
    for size in range(1, 13):
        await db.submit(size, now=START)
    actors = [Actor(await asyncpg.connect(db.dsn), worker, db.dsn) for worker in range(1, 7)]
    for actor in actors:
        await actor.conn.execute("set lock_timeout = '30s'")

    async def everyone() -> None:
        async with asyncio.TaskGroup() as group:
            for actor in actors[:3]:
                group.create_task(actor.work(60))
            for actor in actors[3:5]:
                group.create_task(actor.steer(80))

    others = asyncio.create_task(everyone())
    looks = await actors[5].watch(others)
    await others
    assert looks > 5
    await totals(db)
    await db.one("select forebay.fold_tallies()")
    done = await totals(db)
    assert sum(done) > 0
    for actor in actors:
        await actor.conn.close()


async def test_what_has_ended_is_counted_without_looking_at_it(db: Db) -> None:
    await db.submit(1)
    await db.execute(
        """insert into forebay.job (pipeline_id, owner_id, lane_id, steps, total, done, created_at, finished_at, state)
           select pipeline_id, owner_id, lane_id, steps, 1, 1, created_at, created_at, 'DONE'
           from forebay.job, generate_series(1, 20000)"""
    )
    await db.execute("select forebay.recount()")
    await db.execute("vacuum analyze forebay.job")
    await buffers(db, "select * from forebay.count_items()")
    assert await buffers(db, "select * from forebay.count_items()") < 50
    assert await db.one("select sum(done) from forebay.count_items()") == 20_000
