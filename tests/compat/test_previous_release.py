"""Workers and programs of the release before work on this schema, beside those of this release."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.engine.work.worker import Worker
from forebay.settings import Settings
from tests.compat._previous import SIGNATURES, STATEMENTS, PreviousWorker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.db.pool import Connection


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[Connection]:
    conn = await asyncpg.connect(dsn)
    yield conn
    await conn.close()


@asynccontextmanager
async def working(dsn: str, pipeline: Pipeline[Any]) -> AsyncIterator[Worker]:
    """A worker of this release."""
    worker = Worker(dsn, [pipeline], settings=Settings())
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    try:
        yield worker
    finally:
        worker.stop()
        await running


async def test_every_statement_has_the_parameters_and_columns_that_it_had(conn: Connection) -> None:
    assert STATEMENTS.keys() == SIGNATURES.keys()
    for name, sql in STATEMENTS.items():
        statement = await conn.prepare(sql)
        found = {
            "parameters": [parameter.name for parameter in statement.get_parameters()],
            "columns": [f"{column.name} {column.type.name}" for column in statement.get_attributes()],
        }
        assert found == SIGNATURES[name], name


BEFORE: dict[str, Any] = {
    "name": "shop",
    "steps": [
        {
            "name": name,
            "after": after,
            "optional": False,
            "after_all": False,
            "queue": "shop",
            "max_attempts": 3,
            "max_expiries": 2,
        }
        for name, after in (("pick", []), ("pack", ["pick"]), ("send", ["pack"]))
    ],
}


def shop_of_now(ran: Counter[tuple[int, int, str]]) -> Pipeline[dict[str, int]]:
    """Has a step more between the first two, and another name for the last."""
    shop: Pipeline[dict[str, int]] = Pipeline("shop", dict)

    def note(ctx: Context) -> str:
        ran[ctx.job_id, ctx.n, ctx.step] += 1
        return ctx.step

    @shop.step(queue="shop")
    async def pick(ctx: Context, value: dict[str, int]) -> str:
        return note(ctx)

    @shop.step(after=pick, queue="shop")
    async def weigh(ctx: Context, value: dict[str, int], picked: str) -> str:
        assert picked == "pick"
        return note(ctx)

    @shop.step(after=weigh, queue="shop")
    async def pack(ctx: Context, value: dict[str, int], weighed: str) -> str:
        assert weighed == "weigh"
        return note(ctx)

    @shop.step(after=pack, renamed_from="send", queue="shop")
    async def ship(ctx: Context, value: dict[str, int], packed: str) -> str:
        assert packed == "pack"
        return note(ctx)

    return shop


async def _work_as_before(worker: PreviousWorker) -> None:
    """One round: of several tasks one fails and is tried again, and all the maintenance runs."""
    await worker.sweep()
    tasks = await worker.claim(5)
    for task in tasks:
        assert task.step != "send" or task.results["pack"] == "pack"
    if tasks:
        assert set((await worker.heartbeat(tasks)).values()) == {False}
        await worker.report(tasks)
        await worker.settle(tasks[:1])
    if tasks[1:]:
        await worker.settle(tasks[1:2], "ERROR", 0.0)
    if tasks[2:]:
        await worker.settle(tasks[2:])


_OPEN = "select count(*) from forebay.job where finished_at is null"
_DONE = """
select a.job_id, s.bit, count(*) as times, count(distinct a.n) as items
from forebay.attempt a join forebay.step s on s.id = a.step_id where a.outcome = 'DONE' group by 1, 2 order by 1, 2"""


async def test_workers_of_both_releases_finish_jobs_of_both_versions(dsn: str, conn: Connection) -> None:
    before, ran = await PreviousWorker.start(conn, BEFORE), Counter[tuple[int, int, str]]()
    old = await _submit(conn, 30)
    await _work_as_before(before)
    async with working(dsn, shop_of_now(ran)), asyncio.timeout(60):
        new = await _submit(conn, 30)
        for _ in range(3):
            await _work_as_before(before)
        await before.stop()  # it starts again, beside workers of the new release
        earlier, before = before, await PreviousWorker.start(conn, BEFORE)
        before.ran += earlier.ran
        newest = await _submit(conn, 1)
        while await conn.fetchval(_OPEN):
            await _work_as_before(before)
    await before.stop()
    steps: dict[int, list[int]] = {}
    for row in await conn.fetch(_DONE):
        assert row["times"] == row["items"] == (1 if row["job_id"] == newest else 30)
        steps.setdefault(row["job_id"], []).append(row["bit"])
    assert {job: len(found) for job, found in steps.items()} == {old: 3, new: 4, newest: 4}
    results = await conn.fetch("select distinct job_id, array(select jsonb_object_keys(result)) as k from forebay.item")
    assert {row["job_id"]: set(row["k"]) for row in results} == {
        old: {"pick", "pack", "send"},
        new: {"pick", "weigh", "pack", "ship"},
        newest: {"pick", "weigh", "pack", "ship"},
    }
    assert {name for _, _, name in before.ran} >= {"pick", "pack"}
    assert {name for _, _, name in ran} >= {"weigh", "pack"}
    for table in ("ready", "scheduled", "lease"):
        assert await conn.fetchval(f"select count(*) from forebay.{table}") == 0, table


async def _submit(conn: Connection, size: int) -> int:
    """Submits as a program of the release before does."""
    row = await conn.fetchrow(STATEMENTS["submit_items"], "shop", ["{}"] * size, "ann", None, 0, *[None] * 5)
    assert row is not None
    return int(row["job_id"])
