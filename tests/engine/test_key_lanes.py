"""Limits with keys: who waits for a key, where, and who is next. With a clock that the test controls."""

# demands: S1-93, S1-95, X-06

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay import Limit, Pipeline, Retry, TaskInfo, TransientError
from forebay.engine.db import tasks
from forebay.engine.db.registry import register
from forebay.engine.work.claim_picking import ClaimPicker
from forebay.engine.work.worker import Worker
from forebay.settings import Settings
from forebay.testing import ManualClock, testbed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.engine.db.tasks import Claim
    from forebay.engine.declare.context import Context
    from forebay.testing import Testbed

INTERVAL = 0.2  # at five starts a second


def fetching(started: list[str], *limits: Limit, name: str = "fetching") -> Pipeline[dict[str, Any]]:
    pipeline = Pipeline(name, dict[str, Any])

    @pipeline.step(limits=limits or [Limit("site", rate=5, key=host)])
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        started.append(value["by"])

    return pipeline


def host(value: dict[str, Any]) -> str:
    return str(value["host"])


def pages(by: str, count: int, site: str = "a.example") -> list[dict[str, Any]]:
    return [{"by": by, "host": site, "n": n} for n in range(count)]


async def submit_each(conn: asyncpg.Connection[Any], values: list[dict[str, Any]], owner: str) -> None:
    """Each value as a job of its own."""
    inputs = [json.dumps(value) for value in values]
    await conn.fetch("select * from forebay.submit_jobs('fetching', $1::text[]::jsonb[], $2)", inputs, owner)


async def pass_intervals(bed: Testbed, count: int) -> None:
    """Advance the clock, and run what is due at each moment on the way."""
    end = bed.clock.now() + timedelta(seconds=count * INTERVAL + 0.01)
    while (due := await bed.next_due()) is not None and due < end:
        bed.clock.advance(max(0.0, (due - bed.clock.now()).total_seconds()) + 1e-3)
        await bed.run()
    bed.clock.advance((end - bed.clock.now()).total_seconds())
    await bed.run()


async def until(conn: asyncpg.Connection[Any], condition: str) -> None:
    async with asyncio.timeout(30):
        while not await conn.fetchval(f"select {condition}"):
            pass


@pytest.mark.parametrize("is_one_job", [True, False], ids=["one job", "many jobs"])
async def test_one_task_behind_another_owners_backlog_starts_within_three_intervals(
    dsn: str, conn: asyncpg.Connection[Any], is_one_job: bool
) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        if is_one_job:
            await pipeline.submit_many(conn, pages("ann", 3000), owner="ann")
        else:
            await submit_each(conn, pages("ann", 3000), "ann")
        await bed.run()
        await pass_intervals(bed, 5)
        assert "ben" not in started
        await bed.submit(pipeline, pages("ben", 1)[0], owner="ben")
        await bed.run()
        await pass_intervals(bed, 3)
        assert started.count("ben") == 1
        assert started.count("ann") >= 6, "and the others went on"
        assert await conn.fetchval("select count(*) from forebay.scheduled") == 0, "nobody is told a time"
        assert await conn.fetchval("select count(*) from forebay.attempt where outcome <> 'DONE'") == 0
        if is_one_job:
            assert await conn.fetchval("select count(*) from forebay.ready") <= 8, "a run stays one row"


