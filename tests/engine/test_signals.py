"""Waits and signals: a step leaves the queue until a signal of its owner comes, or its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest
from typing_extensions import TypeAliasType

from forebay import (
    Client,
    Context,
    Outcome,
    PermanentError,
    Pipeline,
    Retry,
    Skip,
    Snooze,
    SyncClient,
    TransientError,
    Wait,
)
from forebay.engine.db import lists
from forebay.engine.db.lists import WaitRow
from forebay.errors import ConflictError, DefinitionError, InputTooLarge, InvalidField
from forebay.testing import Testbed, testbed
from forebay.types import JobSummary

orders: Pipeline[str] = Pipeline("orders", str)
runs: list[tuple[str, Any]] = []
failures: list[Exception] = []


@orders.step(retry=Retry(attempts=3))
async def pay(ctx: Context, order: str) -> str | Skip | Wait:
    runs.append((order, ctx.signal))
    if ctx.signal is None:
        return Wait("paid", key=order, timeout=60)
    if ctx.signal.timed_out:
        return Skip("not paid", item=True)
    if failures:
        raise failures.pop()
    return f"{ctx.signal.name} {ctx.signal.key} {ctx.signal.payload}"


@orders.step(after=pay)
async def ship(ctx: Context, order: str, paid: str) -> str:
    return paid.upper()


@pytest.fixture(autouse=True)
def _fresh() -> None:
    runs.clear()
    failures.clear()


async def waits(bed: Testbed) -> int:
    return int(await bed.pool.fetchval("select count(*) from forebay.waiting"))


async def kept(bed: Testbed) -> int:
    return int(await bed.pool.fetchval("select count(*) from forebay.kept_signal"))


async def test_a_signal_wakes_the_step_that_waits(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        assert await bed.pool.fetchval("select count(*) from forebay.ready") == 0
        assert await Client(bed.pool).signal("paid", "b") == 0
        assert await Client(bed.pool).signal("sent", "a") == 0
        assert await Client(bed.pool).signal("paid", "a", {"by": "é"}) == 1
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result["ship"]) == ("DONE", "PAID A {'BY': 'É'}")
        assert (len(runs), await waits(bed), await kept(bed)) == (2, 0, 2)
        attempts = await bed.pool.fetch(
            "select attempt, outcome, reason from forebay.attempt order by ended_at, step_id"
        )
        assert [tuple(row) for row in attempts] == [
            (1, "SNOOZED", "waits for the signal paid a"),
            (1, "DONE", None),
            (1, "DONE", None),
        ]


async def test_what_items_wait_for_is_shown(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await orders.submit_many(conn, ["a", "b", "c"])
        await bed.run()
        now = bed.clock.stamp()
        assert now is not None
        until = now + timedelta(seconds=60)
        expected = [WaitRow(n, "pay", "paid", order, until) for n, order in ((1, "a"), (2, "b"), (3, "c"))]
        assert await lists.waits(conn, job.job_id, now=now) == expected
        assert await lists.waits(conn, job.job_id, 2, now=now) == expected[1:2]
        assert await lists.waits(conn, job.job_id, now=now, most=1) == expected[:1]
        assert await lists.waits(conn, job.job_id, now=until) == []
        await Client(conn).signal("paid", "a")
        step_id = await conn.fetchval("select id from forebay.step where name = 'pay'")
        await conn.execute("select forebay.await_signal($1, 3, $2, 'paid', 'c', 315360000)", job.job_id, step_id)
        found = await lists.waits(conn, job.job_id, now=now)
        assert found == [expected[1], WaitRow(3, "pay", "paid", "c", None)]
        assert len(await lists.waits(conn, job.job_id, 3, now=now + timedelta(days=5000))) == 1


async def test_a_signal_that_comes_first_is_kept(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        client = Client(bed.pool)
        assert await client.signal("paid", "a", 1) == 0
        assert await client.signal("paid", "a", 2) == 0
        first, second = await client.submit_jobs(orders, ["a", "a"])
        await bed.run()
        assert sorted([(await bed.item(job)).result["pay"] for job in (first, second)]) == ["paid a 1", "paid a 2"]
        assert (await kept(bed), await waits(bed)) == (0, 0)


async def test_a_signal_is_not_kept_for_ever(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        await Client(bed.pool).signal("paid", "a", keep=0)
        assert await kept(bed) == 0
        await Client(bed.pool).signal("paid", "a", keep=100)
        bed.clock.advance(50)
        await bed.run()
        assert await kept(bed) == 1
        bed.clock.advance(60)
        await bed.run()
        assert await kept(bed) == 0


async def test_the_time_is_up(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.finish()
        assert (await bed.item(job)).status == "SKIPPED"
        assert [signal and signal.timed_out for _, signal in runs] == [None, True]
        assert await waits(bed) == 0


async def test_a_testbed_does_not_finish_a_wait_without_a_timeout(dsn: str) -> None:
    endless: Pipeline[str] = Pipeline("endless", str)

    @endless.step()
    async def sleep(ctx: Context, value: str) -> Wait:
        return Wait("wake up", key=value)

    async with testbed(dsn, [endless], migrated=True) as bed:
        await bed.submit(endless, "a")
        with pytest.raises(TimeoutError, match=r"^something is still due at .*, after 365 days, 0:00:00$"):
            await bed.finish()


async def test_a_retry_finds_the_same_signal(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        failures.append(TransientError("again"))
        await Client(bed.pool).signal("paid", "a", 7)
        await bed.finish()
        assert (await bed.item(job)).result["pay"] == "paid a 7"
        assert [signal and signal.payload for _, signal in runs] == [None, 7, 7]


async def test_a_signal_reaches_all_that_wait_and_only_those_of_its_owner(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        client = Client(bed.pool)
        mine = await client.submit_many(orders, ["a", "a", "b"], owner="ann")
        theirs = await client.submit(orders, "a", owner="bob")
        await bed.run()
        assert await client.signal("paid", "a", owner="ann") == 2
        await bed.run()
        assert ((await client.job(mine)).done, (await client.job(theirs)).done) == (2, 0)


async def test_a_signal_belongs_to_its_transaction(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        transaction = conn.transaction()
        await transaction.start()
        assert await conn.fetchval("select forebay.signal('paid', 'a')") == 1
        await transaction.rollback()
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"

        def send() -> int:
            with SyncClient.connect(dsn) as client:
                return client.signal("paid", "a", [1])

        assert await asyncio.to_thread(send) == 1
        await bed.run()
        assert (await bed.item(job)).result["pay"] == "paid a [1]"


async def test_a_signal_and_a_wait_that_do_not_see_each_other(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        async with conn.transaction():
            assert await conn.fetchval("select forebay.signal('paid', 'a', '1')") == 0
            await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        await bed.run()
        assert (await bed.item(job)).result["pay"] == "paid a 1"
        assert await kept(bed) == 0


async def test_a_cancelled_item_keeps_no_signal_from_others(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        jobs = [await bed.submit(orders, "a") for _ in range(9)]
        async with conn.transaction():
            assert await conn.fetchval("select forebay.signal('paid', 'a', '1')") == 0
            await bed.run()
        waiting = jobs.pop(4)
        for job in jobs:
            await Client(bed.pool).cancel(job)
        await bed.run()
        assert (await bed.item(waiting)).result["pay"] == "paid a 1"


async def test_two_signals_at_once_are_both_received(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        async with conn.transaction():
            assert await conn.fetchval("select forebay.signal('paid', 'a', '1')") == 1
            assert await Client(bed.pool).signal("paid", "a", 2) == 0
        await bed.run()
        assert ((await bed.item(job)).result["pay"], await kept(bed)) == ("paid a 1", 1)


async def test_a_paused_item_gets_the_signal_and_stays_paused(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        await bed.pool.execute("select forebay.pause_item($1, 1)", job.job_id)
        assert await Client(bed.pool).signal("paid", "a", 1) == 1
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        await bed.pool.execute("select forebay.resume_item($1, 1)", job.job_id)
        await bed.run()
        assert (await bed.item(job)).result["pay"] == "paid a 1"


async def test_an_item_that_is_resumed_goes_on_waiting(dsn: str) -> None:
    endless: Pipeline[str] = Pipeline("endless", str)

    @endless.step()
    async def approve(ctx: Context, value: str) -> str | Wait:
        runs.append((value, ctx.signal))
        return Wait("approved", key=value) if ctx.signal is None else "approved"

    async with testbed(dsn, [orders, endless], migrated=True) as bed:
        first, second = await Client(bed.pool).submit_jobs(orders, ["a", "b"])
        third = await bed.submit(endless, "c")
        await bed.run()
        for job in (first, second, third):
            await bed.pool.execute("select forebay.pause_item($1, 1)", job.job_id)
        bed.clock.advance(50)
        for job in (first, second, third):
            resume = "select forebay.resume_item($1, 1, now => $2)"
            assert await bed.pool.fetchval(resume, job.job_id, bed.clock.now()) is True
        await bed.run()
        assert sorted(runs) == [("a", None), ("b", None), ("c", None)]
        assert [await Client(bed.pool).signal(name, key, 1) for name, key in (("paid", "a"), ("approved", "c"))] == [
            1,
            1,
        ]
        bed.clock.advance(11)  # of the 60 seconds, 50 had passed before the item was resumed
        await bed.run()
        assert ((await bed.item(first)).result["pay"], (await bed.item(third)).status) == ("paid a 1", "DONE")
        assert (await bed.item(second)).status == "SKIPPED"


async def test_a_signal_that_comes_while_an_item_is_resumed(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        await bed.pool.execute("select forebay.pause_item($1, 1)", job.job_id)
        async with conn.transaction():
            assert await conn.fetchval("select forebay.signal('paid', 'a', '1')") == 1
            resuming = asyncio.create_task(bed.pool.execute("select forebay.resume_item($1, 1)", job.job_id))
            async with asyncio.timeout(30):
                while not await bed.pool.fetchval(
                    "select exists (select from pg_stat_activity "
                    "where wait_event_type = 'Lock' and datname = current_database())"
                ):
                    pass
        await resuming
        await bed.run()
        assert (await bed.item(job)).result["pay"] == "paid a 1"


async def test_two_signals_for_a_paused_item_are_both_received(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """The second has read for which tasks it is before the first commits."""
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        await bed.pool.execute("select forebay.pause_item($1, 1)", job.job_id)
        await conn.execute("create temp table seen as select w from forebay.waiting w")
        assert await Client(bed.pool).signal("paid", "a", 1) == 1
        assert await conn.fetchval("select forebay.wake_waiting(array(select w from seen), '2', now())") == 0
        assert await Client(bed.pool).signal("paid", "a", 2) == 0
        assert not await conn.fetchval("select forebay.give_kept_signal(w, now()) from seen")
        await bed.pool.execute("select forebay.resume_item($1, 1)", job.job_id)
        await bed.run()
        assert ((await bed.item(job)).result["pay"], await kept(bed)) == ("paid a 1", 1)


async def test_a_signal_does_not_reach_a_task_that_meanwhile_waits_for_another(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        await conn.execute("create temp table seen as select w from forebay.waiting w")
        await bed.pool.execute("update forebay.waiting set name = 'shipped'")
        assert await conn.fetchval("select forebay.wake_waiting(array(select w from seen), '1', now())") == 0
        assert await Client(bed.pool).signal("shipped", "a", 2) == 1
        await bed.run()
        assert (await bed.item(job)).result["pay"] == "shipped a 2"


async def test_an_item_that_is_reprocessed_waits_anew_unless_its_signal_has_come(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed, bed.pool.acquire() as conn:
        client = Client(conn)
        job = await client.submit_many(orders, ["a", "b"])
        await bed.run()
        assert await client.signal("paid", "b", 1) == 1
        await client.cancel(job)
        assert await lists.waits(conn, job.job_id) == []
        assert await conn.fetch("select * from forebay.waits") == []
        bed.clock.advance(5 * 86400)
        assert await client.reprocess(job, ["SKIPPED"]) == 2
        await bed.run()
        assert dict(runs[2:])["a"] is None
        assert [item.status for item in await bed.items(job)] == ["PENDING", "DONE"]
        assert await client.signal("paid", "a", 2) == 1
        await bed.run()
        assert [item.result["pay"] for item in await bed.items(job)] == ["paid a 2", "paid b 1"]


async def test_a_step_that_failed_after_its_signal_finds_it_when_its_item_is_reprocessed(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed, bed.pool.acquire() as conn:
        client = Client(conn)
        plain, cancelled = await client.submit_jobs(orders, ["a", "b"])
        await bed.run()
        await conn.execute("select forebay.cancel_item($1, 1)", cancelled.job_id)
        assert await client.reprocess(cancelled, ["SKIPPED"]) == 1  # ends its first wait
        await bed.run()
        for order, job in (("a", plain), ("b", cancelled)):
            assert await client.signal("paid", order, 7) == 1
            failures.append(PermanentError("the printer is out of paper"))
            await bed.run()
            assert (await bed.item(job)).status == "ERROR"
            assert await client.reprocess(job) == 1
            await bed.run()
            assert (await bed.item(job)).result["pay"] == f"paid {order} 7"
        assert (await waits(bed), await kept(bed)) == (0, 0)


async def test_a_step_that_failed_after_its_time_was_up_waits_anew(dsn: str) -> None:
    strict: Pipeline[str] = Pipeline("strict", str)

    @strict.step()
    async def approve(ctx: Context, value: str) -> str | Wait:
        if ctx.signal is None:
            return Wait("approved", key=value, timeout=60)
        if ctx.signal.timed_out:
            raise PermanentError("nobody has approved it")
        return "approved"

    async with testbed(dsn, [strict], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await bed.submit(strict, "a")
        await bed.finish()
        assert ((await bed.item(job)).status, await waits(bed)) == ("ERROR", 0)
        assert await Client(conn).reprocess(job) == 1
        await bed.run()
        assert await Client(conn).signal("approved", "a") == 1
        await bed.run()
        assert (await bed.item(job)).status == "DONE"


async def test_an_item_that_was_done_waits_anew_also_for_the_signal_of_a_failed_optional_step(dsn: str) -> None:
    lenient: Pipeline[str] = Pipeline("lenient", str)

    @lenient.step(optional=True)
    async def approve(ctx: Context, value: str) -> str | Wait:
        runs.append((value, ctx.signal))
        if ctx.signal is None:
            return Wait("approved", key=value)
        raise PermanentError("no")

    async with testbed(dsn, [lenient], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await bed.submit(lenient, "a")
        await bed.run()
        await Client(conn).signal("approved", "a")
        await bed.run()
        assert (await bed.item(job)).status == "DONE"
        assert await Client(conn).reprocess(job, ["DONE"]) == 1
        await bed.run()
        assert [signal is None for _, signal in runs] == [True, False, True]


async def test_a_step_after_all_items_that_is_reprocessed_waits_anew(dsn: str) -> None:
    reports: Pipeline[str] = Pipeline("reports", str)

    @reports.step()
    async def write(ctx: Context, value: str) -> str:
        return value

    @reports.after_all()
    async def approve(ctx: Context, job: JobSummary) -> str | Wait:
        runs.append(("approve", ctx.signal))
        return Wait("approved", key="all", timeout=60)

    async with testbed(dsn, [reports], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await bed.submit(reports, "a")
        await bed.run()
        await conn.execute("select forebay.cancel_item($1, 0)", job.job_id)
        bed.clock.advance(61)
        assert await Client(conn).reprocess(job, ["SKIPPED"]) == 1
        await bed.run()
        assert runs == [("approve", None), ("approve", None)]


async def test_a_cancelled_job_waits_for_nothing(dsn: str) -> None:
    async with testbed(dsn, [orders], migrated=True) as bed:
        job = await bed.submit(orders, "a")
        await bed.run()
        await Client(bed.pool).cancel(job)
        assert await Client(bed.pool).signal("paid", "a") == 0
        bed.clock.advance(90 * 86400)
        await bed.pool.execute("select forebay.delete_finished($1)", bed.clock.now())
        assert (await bed.pool.fetchval("select count(*) from forebay.job"), await waits(bed)) == (0, 0)


async def test_a_step_that_waits_says_so(dsn: str) -> None:
    careless: Pipeline[Any] = Pipeline("careless", dict)

    @careless.step()
    async def hidden(ctx: Context, value: Any) -> Any:
        return Wait(**value)

    @careless.step()
    async def wrong(ctx: Context, value: Any) -> Wait | None:
        return Wait(**value)

    @careless.batch_step(size=2)
    async def together(ctx: Context, values: Sequence[Any]) -> list[str | Outcome]:
        return [Wait(**value) for value in values]

    async with testbed(dsn, [careless], migrated=True) as bed:
        bad = [{"name": "", "key": "a"}, {"name": "a", "key": 1}, {"name": "a", "key": "b", "timeout": 0}]
        bad.append({"name": "a", "key": "b", "timeout": "3 days"})
        job = await careless.submit_many(bed.pool, bad)
        await bed.finish()
        assert await bed.pool.fetchval("select count(*) from forebay.waiting") == 0
        reasons = await bed.pool.fetch("select distinct reason from forebay.attempt where job_id = $1", job.job_id)
        assert {row["reason"] for row in reasons} == {
            "step hidden returned Wait: its return type must contain Wait",
            "step together returned Wait: batch steps and process steps cannot wait for signals",
            "the name of a Wait must be text of 1 to 200 characters, without U+0000",
            "the key of a Wait must be text of 1 to 500 characters, without U+0000",
            "the timeout of a Wait must be seconds or a timedelta",
            "the timeout of a Wait must be positive",
        }


def test_batches_and_processes_cannot_wait() -> None:
    together: Pipeline[str] = Pipeline("together", str)

    async def all_at_once(ctx: Context, values: Sequence[str]) -> list[str | Wait]:
        return [Wait("a", value) for value in values]

    def apart(ctx: Context, value: str) -> str | Wait:
        return Wait("a", value)

    with pytest.raises(DefinitionError, match="batch steps and process steps cannot wait for signals"):
        together.batch_step(size=2)(all_at_once)
    with pytest.raises(DefinitionError, match="batch steps and process steps cannot wait for signals"):
        together.step(kind="process")(apart)
    assert not together.step(kind="process")(any_outcome).waits


def any_outcome(ctx: Context, value: str) -> str | Outcome:
    return value


Paid: TypeAlias = str | Wait
Approved = TypeAliasType("Approved", Paid | None)  # as the statement `type Approved = Paid | None` makes it


@pytest.mark.parametrize(
    ("returned", "waits"),
    [
        ("str | Wait", True),
        ("str | Outcome", True),
        ("Paid", True),
        ("Later | Wait", True),  # names that do not exist yet
        ("Later | Outcome", True),
        (str | Wait, True),
        (str | Outcome, True),
        (Paid | None, True),
        ("Approved", True),
        ("str | Skip", False),
        ("Later", False),
        (str | Skip, False),
        (None, False),
    ],
)
def test_the_return_type_says_whether_a_step_waits(returned: Any, waits: bool) -> None:
    async def step(ctx: Context, value: str) -> Any: ...

    step.__annotations__["return"] = returned
    assert Pipeline("typed", str).step()(step).waits is waits


async def test_times_are_seconds_or_timedeltas(dsn: str) -> None:
    naps: Pipeline[str] = Pipeline("naps", str)

    @naps.step()
    async def rest(ctx: Context, value: str) -> Snooze | Wait:
        return Snooze(timedelta(hours=2)) if value == "snooze" else Wait("up", value, timeout=timedelta(hours=3))

    async with testbed(dsn, [naps], migrated=True) as bed:
        await naps.submit_many(bed.pool, ["snooze", "wait"])
        await bed.run()
        rows = await bed.pool.fetch("select run_at from forebay.scheduled order by first_n")
        assert [row["run_at"] - bed.clock.now() for row in rows] == [timedelta(hours=2), timedelta(hours=3)]


async def test_an_owner_has_a_bounded_number_of_kept_signals(conn: asyncpg.Connection[Any]) -> None:
    await Client(conn).signal("paid", "0")
    await conn.execute(
        "insert into forebay.kept_signal (owner_id, name, key, at, expires_at) "
        "select k.owner_id, k.name, g::text, k.at, k.expires_at from forebay.kept_signal k, generate_series(1, 9999) g"
    )
    reason = (
        "owner: has 10000 kept signals, which is the maximum: send the signal when a task waits for it, or keep "
        "signals for a shorter time"
    )
    with pytest.raises(ConflictError) as refused:
        await Client(conn).signal("paid", "a")
    assert str(refused.value) == reason
    assert await Client(conn).signal("paid", "a", keep=0) == 0
    assert await Client(conn).signal("paid", "a", owner="other") == 0


async def test_invalid_signals_are_rejected(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    client = Client(conn)
    with pytest.raises(InvalidField, match="name: must have 1 to 200 characters"):
        await client.signal("", "a")
    with pytest.raises(InvalidField, match="key: must have 1 to 500 characters"):
        await client.signal("a", "")
    with pytest.raises(InvalidField, match="keep: must be between 0 and ten years"):
        await client.signal("a", "b", keep=-1)
    with pytest.raises(InvalidField, match="keep: must be seconds or a timedelta, not str"):
        await client.signal("a", "b", keep="x")  # type: ignore[arg-type]
    with pytest.raises(InputTooLarge, match="payload: has 1100002 bytes; a signal takes at most 1048576"):
        await client.signal("a", "b", "x" * 1_100_000)
    for statement, reason in (
        ("select forebay.signal(null, 'a')", "name: must have 1 to 200 characters"),
        ("select forebay.signal('a', '')", "key: must have 1 to 500 characters"),
        ("select forebay.signal('a', 'b', keep => '-1 s')", "keep: must be between 0 and ten years"),
    ):
        with pytest.raises(asyncpg.PostgresError) as error:
            await conn.execute(statement)
        assert reason in str(error.value)
