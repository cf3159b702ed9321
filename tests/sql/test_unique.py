"""Keys that pass from one job to the next: by the state of the job that has it, and by its age."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.sql._db import Db, step

OPEN = ["QUEUED", "RUNNING", "PAUSED"]
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"))


async def _submit(db: Db, *, key: str = "k", **unique: Any) -> tuple[int, bool]:
    given = {"key": key, "now": db.now} | {f"unique_{name}": value for name, value in unique.items()}
    slots = ", ".join(f"{name} => ${place}" for place, name in enumerate(given, 1))
    row = await db.row(f"select * from forebay.submit('p', '1', 'ann', {slots})", *given.values())
    return row["job_id"], row["created"]


async def test_a_key_is_free_when_its_job_is_in_another_state(db: Db) -> None:
    first, created = await _submit(db, states=OPEN)
    assert created
    assert await _submit(db, states=OPEN) == (first, False)
    await db.execute("select forebay.pause($1)", first)
    assert await _submit(db, states=OPEN) == (first, False)
    await db.execute("select forebay.cancel($1)", first)
    second, created = await _submit(db, states=OPEN)
    assert created
    assert second != first
    await db.run("a")
    assert await _submit(db, states=["DONE"]) == (second, False)
    third, created = await _submit(db, states=OPEN)
    assert (created, third in (first, second)) == (True, False)


async def test_a_job_runs_when_a_worker_has_one_of_its_tasks(db: Db) -> None:
    """`state` says so only after the first task has ended."""
    first, _ = await _submit(db, states=["QUEUED"])
    leases = await db.claim("a")
    assert await _submit(db, states=["QUEUED", "RUNNING"]) == (first, False)
    second, created = await _submit(db, states=["QUEUED"])
    assert (created, second != first) == (True, True)
    await db.settle(leases)
    assert await _submit(db, states=["QUEUED"]) == (second, False)


async def test_a_key_is_free_after_the_period(db: Db) -> None:
    first, _ = await _submit(db, period=HOUR)
    await db.run("a")
    db.after(minutes=59)
    assert await _submit(db, period=HOUR) == (first, False)
    db.after(minutes=1)
    second, created = await _submit(db, period=HOUR, states=OPEN)
    assert created
    db.after(minutes=1)
    assert await _submit(db, period=HOUR, states=OPEN) == (second, False)
    await db.run("a")
    assert (await _submit(db, period=HOUR, states=OPEN))[1]


async def test_a_key_alone_means_the_last_job_that_got_it(db: Db) -> None:
    first, _ = await _submit(db)
    await db.run("a")
    second, _ = await _submit(db, states=OPEN)
    assert await _submit(db) == (second, False)
    await db.execute("delete from forebay.job where id = $1", first)
    assert await _submit(db) == (second, False)
    await db.execute("delete from forebay.job where id = $1", second)
    assert (await _submit(db))[1]


async def test_many_items_and_many_jobs(db: Db) -> None:
    assert await db.submit(2, key="k", unique_states=OPEN) == await db.submit(3, key="k", unique_states=OPEN)
    await db.run("a")
    many = await db.submit(2, key="k", unique_states=OPEN)
    submit = "select * from forebay.submit_jobs('p', '{1,2,3,4}', 'ann', $1, now => $2, unique_states => $3)"
    keys = ["k", "new", "new", None]
    one = await db.row(submit, keys, db.now, OPEN)
    assert one["created"] == [False, True, False, True]
    assert one["job_ids"][0] == many
    assert one["job_ids"][1] == one["job_ids"][2]
    await db.run("a")
    two = await db.row(submit, keys, db.now, OPEN)
    assert two["created"] == [True, True, False, True]
    assert set(two["job_ids"]).isdisjoint(one["job_ids"])
    assert await db.row(submit.replace("$3", "null"), ["k", "new", "new", "k"], db.now) == {
        "job_ids": [two["job_ids"][place] for place in (0, 1, 1, 0)],
        "created": [False] * 4,
    }


@pytest.mark.parametrize("options", ['"coalesce" => true', "unique_states => '{QUEUED}'"])
async def test_an_owner_who_has_submitted_before_needs_a_key_too(db: Db, options: str) -> None:
    await _submit(db)
    with pytest.raises(asyncpg.PostgresError, match=r"^key: is required for (coalesce|unique)$"):
        await db.execute(f"select forebay.submit('p', '1', 'ann', {options})")


async def _waits_for_another(db: Db, pid: int) -> None:
    async with asyncio.timeout(60):
        while not await db.one("select pg_blocking_pids($1) <> '{}'", pid):
            pass


async def test_of_two_submits_at_once_one_gets_the_key(db: Db) -> None:
    """Also when the key passes on at that moment: both see that the job which had it has ended."""
    await _submit(db)
    await db.run("a")
    ours, theirs = await asyncpg.connect(db.dsn), await asyncpg.connect(db.dsn)
    async with ours.transaction():
        job, created = await _submit(Db(ours, db.dsn), states=OPEN)
        other = asyncio.create_task(_submit(Db(theirs, db.dsn), states=OPEN))
        await _waits_for_another(db, theirs.get_server_pid())
    assert created
    assert await other == (job, False)
    await ours.close()
    await theirs.close()


async def test_an_old_snapshot_makes_no_second_job(db: Db) -> None:
    other = await asyncpg.connect(db.dsn)
    with pytest.raises(asyncpg.SerializationError):  # noqa: PT012 - the snapshot must be older than the other submit
        async with other.transaction(isolation="repeatable_read"):
            await other.fetchval("select count(*) from forebay.job")
            await _submit(db, states=OPEN)
            await _submit(Db(other, db.dsn), states=OPEN)
    await other.close()
    assert await db.one("select count(*) from forebay.job") == 1


async def test_a_list_of_states_names_at_least_one(db: Db) -> None:
    """A job in none of them would never hold its key."""
    with pytest.raises(asyncpg.PostgresError, match=r"^unique_states: must name at least one state$"):
        await _submit(db, states=[])
    with pytest.raises(asyncpg.PostgresError, match=r"^unique_states: must name at least one state$"):
        await db.execute("select forebay.submit_jobs('p', '{1}', keys => '{k}', unique_states => '{}')")
