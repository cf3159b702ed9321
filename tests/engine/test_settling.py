"""Settling on the real engine: rows of items that have ended, slow rows, errors of the server, invalid data."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import Context, Done, Pipeline, Retry, Rows, Skip, Statement, ThrottledError
from forebay.engine.db.writes import size_of
from forebay.settings import Settings
from forebay.testing import testbed

if TYPE_CHECKING:
    from forebay.types import Write


class Thing(BaseModel):
    n: int


async def _is_open(conn: asyncpg.Connection[Any], job_id: int) -> bool:
    return bool(await conn.fetchval("select status = 'PENDING' from forebay.item where job_id = $1", job_id))


async def test_a_step_writes_nothing_for_an_item_that_ended_while_it_ran(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    await conn.execute("create table seen (n int)")
    things: Pipeline[Thing] = Pipeline("things", Thing)

    @things.step()
    async def give_up(ctx: Context, thing: Thing) -> Skip | int:
        return Skip("not wanted", item=True) if thing.n == 1 else thing.n

    @things.step()
    async def write(ctx: Context, thing: Thing) -> Done[int]:
        while thing.n == 1 and await _is_open(conn, ctx.job_id):  # noqa: ASYNC110 - in the database
            await asyncio.sleep(0.01)
        return Done(thing.n, writes=[Rows("seen", [{"n": thing.n}])])

    async with testbed(dsn, [things], migrated=True) as bed:
        for n in (1, 2):
            await bed.submit(things, Thing(n=n))
        async with asyncio.timeout(30):
            await bed.run()
        assert [row["n"] for row in await conn.fetch("select n from seen")] == [2]
        ended = await conn.fetch(
            """select a.outcome, a.reason from forebay.attempt a join forebay.step s on s.id = a.step_id
               where s.name = 'write' order by a.job_id"""
        )
        assert [tuple(row) for row in ended] == [("CANCELLED", "the item had already ended"), ("DONE", None)]
        await conn.execute("select forebay.reprocess(id, '{SKIPPED}') from forebay.job order by id limit 1")


async def test_a_batch_whose_rows_take_too_long_is_halved(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """Together they take longer than a settle may; before, the batch was repeated without an end."""
    slow: Pipeline[Thing] = Pipeline("slow", Thing)

    @slow.step()
    async def write(ctx: Context, thing: Thing) -> Done[int]:
        return Done(thing.n, writes=[Statement("select pg_sleep(0.3)")])

    async with testbed(dsn, [slow], migrated=True, settings=Settings(command_timeout_s=1)) as bed:
        job = await slow.submit_many(bed.pool, [Thing(n=n) for n in range(8)])
        async with asyncio.timeout(60):
            await bed.run()
        assert {item.status for item in await bed.items(job)} == {"DONE"}


@pytest.mark.direct  # a pooler does not end the statement of a client that has left
async def test_rows_that_take_too_long_by_themselves_fail_alone(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    slow: Pipeline[Thing] = Pipeline("slow", Thing)

    @slow.step()
    async def write(ctx: Context, thing: Thing) -> Done[int]:
        return Done(thing.n, writes=[Statement("select pg_sleep($1)", (60.0 if thing.n == 1 else 0.0,))])

    async with testbed(dsn, [slow], migrated=True, settings=Settings(command_timeout_s=0.5)) as bed:
        job = await slow.submit_many(bed.pool, [Thing(n=n) for n in range(3)])
        async with asyncio.timeout(60):
            await bed.run()
        found = await bed.items(job)
        assert [item.status for item in found] == ["DONE", "ERROR", "DONE"]
        assert found[1].error is not None
        assert found[1].error["reason"] == "its rows could not be written within 0.5 s"


@pytest.mark.direct  # the same
async def test_the_connection_of_a_commit_that_timed_out_is_closed(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """It may be half open: its next user would wait for it."""
    await conn.execute(
        """create table seen (n int);
           create sequence tries; create sequence first_pid;
           create function be_slow() returns trigger language plpgsql as $$
           begin
               if nextval('tries') = 1 then
                   perform setval('first_pid', pg_backend_pid());
                   perform pg_sleep(60);
               end if;
               return null;
           end $$;
           create constraint trigger be_slow after insert on seen deferrable initially deferred
           for each row execute function be_slow()"""
    )
    slow: Pipeline[Thing] = Pipeline("slow", Thing)

    @slow.step()
    async def write(ctx: Context, thing: Thing) -> Done[int]:
        return Done(thing.n, writes=[Rows("seen", [{"n": thing.n}])])

    async with testbed(dsn, [slow], migrated=True, settings=Settings(command_timeout_s=0.5)) as bed:
        job = await bed.submit(slow, Thing(n=1))
        async with asyncio.timeout(60):
            await bed.run()
        assert (await bed.item(job)).status == "DONE"
        async with asyncio.timeout(10):
            while await conn.fetchval(
                "select exists (select from pg_stat_activity a join first_pid f on f.last_value = a.pid)"
            ):
                await conn.execute("select pg_sleep(0.05)")
        assert await conn.fetchval("select array_agg(n) from seen") == [1]


async def test_a_report_that_the_server_cannot_process_does_not_keep_the_others(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    """Such as an item on a damaged page: each update of it is an internal error."""
    things: Pipeline[Thing] = Pipeline("things", Thing)

    @things.step()
    async def work(ctx: Context, thing: Thing) -> int:
        return thing.n

    async with testbed(dsn, [things], migrated=True) as bed:
        await conn.execute(
            """create function damaged() returns trigger language plpgsql as $$
               begin raise exception using errcode = 'XX002', message = 'the page is damaged'; end $$;
               create trigger damaged before update on forebay.item for each row when (new.n = 3)
               execute function damaged()"""
        )
        job = await things.submit_many(bed.pool, [Thing(n=n) for n in range(1, 5)])
        async with asyncio.timeout(60):
            await bed.run()
        assert [item.n for item in await bed.items(job) if item.status == "DONE"] == [1, 2, 4]


async def test_a_lane_whose_claim_is_rejected_does_not_keep_the_others(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    things: Pipeline[Thing] = Pipeline("things", Thing)

    @things.step()
    async def work(ctx: Context, thing: Thing) -> int:
        return thing.n

    async with testbed(dsn, [things], migrated=True) as bed:
        jobs = {owner: await bed.submit(things, Thing(n=1), owner=owner) for owner in ("ann", "bob", "cid")}
        await conn.execute(
            """create function too_large() returns trigger language plpgsql as $$
               begin raise exception 'too large' using errcode = 'program_limit_exceeded'; end $$;
               create trigger too_large before insert on forebay.lease for each row
               when (new.owner_id = 2) execute function too_large()"""
        )
        assert await conn.fetchval("select id from forebay.owner where name = 'bob'") == 2
        async with asyncio.timeout(30):
            await bed.run()
        found = {owner: (await bed.item(job)).status for owner, job in jobs.items()}
        assert found == {"ann": "DONE", "bob": "PENDING", "cid": "DONE"}


async def test_the_end_of_throttling_does_not_depend_on_the_history(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    busy: Pipeline[Thing] = Pipeline("busy", Thing)

    @busy.step(retry=Retry(attempts=1, throttled_for=1000))
    async def fetch(ctx: Context, thing: Thing) -> int:
        raise ThrottledError("429", retry_after=300)

    async with testbed(dsn, [busy], migrated=True) as bed:
        job = await bed.submit(busy, Thing(n=1))
        for _ in range(5):
            await bed.run()
            await conn.execute("delete from forebay.attempt")
            bed.clock.advance(301)
        assert (await bed.item(job)).status == "ERROR"
        await conn.execute("select forebay.reprocess($1)", job.job_id)
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"  # the time counts from the start again


async def test_an_invalid_value_inside_a_step_is_not_an_invalid_input(dsn: str) -> None:
    """A provider's answer may be invalid once; an input is invalid each time."""
    things: Pipeline[Thing] = Pipeline("things", Thing)
    calls: list[int] = []

    @things.step(retry=Retry(attempts=2, base=0))
    async def parse(ctx: Context, thing: Thing) -> int:
        calls.append(thing.n)
        return Thing.model_validate({"n": "secret"}).n

    @things.step(name="good")
    async def good(ctx: Context, thing: Thing) -> int:
        return thing.n

    async with testbed(dsn, [things], migrated=True) as bed:
        job = await bed.submit(things, Thing(n=1))
        broken = await bed.pool.fetchval("""select job_id from forebay.submit('things', '{"n": "x"}')""")
        await bed.finish()
        reason = "Input should be a valid integer, unable to parse string as an integer"
        assert calls == [1, 1]
        error = (await bed.item(job)).error
        assert error == {
            "step": "parse",
            "class": "transient",
            "reason": f"ValidationError: Thing.n: {reason}",
            "attempt": 2,
        }
        error = (await bed.item(broken)).error
        assert error is not None
        assert (error["class"], error["reason"]) == ("data", f"input.n: {reason}")


