"""Transactions of steps: committed with the settle of the task, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import pytest

from forebay import Context, Done, NotFound, Pipeline, Retry, Rows, Skip, Snooze, Statement
from forebay.errors import PermanentError
from forebay.settings import Settings
from forebay.testing import Testbed, testbed

accounts: Pipeline[str] = Pipeline("accounts", str)
_SESSIONS = "from pg_stat_activity where application_name = 'forebay step' and datname = current_database()"
_events: dict[str, asyncio.Event] = {}  # of the present test
_unawaited: list[asyncio.Task[None]] = []  # blocks that their step does not await


@accounts.step(retry=Retry(attempts=1))
async def book(ctx: Context, what: str) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each way to end
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
        case "catch":
            _events["reached"].set()
            with suppress(asyncio.CancelledError):
                await _events["go_on"].wait()
        case "late" | "unawaited" | "raise unawaited":
            _unawaited.append(asyncio.create_task(_add_late(ctx) if what == "late" else _add_slowly(ctx)))
            if what != "late":
                await _events["reached"].wait()
            if what == "raise unawaited":
                raise ValueError("while a block is open")
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


async def _add_slowly(ctx: Context) -> None:
    async with ctx.transaction() as conn:
        await conn.execute("update counter set visits = visits + 1")
        _events["reached"].set()
        await _events["go_on"].wait()
        await conn.execute("update counter set visits = visits + 1")


async def _add_late(ctx: Context) -> None:
    await _events["go_on"].wait()
    await _add(ctx)


@asynccontextmanager
async def prepared(dsn: str, **settings: Any) -> AsyncIterator[Testbed]:
    _events.update(reached=asyncio.Event(), go_on=asyncio.Event())
    _unawaited.clear()
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
        release = "select sum(forebay.release(l.worker_id, array[l.token], null)) from forebay.lease l"
        assert await bed.pool.fetchval(release) == 1
        _events["go_on"].set()
        await running
        await bed.finish()
        assert (await bed.item(job)).result == {"book": 1}
        assert await bed.pool.fetchval("select visits from counter") == 1
        assert await bed.pool.fetchval("select count(*) from forebay.attempt where outcome = 'DONE'") == 1


@pytest.mark.parametrize(
    ("what", "why", "status", "visits"),
    [
        ("catch", "timeout", "DONE", 1),
        ("catch", "shutdown", "DONE", 1),
        ("catch", "cancelled", "DONE", 1),
        ("wait", "cancelled", "SKIPPED", 0),
        ("wait", "timeout", "ERROR", 0),
    ],
)
async def test_a_step_that_was_told_to_stop_and_returned_is_committed(
    dsn: str, what: str, why: str, status: str, visits: int
) -> None:
    async with prepared(dsn) as bed:
        job = await bed.submit(accounts, what)
        running = asyncio.create_task(bed.finish())
        await _events["reached"].wait()
        for executor in bed.worker._executors.values():
            executor.stop_all(why)
        await running
        assert ((await bed.item(job)).status, await bed.pool.fetchval("select visits from counter")) == (status, visits)


async def test_a_block_that_the_step_does_not_await_is_committed_as_a_whole(dsn: str) -> None:
    async with prepared(dsn) as bed:
        job = await bed.submit(accounts, "unawaited")
        running = asyncio.create_task(bed.finish())
        await _events["reached"].wait()
        async with asyncio.timeout(30):
            while not bed.worker._runtime.transactions._settling:  # noqa: ASYNC110 - of the worker
                await asyncio.sleep(0)
        _events["go_on"].set()
        await running
        await _unawaited[0]
        assert (await bed.item(job)).status == "DONE"
        assert await bed.pool.fetchval("select visits from counter") == 3


async def test_a_block_after_the_end_of_its_step_is_refused(dsn: str) -> None:
    async with prepared(dsn) as bed:
        job = await bed.submit(accounts, "late")
        await bed.finish()
        assert (await bed.item(job)).status == "DONE"
        _events["go_on"].set()
        with pytest.raises(
            PermanentError, match=r"^the step has ended, and its transaction with it: await its blocks in the step$"
        ):
            await _unawaited[0]
        assert await bed.pool.fetchval("select visits from counter") == 1
        assert await bed.pool.fetchval(f"select count(*) {_SESSIONS} and state <> 'idle'") == 0


async def test_a_block_that_is_open_when_its_step_fails_writes_nothing(dsn: str) -> None:
    async with prepared(dsn) as bed:
        job = await bed.submit(accounts, "raise unawaited")
        await bed.finish()
        assert (await bed.item(job)).status == "ERROR"
        _events["go_on"].set()
        with pytest.raises(asyncpg.InterfaceError):
            await _unawaited[0]
        assert await bed.pool.fetchval("select visits from counter") == 0


async def test_a_lost_connection_is_a_transient_error(dsn: str) -> None:
    async with prepared(dsn) as bed:
        book.retry = Retry(attempts=2, base=0.0, cap=0.0)
        try:
            job = await bed.submit(accounts, "wait")
            running = asyncio.create_task(bed.finish())
            await _events["reached"].wait()
            assert await bed.pool.fetchval(f"select count(pg_terminate_backend(pid)) {_SESSIONS}") == 1
            _events["go_on"].set()
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