async def test_a_full_key_holds_back_neither_other_keys_nor_other_steps_of_its_owner(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit_each(conn, pages("full", 300), "ann")
        await submit_each(conn, pages("other", 1, "b.example"), "ann")
        await bed.run()
        assert started.count("other") == 1
        assert started.count("full") <= 2


async def test_the_starts_of_a_key_go_round_its_owners(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        for owner, count in (("ann", 300), ("ben", 20), ("cem", 20)):
            await submit_each(conn, pages(owner, count), owner)
            await bed.run()
        started.clear()
        await pass_intervals(bed, 30)
        assert 29 <= len(started) <= 31, "no start is lost"
        assert max(started.count(owner) for owner in ("ann", "ben", "cem")) <= 11


async def test_cancelling_the_job_before_it_frees_the_key(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        job = await pipeline.submit_many(conn, pages("large", 3000), owner="ann")
        await bed.run()
        await submit_each(conn, pages("small", 1), "ann")
        await bed.run()
        await conn.fetch("select forebay.cancel($1)", job.job_id)
        started.clear()
        await pass_intervals(bed, 2)
        assert started == ["small"]
        await bed.finish()
        assert (await bed.job(job)).state == "CANCELLED"
        assert await conn.fetchval("select count(*) from forebay.ready") == 0


async def test_everything_behind_a_key_runs_once_and_in_order(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    order: list[int] = []
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=[Limit("site", concurrency=1, rate=5, key=host)])
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        order.append(value["n"])

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        job = await pipeline.submit_many(conn, pages("ann", 40))
        await bed.finish()
        assert order == list(range(40))
        assert (await bed.job(job)).state == "DONE"
        assert await conn.fetchval("select max(attempt) from forebay.attempt") == 1


async def test_a_retry_goes_ahead_of_those_who_wait_for_the_same_key(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    starts: list[tuple[int, int]] = []  # item and attempt
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=[Limit("site", rate=5, key=host)], retry=Retry(attempts=2, base=0.5, jitter=False))
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        starts.append((value["n"], ctx.attempt))
        if starts == [(0, 1)]:
            raise TransientError("the site is restarting")

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit_each(conn, pages("ann", 10), "ann")
        await bed.run()
        assert starts == [(0, 1)]
        await bed.finish()
    assert [n for n, attempt in starts if attempt == 1] == list(range(10))
    # It is due after half a second, in which the limit admits a few others; those behind them are overtaken.
    assert starts.index((0, 2)) < starts.index((5, 1))


async def test_a_paused_job_does_not_start_from_the_lanes_of_keys(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        large = await pipeline.submit_many(conn, pages("large", 1500), owner="ann")
        small = await pipeline.submit_many(conn, pages("small", 5), owner="ann")
        await bed.run()
        for job in (large, small):
            await conn.fetch("select forebay.pause($1)", job.job_id)
        await pass_intervals(bed, 2)
        started.clear()
        await pass_intervals(bed, 3)
        assert started == []
        await conn.fetch("select forebay.resume($1)", small.job_id)
        await bed.finish()
        assert (await bed.job(small)).state == "DONE"
        await conn.fetch("select forebay.resume($1)", large.job_id)
        await pass_intervals(bed, 3)
        assert "large" in started


async def test_a_paused_job_that_waits_for_several_keys_holds_nobody_back(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        values = [{"by": f"item {n}", "host": "ab"[n % 2]} for n in range(8)]
        job = await pipeline.submit_many(conn, values)
        await bed.run()
        places = "(select count(distinct lane_id) from forebay.ready group by seq order by 1 desc limit 1) = 2"
        assert await conn.fetchval(f"select {places}"), "parts of one run have one place in two lanes"
        behind = await pipeline.submit_many(conn, [{"by": "behind", "host": site} for site in "ab"])
        await bed.run()
        await conn.fetch("select forebay.pause($1)", job.job_id)
        await pass_intervals(bed, 5)
        assert (await bed.job(behind)).state == "DONE"
        await conn.fetch("select forebay.resume($1)", job.job_id)
        await bed.finish()
        assert sorted(started) == sorted(["behind", "behind", *(value["by"] for value in values)])
        assert (await bed.job(job)).state == "DONE"


async def test_a_lane_that_a_claim_creates_during_a_pause_is_paused(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    pipeline = fetching([])
    await register(conn, pipeline.definition())
    job = await pipeline.submit_many(conn, pages("large", 1500))
    home = await conn.fetchval("select lane_id from forebay.job")
    other = await asyncpg.connect(dsn)
    for number, verb in enumerate(("pause", "resume")):
        async with conn.transaction():
            await conn.fetch("select forebay.key_lane_id($1, 'site', $2)", home, f"key {number}")
            changing = asyncio.create_task(other.fetchval(f"select forebay.{verb}($1)", job.job_id))
            await until(conn, f"pg_blocking_pids({other.get_server_pid()}) <> '{{}}'")
        assert await changing
        states = await conn.fetchval("select array_agg(paused) from forebay.lane where job_id = $1", job.job_id)
        assert states == [verb == "pause"] * (number + 2)
    await other.close()


async def test_an_item_that_waits_for_a_key_can_be_paused_and_cancelled(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        values = [{"by": str(n), "host": "a.example"} for n in range(1, 6)]
        job = await pipeline.submit_many(conn, values)
        await bed.run()
        assert await conn.fetchval("select forebay.pause_item($1, 3)", job.job_id)
        assert await conn.fetchval("select forebay.cancel_item($1, 4)", job.job_id)
        await bed.finish()
        assert started == ["1", "2", "5"]
        assert await conn.fetchval("select forebay.resume_item($1, 3)", job.job_id)
        await bed.finish()
        assert started[3:] == ["3"]
        assert (await bed.job(job)).state == "DONE"


async def test_the_next_step_does_not_wait_in_the_lane_of_the_key(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started)
    fetch = pipeline.steps["fetch"]

    @pipeline.step(after=fetch)
    async def store(ctx: Context, value: dict[str, Any], fetched: None) -> None:
        started.append("stored")

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit_each(conn, pages("ann", 4), "ann")
        await bed.finish()
        assert started == ["ann", "stored"] * 4


async def test_a_limit_that_is_gone_from_the_code_holds_nothing_back(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    async with testbed(dsn, [fetching(started)], migrated=True) as bed:
        await submit_each(conn, pages("ann", 50), "ann")
        await bed.run()
        assert len(started) < 5
    async with testbed(dsn, [fetching(started, Limit("other", concurrency=10))], migrated=True) as bed:
        await bed.run()
        assert len(started) == 50


async def test_empty_lanes_of_keys_are_deleted(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    lanes = "select count(*) from forebay.lane where limit_name <> ''"
    started: list[str] = []
    async with testbed(dsn, [fetching(started)], migrated=True) as bed:
        await submit_each(conn, pages("ann", 3) + pages("ann", 3, "b.example"), "ann")
        await bed.run()
        assert await conn.fetchval(lanes) == 2
        later = "select forebay.tidy_lanes(now() + interval '2 hours')"
        assert await conn.fetchval(later) == 0, "tasks wait there"
        await bed.finish()
        assert await conn.fetchval("select forebay.tidy_lanes()") == 0
        assert await conn.fetchval(later) == 2
        assert await conn.fetchval(lanes) == 0


async def test_lanes_in_use_do_not_keep_empty_ones_behind_them(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [fetching([])], migrated=True) as bed:
        await submit_each(conn, pages("ann", 3) + pages("ann", 2, "b.example"), "ann")
        await bed.run()
        await conn.execute(
            "delete from forebay.ready r using forebay.lane l where l.id = r.lane_id and limit_key < 'b'"
        )
        await conn.execute("update forebay.lane set used_at = now() - interval '1 day' where limit_key > 'b'")
        tidy = "select forebay.tidy_key_lanes(now() + interval '1 hour', 1)"
        assert [await conn.fetchval(tidy) for _ in range(2)] == [0, 1]
        assert await conn.fetchval("select limit_key from forebay.lane where limit_name <> ''") == "b.example"


async def test_keys_that_nobody_waits_for_are_forgotten(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with testbed(dsn, [fetching([])], migrated=True) as bed:
        await submit_each(conn, pages("ann", 3), "ann")
        await bed.finish()
        (keys,) = bed.worker._claimer.lanes.keys.values()
        lane_id = await conn.fetchval("select id from forebay.lane where limit_name <> ''")
        assert keys.lanes_of(lane_id) is not None  # as a description of the lane that comes late
        await bed.run()
        assert keys._lanes == {}


# -- one worker ---------------------------------------------------------------------------------------------------


async def test_two_lanes_of_a_key_may_become_empty_in_one_claim(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    gate = asyncio.Event()
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=[Limit("site", concurrency=2, key=host)])
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        started.append(value["by"])
        await gate.wait()

    async with testbed(dsn, [pipeline], migrated=True) as bed, asyncio.timeout(30):
        for owner in ("ann", "ben"):
            await submit_each(conn, pages(owner, 4), owner)
        running = asyncio.create_task(bed.run())
        await until(conn, "(select count(*) from forebay.ready) = 6")
        gate.set()
        await running
        await bed.finish()
        assert (started.count("ann"), started.count("ben")) == (4, 4)


async def test_keys_that_are_due_while_nothing_may_be_claimed_cost_no_time(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    picks = 0
    pick = ClaimPicker.pick_of_keys

    def counted(picker: ClaimPicker) -> list[Claim]:
        nonlocal picks
        picks += 1
        return pick(picker)

    monkeypatch.setattr(ClaimPicker, "pick_of_keys", counted)
    async with testbed(dsn, [fetching([])], migrated=True) as bed:
        await submit_each(conn, pages("ann", 10), "ann")
        await bed.run()
        bed.clock.advance(1)
        assert bed.worker.next_start() == 0, "a key is due, but the testbed claims nothing now"
        claimer = bed.worker._claimer
        wakes: list[Callable[[], None]] = [partial(claimer.waking.on_key, "site", "a.example"), claimer.on_capacity]
        for wake in wakes:
            picks = 0
            wake()
            for _ in range(1000):
                await asyncio.sleep(0)
            assert 1 <= picks < 100


@pytest.mark.parametrize(("seconds", "most"), [(0.001, 4), (10.0, 2)])
async def test_a_worker_claims_no_more_tasks_of_keys_than_it_can_run(
    dsn: str, conn: asyncpg.Connection[Any], seconds: float, most: int
) -> None:
    """Two run, and two wait for their slots, unless they take long: another worker could start them."""
    gate = asyncio.Event()
    gate.set()
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=[Limit("site", rate=5, key=host)], concurrency=(2, 2))
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        await gate.wait()

    async with testbed(dsn, [pipeline], migrated=True) as bed, asyncio.timeout(30):
        await submit_each(conn, [page for n in range(30) for page in pages("ann", 2, f"{n}.example")], "ann")
        await bed.run()
        assert await conn.fetchval("select count(*) from forebay.ready") == 30, "one of each key waits"
        gate.clear()
        (executor,) = bed.worker._executors.values()
        for _ in range(100):
            executor.size.add(seconds)
        bed.clock.advance(1)
        running = asyncio.create_task(bed.run())
        await until(conn, f"(select count(*) from forebay.lease) >= {most}")
        leases: list[int] = []
        for _ in range(50):
            bed.worker._claimer.on_capacity()
            leases.append(await conn.fetchval("select count(*) from forebay.lease"))
        assert max(leases) == most
        gate.set()
        await running
        await bed.finish()
        assert await conn.fetchval("select count(*) from forebay.attempt") == 60


async def test_another_owner_gets_an_extra_slot_while_long_tasks_of_keys_hold_all(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    gate = asyncio.Event()
    gate.set()
    running = Counter[str]()
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=[Limit("site", rate=5, key=host)], concurrency=(2, 2))
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        running[value["by"]] += 1
        await gate.wait()

    async with testbed(dsn, [pipeline], migrated=True) as bed, asyncio.timeout(30):
        for owner, count in (("ann", 30), ("bert", 1)):
            await submit_each(conn, [page for n in range(count) for page in pages(owner, 2, f"{owner}{n}.org")], owner)
        await bed.run()
        gate.clear()
        running.clear()
        (executor,) = bed.worker._executors.values()
        for _ in range(100):
            executor.size.add(10.0)
        bed.clock.advance(1)
        rest = asyncio.create_task(bed.run())
        while not (running["bert"] and running["ann"] >= 2 - running["bert"]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for _ in range(50):
            bed.worker._claimer.on_capacity()
            assert await conn.fetchval("select count(*) from forebay.lease") <= 3, "no more than run"
        gate.set()
        await rest
        await bed.finish()


async def test_steps_with_the_same_key_start_in_turn(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started)

    @pipeline.step(limits=[Limit("site", rate=5, key=host)])
    async def check(ctx: Context, value: dict[str, Any]) -> None:
        started.append("check")

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit_each(conn, pages("fetch", 20), "ann")
        await bed.run()
        started.clear()
        sent_away = bed.worker._limits.describe()["sent_away"]
        await pass_intervals(bed, 10)
        assert started.count("check") >= 4
        assert started.count("fetch") >= 4
        assert bed.worker._limits.describe()["sent_away"] == sent_away, "no task is claimed for nothing"


async def test_a_lane_is_claimed_from_again_after_a_claim_that_failed_late(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    pipeline = fetching(started, Limit("tenant", rate=5, key=tenant))

    async def fail(*_args: object) -> None:
        raise asyncpg.InsufficientPrivilegeError("permission denied")

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await bed.submit(pipeline, pages("first", 1)[0])
        with monkeypatch.context() as broken:
            broken.setattr(tasks, "task_infos", fail)
            await bed.run()
        assert started == []
        await bed.submit(pipeline, pages("second", 1)[0])
        await bed.finish()
        assert sorted(started) == ["first", "second"]


# -- what a key depends on ----------------------------------------------------------------------------------------


def tenant(value: dict[str, Any], task: TaskInfo) -> str:
    return f"{task.owner} {(task.meta or {}).get('tenant')} {value['host']}"


async def test_a_key_can_depend_on_the_owner_and_the_meta(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    pipeline = fetching(started, Limit("tenant", rate=5, key=tenant))
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        for owner, meta in (("ann", {"tenant": "x"}), ("ann", {"tenant": "y"}), ("ben", None)):
            for _ in range(3):
                await bed.submit(pipeline, pages(f"{owner} {meta}", 1)[0], owner=owner, meta=meta)
        await bed.run()
        assert sorted(started) == ["ann {'tenant': 'x'}", "ann {'tenant': 'y'}", "ben None"], "one of each key"
        keys = await conn.fetch("select key from forebay.rate_limit order by key")
        assert [row["key"] for row in keys] == ["ann x a.example", "ann y a.example", "ben None a.example"]
        await bed.finish()
        assert len(started) == 9


@pytest.mark.parametrize("by_setting", [False, True])
async def test_a_cap_per_owner(dsn: str, conn: asyncpg.Connection[Any], by_setting: bool) -> None:
    running: dict[str, int] = {}
    most: dict[str, int] = {}
    both = asyncio.Event()
    limits = [] if by_setting else [Limit.per_owner("cap", concurrency=2)]
    pipeline = Pipeline("fetching", dict[str, Any])

    @pipeline.step(limits=limits, concurrency=(10, 10))
    async def fetch(ctx: Context, value: dict[str, Any]) -> None:
        by = value["by"]
        running[by] = running.get(by, 0) + 1
        most[by] = max(most.get(by, 0), running[by])
        if running.get("ann") == running.get("ben") == 2:
            both.set()
        async with asyncio.timeout(30):
            await both.wait()
        running[by] -= 1

    settings = Settings(owner_concurrency=2 if by_setting else None)
    async with testbed(dsn, [pipeline], migrated=True, settings=settings) as bed:
        await submit_each(conn, pages("ann", 8), "ann")
        await submit_each(conn, pages("ben", 8), "ben")
        await bed.finish()
        assert most == {"ann": 2, "ben": 2}
        assert await conn.fetchval("select count(*) from forebay.attempt") == 16


def test_batch_steps_have_no_limit_of_the_settings() -> None:
    pipeline = Pipeline("many", dict[str, Any])

    @pipeline.batch_step(size=2)
    async def store(ctx: Context, values: Sequence[dict[str, Any]]) -> list[None]:
        return [None] * len(values)

    pipeline.tune(Settings(owner_concurrency=2))
    assert pipeline.steps["store"].limits == ()


def test_a_function_that_takes_the_input_only_is_a_key() -> None:
    task = TaskInfo(1, 2, "ann", None)
    assert Limit("a", rate=1, key=str).key_of(7, task) == "7"
    assert Limit("a", rate=1, key=lambda value, suffix="!": f"{value}{suffix}").key_of(7, task) == "7!"
    assert Limit("a", rate=1, key=lambda *values: f"{values}").key_of(7, task) == "(7,)"
    assert Limit("a", rate=1, key=lambda value, about: f"{value} {about.owner}").key_of(7, task) == "7 ann"


# -- several workers ----------------------------------------------------------------------------------------------


async def test_two_workers_serve_the_lanes_of_a_key_together(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    started: list[str] = []
    clock = ManualClock()
    async with (
        testbed(dsn, [fetching(started)], migrated=True, clock=clock) as first,
        testbed(dsn, [fetching(started)], migrated=True, clock=clock) as second,
    ):
        await submit_each(conn, pages("ann", 600), "ann")
        await asyncio.gather(first.run(), second.run())
        await submit_each(conn, pages("ben", 1), "ben")
        await asyncio.gather(first.run(), second.run())
        started.clear()
        for _ in range(60):  # 3 s, in which a key admits 15 starts and one more
            clock.advance(0.05)
            await asyncio.gather(first.run(), second.run())
            if len(started) == 3:
                assert "ben" in started
        assert 10 <= len(started) <= 16
        assert await conn.fetchval("select max(attempt) from forebay.attempt") == 1
        assert await conn.fetchval("select count(*) from forebay.attempt where outcome <> 'DONE'") == 0


async def test_a_wake_up_for_the_lane_of_a_key_claims_no_more_than_the_key_admits(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    started: list[str] = []
    heard: asyncio.Queue[str] = asyncio.Queue()
    await conn.add_listener("forebay", lambda *about: heard.put_nowait(str(about[3])))
    clock = ManualClock()
    async with testbed(dsn, [fetching(started)], migrated=True, clock=clock) as bed:
        await submit_each(conn, pages("ann", 20), "ann")
        await bed.run()
    async with asyncio.timeout(30):
        while not (message := await heard.get()).startswith("key "):
            pass
    async with testbed(dsn, [fetching(started)], migrated=True, clock=clock) as bed:
        started.clear()
        worker = bed.worker
        worker._messages.on_message(message)
        assert worker._claimer.polling.is_requested, "the key of the lane is read before the lane is claimed from"
        await bed.run()
        assert worker._claimer.waking.has_line("site", "a.example")
        worker._messages.on_message(message)
        await bed.run()
        assert len(started) <= 1


async def test_a_worker_for_some_lanes_also_serves_the_lanes_of_their_keys(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    started: list[str] = []
    pipeline = fetching(started, Limit("site", concurrency=1, key=host))
    await register(conn, pipeline.definition())
    job = await pipeline.submit_many(conn, pages("ann", 20))
    lanes = await conn.fetchval("select array_agg(id) from forebay.lane")
    worker = Worker(dsn, [pipeline], lanes=frozenset(lanes))
    await worker.run_slice(30, [job.job_id])
    assert len(started) == 20
