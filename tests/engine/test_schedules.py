"""Schedules: each due time is submitted exactly once."""

# demands: S2-34

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from forebay import Pipeline
from forebay.engine.db import registry
from forebay.engine.db.sweeps import remove_undeclared
from forebay.engine.declare.schedule import Schedule
from forebay.engine.maintenance.schedules import (
    next_time,
    pause_schedule,
    put_declared,
    put_schedule,
    remove_schedule,
    resume_schedule,
    run_due,
)
from forebay.engine.work import registration
from forebay.engine.work.worker import Worker
from forebay.errors import ConflictError, InputTooLarge, InvalidField, NotFoundError, UnknownPipeline
from forebay.testing import testbed
from tests.engine._producing import Page, counts, inputs_of, pages, papers, register, strangers

START = datetime(2024, 5, 1, 10, 7, tzinfo=UTC)
HOUR = timedelta(hours=1)
GOOD = Page(url="u")


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


async def row_of(conn: asyncpg.Connection[Any], name: str = "hourly") -> asyncpg.Record:
    row: asyncpg.Record | None = await conn.fetchrow("select * from forebay.schedule where name = $1", name)
    assert row is not None
    return row


async def keys(conn: asyncpg.Connection[Any]) -> list[str]:
    return [row["key"] for row in await conn.fetch("select key from forebay.job order by id")]


async def test_a_run_is_submitted_when_it_is_due(conn: asyncpg.Connection[Any]) -> None:
    assert await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, owner="ann", priority=5, now=START)
    assert await run_due(conn, START) == 0
    eleven = datetime(2024, 5, 1, 11, tzinfo=UTC)
    assert await run_due(conn, eleven) == 1
    assert await run_due(conn, eleven) == 0
    job = await conn.fetchrow(
        "select j.*, o.name as owner from forebay.job j join forebay.owner o on o.id = j.owner_id"
    )
    assert job is not None
    assert (job["key"], job["owner"], job["priority"]) == ("schedule:hourly:2024-05-01T11:00:00Z", "ann", 5)
    assert json.loads(job["meta"]) == {"schedule": "hourly", "due_at": "2024-05-01T11:00:00Z"}
    assert await inputs_of(conn, job["id"]) == [GOOD.model_dump()]
    row = await row_of(conn)
    assert (row["last_at"], row["last_job_id"], row["next_at"]) == (eleven, job["id"], eleven + HOUR)


async def test_the_due_time_can_be_a_field_of_the_input(conn: asyncpg.Connection[Any]) -> None:
    put = (conn, "hourly", papers, "0 * * * *", {"kind": "daily"})
    await put_schedule(*put, due_field="due", backfill=True, now=START)
    await run_due(conn, START + 2 * HOUR)
    due = [f"2024-05-01T{hour}:00:00Z" for hour in (11, 12)]
    found = [await inputs_of(conn, job_id) for job_id in (1, 2)]
    assert found == [[{"kind": "daily", "due": time}] for time in due]
    assert (await row_of(conn))["input"] == '{"kind": "daily"}'
    await put_schedule(*put, now=START)
    await run_due(conn, START + 3 * HOUR)
    assert await inputs_of(conn, 3) == [{"kind": "daily"}]


async def test_the_due_time_needs_a_field_that_the_pipeline_has(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match="due_field: the input of pipeline 'pages' has no field 'due'"):
        await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, due_field="due")
    words: Pipeline[str] = Pipeline("words", str)
    with pytest.raises(InvalidField, match="due_field: needs an input that is a JSON object"):
        await put_schedule(conn, "hourly", words, "0 * * * *", "a", due_field="due")


async def test_missed_runs_are_made_up_for_by_one(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    assert await run_due(conn, START + 5 * HOUR) == 1
    assert await keys(conn) == ["schedule:hourly:2024-05-01T11:00:00Z"]
    assert (await row_of(conn))["next_at"] == datetime(2024, 5, 1, 16, tzinfo=UTC)


async def test_missed_runs_are_submitted_one_by_one_with_backfill(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, backfill=True, now=START)
    assert await run_due(conn, START + 3 * HOUR) == 3
    assert await keys(conn) == [f"schedule:hourly:2024-05-01T{hour}:00:00Z" for hour in (11, 12, 13)]
    assert (await row_of(conn))["next_at"] == datetime(2024, 5, 1, 14, tzinfo=UTC)


async def test_a_long_back_fill_runs_in_parts_and_delays_no_other_schedule(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "minutely", pages, "* * * * *", GOOD, backfill=True, now=START)
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    later = START + 2 * HOUR
    assert await run_due(conn, later) == 100
    assert (await row_of(conn, "hourly"))["last_job_id"] == 1
    assert await run_due(conn, later) == 21
    assert (await row_of(conn, "minutely"))["last_at"] == later


async def test_back_fill_needs_overlap(conn: asyncpg.Connection[Any]) -> None:
    message = "^backfill: needs overlap=True: missed runs are submitted while the previous job is open$"
    with pytest.raises(InvalidField, match=message):
        pages.schedule("hourly", "0 * * * *", GOOD, backfill=True, overlap=False)
    with pytest.raises(InvalidField, match=message):
        await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, backfill=True, overlap=False)


