"""Settling: what a report about an ended item does, and what a transaction that writes rows locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from tests.sql._db import Db, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def other(db: Db) -> AsyncIterator[Db]:
    """A second connection, which does not wait for locks."""
    conn = await asyncpg.connect(db.dsn, server_settings={"lock_timeout": "1s"})
    yield Db(conn, db.dsn)
    await conn.close()


async def _hold(db: Db, leases: list[dict[str, object]]) -> list[tuple[int, int]]:
    tasks = [(lease["token"], n) for lease in leases for n in lease["ns"]]  # type: ignore[attr-defined]
    found = await db.fetch("select * from forebay.hold_tasks($1, $2)", [t for t, _ in tasks], [n for _, n in tasks])
    return [(row["token"], row["n"]) for row in found]


async def test_a_report_about_an_item_that_has_ended_saves_nothing_and_is_logged_as_cancelled(db: Db) -> None:
    await db.register(step("x"), step("y"))
    job = await db.submit(2)
    (x,), (y,) = await db.claim("x"), await db.claim("y")
    await db.settle([x], "SKIPPED", ns=[1], ends_item=True)
    assert await _hold(db, [y]) == [(y["token"], 2)]
    assert (await db.settle([y]))["settled"] == 2
    ended = await db.fetch(
        "select n, outcome, class, reason from forebay.attempt where token = $1 order by n", y["token"]
    )
    assert [tuple(row) for row in ended] == [
        (1, "CANCELLED", "cancelled", "the item had already ended"),
        (2, "DONE", None, None),
    ]
    assert (await db.item(job, 1))["status"] == "SKIPPED"
    assert await db.counters(job) == (0, 1, 0, 0)


async def _ns(db: Db, token: int) -> list[tuple[int, int]]:
    """The tasks that a lease holds, as ranges without their ends."""
    rows = await db.fetch(
        "select lower(r), upper(r) from forebay.lease l, unnest(l.ns) r where l.token = $1 order by 1", token
    )
    return [tuple(row) for row in rows]


async def test_a_lease_ends_with_the_report_about_its_last_task_also_around_a_gap(db: Db) -> None:
    await db.register(step("x"))
    await db.submit(5)
    (lease,) = await db.claim("x")
    await db.settle([lease], ns=[2, 4])
    assert await _ns(db, lease["token"]) == [(1, 2), (3, 4), (5, 6)]
    await db.settle([lease], ns=[3])
    assert await _ns(db, lease["token"]) == [(1, 2), (5, 6)]
    await db.settle([lease], ns=[1, 5])
    assert await db.one("select count(*) from forebay.lease") == 0


async def test_a_report_that_is_stale_does_not_stand_for_one_that_is_missing(db: Db) -> None:
    """As many reports as the lease has tasks, but one of them is about a task that the lease does not hold."""
    await db.register(step("x"))
    job = await db.submit(4)
    first, second = [(await db.claim("x", quota=2))[0] for _ in range(2)]
    assert (first["ns"], second["ns"]) == ([1, 2], [3, 4])
    settled = await db.settle([first | {"ns": [2, 3]}])
    assert (settled["settled"], settled["stale_ns"]) == (1, [3])
    assert await _ns(db, first["token"]) == [(1, 2)]
    settled = await db.settle([first])
    assert (settled["settled"], settled["stale_ns"]) == (1, [2])
    assert await db.counters(job) == (2, 0, 0, 0)
    assert await db.one("select array_agg(token) from forebay.lease") == [second["token"]]


async def test_a_task_that_its_lease_does_not_contain_any_more_is_not_held(db: Db) -> None:
    await db.register(step("x"))
    await db.submit(3)
    (lease,) = await db.claim("x")
    await db.settle([lease], ns=[2])
    assert await _hold(db, [lease]) == [(lease["token"], 1), (lease["token"], 3)]
    await db.execute("delete from forebay.lease")
    assert await _hold(db, [lease]) == []


async def test_tasks_of_a_job_are_settled_while_rows_of_another_of_its_tasks_are_written(db: Db, other: Db) -> None:
    await db.register(step("x"))
    job = await db.submit(20)
    (first,), (second,) = await db.claim("x", 10), await db.claim("x", 10)
    async with db.conn.transaction():
        assert len(await _hold(db, [first])) == 10  # the rows of the step are written now
        assert (await other.settle([second]))["settled"] == 10
        assert (await db.settle([first]))["settled"] == 10
    assert await db.counters(job) == (20, 0, 0, 0)
    assert (await db.job(job))["state"] == "DONE"


async def test_a_held_task_is_neither_settled_nor_cancelled_by_others(db: Db, other: Db) -> None:
    await db.register(step("x"))
    job = await db.submit(2)
    (lease,) = await db.claim("x")
    async with db.conn.transaction():
        await _hold(db, [lease])
        with pytest.raises(asyncpg.LockNotAvailableError):
            await other.settle([lease])
        with pytest.raises(asyncpg.LockNotAvailableError):
            await other.one("select forebay.cancel_item($1, 1)", job)
        assert (await db.settle([lease]))["settled"] == 2


async def test_a_large_value_is_large_although_little_of_it_is_stored(db: Db) -> None:
    await db.register(step("x"))
    for size in (700_000, 1000):
        await db.one("select forebay.submit('p', jsonb_build_object('text', repeat('a', $1)), 'ann')", size)
    assert await db.one("select max(pg_column_size(input)) < 20000 from forebay.item")
    inputs = {lease["job_id"]: lease["inputs"] for lease in await db.claim("x")}
    large, small = (inputs[job_id] for job_id in sorted(inputs))
    assert large == [None]
    assert len(small[0]) > 1000


async def test_the_time_of_throttling_is_carried_along(db: Db) -> None:
    """It does not depend on the history of attempts."""

    async def throttled(attempt: int, longest: float | None = 100) -> float | None:
        found = await db.fetch(
            "select * from forebay.note_throttled('{1}', '{1}', '{1}', '{1}', $1, $2, $3)", [attempt], [longest], db.now
        )
        return found[0]["waited_s"] if found else None

    assert await throttled(1) == 0
    db.after(seconds=60)
    assert await throttled(1) == 60
    assert await throttled(1) == 60  # a settle that is repeated
    db.after(hours=2)
    assert await throttled(1) == 160  # a pause is not throttling
    db.after(seconds=10)
    assert await throttled(2) == 0  # it ran in the meantime
    db.after(seconds=10)
    assert await throttled(2) == 10
    assert await throttled(2, None) is None  # it snoozes
    db.after(seconds=10)
    assert await throttled(2) == 0
    assert await db.one("select count(*) from forebay.throttled_task") == 1


async def test_the_end_of_an_item_that_is_done_writes_to_no_index_of_items(db: Db) -> None:
    await db.register(step("x"))
    await db.submit(200)
    async with db.conn.transaction():
        await db.settle(await db.claim("x"))
        changed = "select pg_stat_get_xact_tuples_updated(t), pg_stat_get_xact_tuples_hot_updated(t)"
        (row,) = await db.fetch(f"{changed} from (select 'forebay.item'::regclass::oid as t) t")
    assert tuple(row) == (200, 200)


async def test_a_report_about_a_task_that_its_lease_no_longer_has_is_stale(db: Db) -> None:
    await db.register(step("x"))
    await db.submit(2)
    (lease,) = await db.claim("x")
    await db.settle([lease], ns=[1])
    again = await db.settle([lease], ns=[1])
    assert (again["settled"], again["stale_ns"]) == (0, [1])
    assert await _ns(db, lease["token"]) == [(2, 3)]
