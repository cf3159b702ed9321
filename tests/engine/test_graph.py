"""The numbers of a job's steps and of slices of its items, compared with a count of all items."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from forebay import Context, NotFound, Pipeline, Retry, Skip, TransientError, Wait
from forebay.engine.db import graph, lists
from forebay.engine.db.sql import load
from forebay.errors import DataError, NotFoundError
from forebay.settings import Settings
from forebay.testing import testbed
from forebay.types import JobSummary

rows: Pipeline[int] = Pipeline("rows", int)

_COUNT = """
select v.name, count(*) filter (where i.done & v.bit <> 0) as done,
       count(*) filter (where i.dead & ~i.done & v.bit <> 0) as ended_otherwise
from forebay.job j join forebay.version_step v on v.version_id = j.version_id and not v.after_all
join forebay.item i on i.job_id = j.id and i.n > 0
where j.id = $1 group by v.name, v.place order by v.place
"""
_STATUSES = """
select (i.n - 1) / $2::int as slice, i.status, count(*) from forebay.items i
where i.job_id = $1 and i.n > 0 group by 1, 2
"""


@rows.step(retry=Retry(attempts=3, base=60, jitter=False))
async def read(ctx: Context, row: int) -> int | Skip | NotFound:
    if row < 0:
        return NotFound("no such row", final=True)
    match row % 10:
        case 0:
            raise TransientError("later")
        case 1:
            raise DataError("broken")
        case 2:
            return Skip("not wanted", item=True)
        case 3:
            return Skip("nothing to read")
        case _:
            return row


@rows.step(after=read)
async def ask(ctx: Context, row: int, found: int | None) -> int | Wait:
    if row % 10 == 4:
        return Wait("answer", key=str(row), timeout=600)
    return row


@rows.step(after=ask)
async def save(ctx: Context, row: int, found: int) -> int:
    return row


@rows.after_all()
async def total(ctx: Context, job: JobSummary) -> int:
    return job.done


async def _compare(conn: asyncpg.Connection[Any], job_id: int) -> dict[str, graph.StepCounts]:
    """The graph and the ribbon, after they have been compared with all items."""
    steps = {step.name: step for step in await graph.graph(conn, job_id)}
    counted = {row["name"]: row for row in await conn.fetch(_COUNT, job_id)}
    assert all(step.exact for step in steps.values())
    assert {type(count) for step in steps.values() for count in (step.waiting, step.done, step.failed)} == {int}
    for name, row in counted.items():
        assert (name, steps[name].done) == (name, row["done"])
        step = steps[name]
        assert (name, step.failed + step.not_found + step.skipped) == (name, row["ended_otherwise"])
        is_here = step.waiting + step.scheduled + step.running + step.on_hold + step.failed + step.not_found
        assert (name, len(await _items_at(conn, job_id, name))) == (name, is_here)
    slices = await graph.ribbon(conn, job_id, 7)
    size = slices[0].last_n
    found = {(row["slice"], row["status"]): row["count"] for row in await conn.fetch(_STATUSES, job_id, size)}
    assert all(each.exact for each in slices)
    assert len(slices) <= 7
    for place, each in enumerate(slices):
        for status in ("PENDING", "PROCESSING", "DONE", "SKIPPED", "NOT_FOUND", "ERROR"):
            assert getattr(each, status.lower()) == found.get((place, status), 0), (place, status)
    return steps


async def _items_at(conn: asyncpg.Connection[Any], job_id: int, step: str) -> list[int]:
    """The numbers of the items at a step, of all pages."""
    found, after = list[int](), 0
    while True:
        rows, more = await lists.items_at_step(conn, job_id, step, after, 170)
        found += [row["n"] for row in rows]
        if more is None:
            break
        after = more
    assert found == sorted(set(found))
    return found


@pytest.mark.parametrize("size", [100, 2000], ids=["in the lane of its owner", "in its own lane"])
async def test_numbers_at_each_stage(dsn: str, conn: asyncpg.Connection[Any], size: int) -> None:
    tenth = size // 10
    only = Settings(queues="rows.read,rows.ask")
    async with testbed(dsn, [rows], migrated=True, settings=only) as bed:
        job_id = (await rows.submit_many(bed.pool, range(size))).job_id
        read, ask, save, total = (await _compare(conn, job_id)).values()
        assert (read.waiting, read.after, ask.after, save.after) == (size, [], ["read"], ["ask"])
        assert (total.after_all, total.waiting, total.done) == (True, 0, 0)
        await bed.run()
        await conn.execute("select forebay.pause_item($1, 1, 'ada')", job_id)  # row 0, which is to be repeated
        read, ask, save, total = (await _compare(conn, job_id)).values()
        assert (read.scheduled, read.on_hold, read.done) == (tenth - 1, 1, 7 * tenth)
        assert (read.failed, read.skipped) == (tenth, tenth), "a skipped item is no failure"
        assert (ask.scheduled, ask.done, ask.failed, ask.skipped) == (tenth, 6 * tenth, 0, 2 * tenth)
        assert (save.waiting, save.running, save.done, save.skipped) == (6 * tenth, 0, 0, 2 * tenth)
    await conn.execute(
        """select forebay.claim(4711, array[r.step_id], array[r.lane_id], '{0}', array[5], '{1000}', '{}', 60)
           from (select distinct r.step_id, r.lane_id from forebay.ready r) r"""
    )
    steps = await _compare(conn, job_id)
    assert (steps["save"].waiting, steps["save"].running) == (6 * tenth - 5, 5)
    await conn.execute("delete from forebay.lease")  # the worker 4711 has never been
    await conn.execute("select forebay.cancel($1)", job_id)


async def test_the_end_of_a_job(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [rows], migrated=True) as bed:
        job_id = (await rows.submit_many(bed.pool, [1, 3, 5])).job_id
        await bed.finish()
        steps = await _compare(conn, job_id)
        assert (steps["total"].done, steps["save"].done) == (1, 2)
        assert await graph.ribbon(conn, job_id, 400) == [
            graph.Slice(n, n, 0, 0, int(n > 1), 0, 0, int(n == 1), exact=True) for n in (1, 2, 3)
        ]
        job_id = (await rows.submit_many(bed.pool, [-1, 1])).job_id
        await bed.run()
        read, ask, _, total = (await _compare(conn, job_id)).values()
        assert (read.failed, read.not_found, read.skipped) == (1, 1, 0), "what is not found is no failure"
        assert (ask.failed, ask.not_found, ask.skipped, total.done) == (0, 0, 2, 1)
        empty = await rows.submit_many(bed.pool, [])
        assert await graph.ribbon(conn, empty.job_id, 400) == []


async def test_branches_of_a_large_job_are_estimated(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """An open item whose other branch has failed cannot be told from one that has done it."""
    forked: Pipeline[int] = Pipeline("forked", int)

    @forked.step()
    async def left(ctx: Context, row: int) -> int:
        raise DataError("broken")

    @forked.step()
    async def right(ctx: Context, row: int) -> int:
        return row

    async with testbed(dsn, [forked], migrated=True, settings=Settings(queues="forked.left")) as bed:
        job_id = (await forked.submit_many(bed.pool, range(1001))).job_id
        await bed.run()
        steps = await graph.graph(conn, job_id)
        assert [(step.exact, step.waiting, step.done) for step in steps] == [(False, 0, 1001), (False, 1001, 0)]
        small = (await forked.submit_many(bed.pool, range(3))).job_id
        await bed.run()
        steps = await graph.graph(conn, small)
        assert [(step.exact, step.waiting, step.done, step.failed) for step in steps] == [
            (True, 0, 0, 3),
            (True, 3, 0, 0),
        ]


async def test_what_is_not_counted_is_said(conn: asyncpg.Connection[Any], dsn: str) -> None:
    """With bounds that are small enough for a test."""
    async with testbed(dsn, [rows], migrated=True) as bed:
        job_id = (await rows.submit_many(bed.pool, range(2000))).job_id
        await bed.run()
    steps = await conn.fetch(load("job_graph"), job_id, 10_000, 100)
    assert {row["exact"] for row in steps} == {False}
    steps = await conn.fetch(load("job_graph"), job_id, 10, 50_000)
    assert {row["exact"] for row in steps} == {False}
    (page,) = await conn.fetch(load("list_items_at_step"), job_id, "read", 0, 50, 10_000, 30)
    assert page["next_after"] is not None, "more may follow the failed items that were read"
    assert len(page["ns"]) < 50
    with pytest.raises(NotFoundError, match="have no step 'total'"):  # it runs for the job
        await lists.items_at_step(conn, job_id, "total", 0, 10)
    slices = await conn.fetch(load("job_ribbon"), job_id, 10, 10_000, 100)
    assert [(row["exact"], row["skipped"] + row["error"]) for row in slices] == [(False, 10)] * 10