async def test_a_run_is_skipped_while_the_previous_job_is_open(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, overlap=False, now=START)
    assert await run_due(conn, START + HOUR) == 1
    assert await run_due(conn, START + 2 * HOUR) == 0
    assert (await row_of(conn))["next_at"] == datetime(2024, 5, 1, 13, tzinfo=UTC)
    await conn.execute("select forebay.cancel(id) from forebay.job")
    await conn.execute("select forebay.reap_cancelled()")
    assert await run_due(conn, START + 3 * HOUR) == 1


async def test_a_run_starts_late_by_the_jitter_at_most(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, jitter=timedelta(minutes=10), now=START)
    assert await run_due(conn, START + HOUR) == 1
    run_at = await conn.fetchval("select run_at from forebay.scheduled")
    assert START + HOUR <= run_at <= START + HOUR + timedelta(minutes=10)
    with pytest.raises(InvalidField, match=r"must be between 0 and 86400 seconds"):
        await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, jitter=-1)


@pytest.fixture
async def declared(conn: asyncpg.Connection[Any]) -> AsyncIterator[None]:
    """The schedules `a` and `b` of one pipeline, `c` of another, and one that no code declares."""
    await put_schedule(conn, "made at run time", pages, "0 * * * *", GOOD, now=START)
    pages.schedules = [Schedule(name, "0 * * * *", GOOD, "default", "UTC") for name in ("a", "b")]
    papers.schedules = [Schedule("c", "0 * * * *", {}, "default", "UTC")]
    await put_declared(conn, [pages, papers], START)
    yield
    pages.schedules, papers.schedules = [], []


async def start(conn: asyncpg.Connection[Any], *schedules: str, unknown: bool = False) -> int:
    """A worker of the pipeline `pages` that declares these schedules."""
    version = await registry.register(conn, pages.definition(), START)
    names = None if unknown else schedules
    return await registry.register_worker(conn, "w", START, versions=[version.id], schedules=names)


async def stop(conn: asyncpg.Connection[Any], worker: int) -> None:
    await conn.execute("update forebay.worker set stopped_at = $2 where id = $1", worker, START)


@pytest.mark.usefixtures("declared")
async def test_schedules_that_no_living_worker_declares_are_removed(conn: asyncpg.Connection[Any]) -> None:
    await pause_schedule(conn, "b")
    both = await start(conn, "a", "b")
    await start(conn, "a")  # has other settings, or an older release
    assert await remove_undeclared(conn, START) == []
    await stop(conn, both)
    assert await remove_undeclared(conn, START + timedelta(seconds=59)) == [], "it may be restarting"
    assert (await row_of(conn, "b"))["paused"]
    assert await remove_undeclared(conn, START + timedelta(seconds=60)) == ["b"]
    names = [row["name"] for row in await conn.fetch("select name from forebay.schedule order by name")]
    assert names == ["a", "c", "made at run time"], "the pipeline of c has no workers"


@pytest.mark.usefixtures("declared")
async def test_none_is_removed_beside_a_worker_that_does_not_say_what_it_declares(
    conn: asyncpg.Connection[Any],
) -> None:
    assert await remove_undeclared(conn, START) == [], "nobody serves the pipeline"
    silent = await start(conn, unknown=True)  # of the previous release, or of a kickoff
    assert await remove_undeclared(conn, START) == []
    await start(conn, "a")
    assert await remove_undeclared(conn, START) == []
    await stop(conn, silent)
    assert await remove_undeclared(conn, START) == ["b"]