async def test_a_result_that_does_not_have_its_type_any_more_names_its_step(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    things: Pipeline[Thing] = Pipeline("things", Thing)

    @things.step()
    async def make(ctx: Context, thing: Thing) -> Thing:
        return thing

    @things.step(after=make)
    async def use(ctx: Context, thing: Thing, made: Thing) -> int:
        return made.n

    async with testbed(dsn, [things], migrated=True) as bed:
        await conn.execute(
            """create function spoil() returns trigger language plpgsql as $$
               begin new.result := '{"make": {"m": 1}}'; return new; end $$;
               create trigger spoil before update on forebay.item for each row execute function spoil()"""
        )
        job = await bed.submit(things, Thing(n=1))
        await bed.finish()
        error = (await bed.item(job)).error
        assert error is not None
        assert (error["class"], error["reason"]) == ("data", "the result of step make.n: Field required")


async def test_a_step_that_hangs_is_stopped_by_the_default_timeout(dsn: str) -> None:
    things: Pipeline[Thing] = Pipeline("things", Thing)

    @things.step(retry=Retry(attempts=1))
    async def hang(ctx: Context, thing: Thing) -> int:
        await asyncio.Event().wait()
        return 1

    async with testbed(dsn, [things], migrated=True, settings=Settings(step_timeout_s=0.2)) as bed:
        job = await bed.submit(things, Thing(n=1))
        async with asyncio.timeout(30):
            await bed.run()
        error = (await bed.item(job)).error
        assert error is not None
        assert error["reason"] == "timed out after 0.2 s"


def test_the_size_of_writes() -> None:
    long: list[Write] = [Rows("t", [{"a": "x" * 1000, "b": {"c": ["y" * 500]}}, {"a": b"z" * 10, "b": None}])]
    assert 2 * 500 + 1510 <= size_of(long) <= 2 * 500 + 1600
    assert size_of([Statement("select $1", ("x" * 100,))]) > 8000
    assert size_of([]) == 0
    endless: list[object] = []
    endless.append(endless)
    assert size_of([Statement("select $1", endless)]) < 10_000
