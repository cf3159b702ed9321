"""Transactions of steps: committed with the settle of the task, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from forebay import Context, Done, NotFound, Pipeline, Retry, Rows, Skip, Snooze, Statement
from forebay.settings import Settings
from forebay.testing import Testbed, testbed

accounts: Pipeline[str] = Pipeline("accounts", str)
_SESSIONS = "from pg_stat_activity where application_name = 'forebay step' and datname = current_database()"
_events: dict[str, asyncio.Event] = {}  # of the present test


@accounts.step(retry=Retry(attempts=1))
async def book(ctx: Context, what: str) -> Any:  # noqa: C901, PLR0911 - one case for each way to end
    async with ctx.transaction() as conn:
        count = await conn.fetchval("update counter set visits = visits + 1 returning visits")
    match what:
        case "raise":
            raise ValueError("after the write")
        case "skip":
            return Skip("enough", item=True)
        case "missing":
            return NotFound("no such account")
        case "snooze":
            return Snooze(60) if count < 2 else count
        case "writes":
            return Done(count, writes=[Rows("entry", [{"id": count}])])
        case "broken writes":
            return Done(count, writes=[Rows("entry", [{"id": 0}])])
        case "unusable writes":
            return Done(count, writes=[Statement("select 1", ("one too many",))])
        case "undo a block":
            with pytest.raises(asyncpg.UniqueViolationError):
                await _violate(ctx)
        case "deferred":
            async with ctx.transaction() as conn:
                await conn.execute("insert into late values (0)")
        case "blocks":
            await asyncio.gather(*(_add(ctx) for _ in range(3)))
        case "wait":
            _events["reached"].set()
            await _events["go_on"].wait()
        case _:
            pass
    return count


async def _violate(ctx: Context) -> None:
    async with ctx.transaction() as conn:
        await conn.execute("update counter set visits = 100")
        await conn.execute("insert into entry values (0)")


async def _add(ctx: Context) -> None:
    async with ctx.transaction() as conn:
        await conn.execute("update counter set visits = visits + 1")


@asynccontextmanager
async def prepared(dsn: str, **settings: Any) -> AsyncIterator[Testbed]:
    _events.update(reached=asyncio.Event(), go_on=asyncio.Event())
    async with testbed(dsn, [accounts], migrated=True, settings=Settings(**settings)) as bed:
        await bed.pool.execute(
            "create table counter (visits int); insert into counter values (0); "
            "create table entry (id int primary key); insert into entry values (0); "
            "create table late (id int unique deferrable initially deferred); insert into late values (0)"
        )
        yield bed


async def test_what_the_step_returns_decides(dsn: str) -> None:
    async with prepared(dsn) as bed:
        for what, status, visits in (
            ("done", "DONE", 1),
            ("raise", "ERROR", 0),
            ("skip", "SKIPPED", 1),
            ("missing", "NOT_FOUND", 1),
            ("snooze", "DONE", 2),
            ("undo a block", "DONE", 1),
            ("blocks", "DONE", 4),
            ("writes", "DONE", 1),
            ("broken writes", "ERROR", 0),
            ("deferred", "ERROR", 0),
            ("unusable writes", "ERROR", 0),
        ):
            await bed.pool.execute("update counter set visits = 0")
            job = await bed.submit(accounts, what)
            await bed.finish()
            item = await bed.item(job)
            assert (item.status, await bed.pool.fetchval("select visits from counter")) == (status, visits), what
            if status == "ERROR" and what != "raise":
                assert item.error is not None
                assert item.error["class"] == "data"
                what_failed = "writes of the step were" if what == "unusable writes" else "transaction of the step was"
                assert item.error["reason"].startswith(f"the {what_failed} rejected: ")
        assert await bed.pool.fetchval("select array_agg(id order by id) from entry") == [0, 1]


async def test_nothing_of_a_worker_that_has_lost_its_lease_is_committed(dsn: str) -> None:
    async with prepared(dsn) as bed:
        job = await bed.submit(accounts, "wait")
        running = asyncio.create_task(bed.finish())
        await _events["reached"].wait()
        # The lease is gone, and the worker has not heard of it.
        await bed.pool.execute("select forebay.release(l.worker_id, array[l.token], null) from forebay.lease l")
        assert await bed.pool.fetchval("select count(*) from forebay.lease") == 0
        _events["go_on"].set()
        await running
        await bed.finish()
        assert (await bed.item(job)).result == {"book": 1}
        assert await bed.pool.fetchval("select visits from counter") == 1
        assert await bed.pool.fetchval("select count(*) from forebay.attempt where outcome = 'DONE'") == 1


async def test_a_lost_connection_is_a_transient_error(dsn: str) -> None:
    async with prepared(dsn) as bed:
        book.retry = Retry(attempts=2, base=0.0, cap=0.0)
        try:
            job = await bed.submit(accounts, "wait")
            running = asyncio.create_task(bed.finish())
            await _events["reached"].wait()
            _events["go_on"].set()
            assert await bed.pool.fetchval(f"select count(pg_terminate_backend(pid)) {_SESSIONS}") == 1
            await running
        finally:
            book.retry = Retry(attempts=1)
        assert (await bed.item(job)).result == {"book": 1}
        assert await bed.pool.fetchval("select visits from counter") == 1
        failed = await bed.pool.fetchrow("select class, reason from forebay.attempt where outcome = 'ERROR'")
        assert failed is not None
        assert failed["class"] == "transient"
        assert failed["reason"].startswith("the transaction of the step was not committed: ")


async def test_a_transaction_is_bounded(dsn: str) -> None:
    async with prepared(dsn, command_timeout_s=2) as bed:
        job = await bed.submit(accounts, "wait")
        running = asyncio.create_task(bed.finish())
        await _events["reached"].wait()
        async with asyncio.timeout(30):
            while await bed.pool.fetchval(f"select count(*) {_SESSIONS}"):
                pass
        _events["go_on"].set()
        await running
        item = await bed.item(job)
        assert item.error is not None
        assert item.error["class"] == "transient"
        assert item.error["reason"] == (
            "the transaction of the step was open for more than 2 s (FOREBAY_COMMAND_TIMEOUT_S): "
            "open it after the slow work"
        )


async def test_batch_steps_have_none(dsn: str) -> None:
    many: Pipeline[int] = Pipeline("many", int)

    @many.batch_step(size=2, retry=Retry(attempts=1))
    async def add(ctx: Context, values: Sequence[int]) -> list[int]:
        async with ctx.transaction() as conn:
            await conn.execute("select")
        return list(values)

    async with testbed(dsn, [many], migrated=True) as bed:
        job = await bed.submit(many, 1)
        await bed.finish()
        item = await bed.item(job)
        assert item.error is not None
        assert item.error["reason"] == ("batch steps have no transaction: return Done(value, writes=[…]) for each item")