@pytest.mark.usefixtures("declared")
async def test_workers_say_what_they_declare_but_slices_of_some_jobs_do_not(
    conn: asyncpg.Connection[Any], dsn: str
) -> None:
    await conn.execute("delete from forebay.schedule where name = 'a'")
    slice_of_jobs = Worker(dsn, [pages, papers], lanes=frozenset({1}))
    await slice_of_jobs.run_slice(30)
    assert await conn.fetchval("select count(*) from forebay.schedule where declared") == 2, "it makes none"
    async with testbed(dsn, [pages, papers], migrated=True) as bed:
        said = await conn.fetch("select schedules from forebay.worker order by id")
        assert [row["schedules"] for row in said] == [None, ["a", "b", "c"]]
        assert (await row_of(conn, "a"))["declared"]
        await conn.execute("update forebay.worker set schedules = '{a,b}' where id = $1", bed.worker.worker_id)
        with capture_logs() as logs:
            await bed.worker._sweeper.tidy()
        assert [log["schedules"] for log in logs if log["event"] == "schedules_removed"] == [["c"]]


@pytest.mark.usefixtures("declared")
async def test_a_new_schedule_is_due_by_the_clock_of_the_database(conn: asyncpg.Connection[Any], dsn: str) -> None:
    """Not by that of the machine on which the worker runs."""
    await conn.execute(
        """delete from forebay.schedule;
           create schema wrong;
           create function wrong.clock_timestamp() returns timestamptz language sql
               return timestamptz '2040-05-01 10:07:00Z'"""
    )
    other = await asyncpg.connect(dsn, server_settings={"search_path": "wrong, pg_catalog"})
    await registration.register(other, [pages, papers], list(pages.steps.values()), None, declares=True)
    await other.close()
    assert {row["next_at"].year for row in await conn.fetch("select next_at from forebay.schedule")} == {2040}


@pytest.mark.usefixtures("declared")
async def test_none_is_removed_of_a_pipeline_that_does_not_know_all_of_its_schedules(
    conn: asyncpg.Connection[Any], dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "knows_all_schedules", False)
    pages.schedules, papers.schedules = pages.schedules[:1], []
    async with testbed(dsn, [pages, papers], migrated=True):
        assert await remove_undeclared(conn, START) == ["c"]
    names = [row["name"] for row in await conn.fetch("select name from forebay.schedule order by name")]
    assert names == ["a", "b", "made at run time"]


async def test_a_crash_leaves_nothing_and_the_next_sweep_runs_it(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    before = await counts(conn)
    crashing = conn.transaction()
    await crashing.start()
    assert await run_due(conn, START + HOUR) == 1
    await crashing.rollback()
    assert await counts(conn) == before
    assert await run_due(conn, START + HOUR) == 1
    assert len(await keys(conn)) == 1


async def test_a_run_whose_job_is_there_already_is_not_doubled(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    await run_due(conn, START + HOUR)
    await conn.execute("update forebay.schedule set next_at = last_at")
    assert await run_due(conn, START + HOUR) == 1
    assert len(await keys(conn)) == 1


async def test_two_sweepers_share_the_work(conn: asyncpg.Connection[Any], dsn: str) -> None:
    for n in range(20):
        await put_schedule(conn, f"s{n}", pages, "0 * * * *", GOOD, now=START)
    async with asyncpg.create_pool(dsn, min_size=4, max_size=4) as pool:
        ran = await asyncio.gather(*(run_due(pool, START + HOUR) for _ in range(4)))
    assert sum(ran) == len(await keys(conn)) == 20


async def test_one_that_is_being_run_elsewhere_is_passed_over(conn: asyncpg.Connection[Any], dsn: str) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    other = await asyncpg.connect(dsn)
    async with conn.transaction():
        assert await run_due(conn, START + HOUR) == 1
        assert await run_due(other, START + HOUR) == 0
    await other.close()


async def test_one_that_cannot_run_does_not_stop_the_others(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "broken", pages, "0 * * * *", Page(url="x" * 300), now=START)
    await put_schedule(conn, "hourly", pages, "1 * * * *", GOOD, now=START)
    await conn.execute("update forebay.pipeline set max_input_bytes = 100")
    assert await run_due(conn, START + HOUR) == 1
    assert await run_due(conn, START + HOUR) == 0
    row = await row_of(conn, "broken")
    assert (row["next_at"], row["last_at"]) == (datetime(2024, 5, 1, 12, tzinfo=UTC), None)
    assert await keys(conn) == ["schedule:hourly:2024-05-01T11:01:00Z"]


async def test_a_time_zone_that_is_gone_pauses_the_schedule(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    await conn.execute("update forebay.schedule set timezone = 'Europe/Atlantis'")
    assert await run_due(conn, START + HOUR) == 0
    assert (await row_of(conn))["paused"]


async def test_the_databases_clock_is_used_unless_told_otherwise(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD)
    assert await run_due(conn) == 0
    await conn.execute("update forebay.schedule set next_at = now() - interval '1 minute'")
    assert await run_due(conn) == 1


async def test_putting_it_again_keeps_its_next_time(conn: asyncpg.Connection[Any]) -> None:
    assert await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    assert not await put_schedule(conn, "hourly", pages, "0 * * * *", Page(url="new"), priority=2, now=START + 9 * HOUR)
    row = await row_of(conn)
    assert (row["next_at"], row["priority"]) == (datetime(2024, 5, 1, 11, tzinfo=UTC), 2)
    assert json.loads(row["input"])["url"] == "new"
    await put_schedule(conn, "hourly", pages, "30 * * * *", GOOD, now=START)
    assert (await row_of(conn))["next_at"] == datetime(2024, 5, 1, 10, 30, tzinfo=UTC)


async def test_pausing_and_resuming(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    await pause_schedule(conn, "hourly")
    assert await run_due(conn, START + 5 * HOUR) == 0
    await resume_schedule(conn, "hourly", now=START + 5 * HOUR)
    await resume_schedule(conn, "hourly", now=START + 9 * HOUR)
    assert await run_due(conn, START + 5 * HOUR) == 0, "what fell into the pause is not made up for"
    assert (await row_of(conn))["next_at"] == datetime(2024, 5, 1, 16, tzinfo=UTC)


async def test_removing(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, now=START)
    assert await remove_schedule(conn, "hourly")
    assert not await remove_schedule(conn, "hourly")
    for call in (pause_schedule(conn, "hourly"), resume_schedule(conn, "hourly")):
        with pytest.raises(NotFoundError, match=r"^name: there is no schedule 'hourly'$"):
            await call


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"cron": "61 * * * *"}, InvalidField, "cron: '61 * * * *' is not a cron expression: Bad minute"),
        ({"cron": "soon"}, InvalidField, "cron: 'soon' is not a cron expression: Wrong number of fields"),
        ({"cron": ""}, InvalidField, "cron: must have 1 to 200 characters"),
        ({"cron": "0 0 30 2 *"}, InvalidField, "cron: '0 0 30 2 *' is not a cron expression: Bad day-of-month"),
        ({"cron": "0 0 */31 * 1#5"}, InvalidField, "cron: '0 0 */31 * 1#5' names a time that never comes"),
        ({"timezone": "Mars/Base"}, InvalidField, "timezone: there is no time zone 'Mars/Base'"),
        ({"timezone": "../etc/passwd"}, InvalidField, "timezone: there is no time zone '../etc/passwd'"),
        ({"timezone": ""}, InvalidField, "timezone: must have 1 to 100 characters"),
        ({"name": ""}, InvalidField, "name: must have 1 to 200 characters"),
        ({"owner": "a\x00"}, InvalidField, "owner: must not contain the character U+0000"),
        ({"priority": 101}, InvalidField, "priority: must be between -100 and 100"),
        ({"input": {}}, InvalidField, "input.url: Field required"),
        ({"input": Page(url="x" * 1001)}, InputTooLarge, "input: has 1033 bytes; the pipeline takes at most 1000"),
        (
            {"pipeline": strangers},
            UnknownPipeline,
            (
                "pipeline: there is no pipeline 'strangers' here: "
                "start its worker, or run `forebay migrate --pipelines MODULE`"
            ),
        ),
    ],
)
async def test_what_cannot_be_meant(conn: asyncpg.Connection[Any], changes: Any, error: Any, message: str) -> None:
    given: dict[str, Any] = {"name": "n", "pipeline": pages, "cron": "0 * * * *", "input": GOOD} | changes
    with pytest.raises(error) as caught:
        await put_schedule(conn, **given)
    assert str(caught.value) == message
    assert await counts(conn) == {}


async def test_the_schedule_of_another_owner_is_not_changed(conn: asyncpg.Connection[Any]) -> None:
    await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, owner="ann", now=START)
    with pytest.raises(ConflictError, match=r"^name: schedule 'hourly' belongs to another owner$"):
        await put_schedule(conn, "hourly", pages, "0 * * * *", GOOD, owner="bob", now=START)


def test_times_follow_the_clocks_of_their_place() -> None:
    before_summer = datetime(2024, 3, 30, 12, tzinfo=UTC)
    first = next_time("30 9 * * *", "Europe/Berlin", before_summer)
    assert first == datetime(2024, 3, 31, 7, 30, tzinfo=UTC), "summer time has begun"
    winter = next_time("30 9 * * *", "Europe/Berlin", datetime(2024, 1, 1, 12, tzinfo=UTC))
    assert winter == datetime(2024, 1, 2, 8, 30, tzinfo=UTC)
