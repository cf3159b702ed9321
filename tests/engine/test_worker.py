"""The worker as a whole: wake-ups, stopping, timeouts, cancellation, slices, fairness, progress."""

# demands: S1-42, S1-43, S1-44, S1-60, S1-68, S1-92, S2-30, S3-31, S3-32, S3-80, S3-94, S3-96, S4-04, S4-88, S4-91
# demands: S4-108, S5-03, S5-07, S5-63, S5-64, S5-124, S5-125, S5-126

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from forebay import Context, Pipeline, Retry, Worker
from forebay.engine.db import tasks
from forebay.engine.submit.results import summary, wait
from forebay.engine.work.machine import Machine
from forebay.engine.work.registration import check_schema
from forebay.errors import ResourceError, SchemaError
from forebay.settings import Settings
from forebay.testing import testbed
from forebay.types import ItemStatus, JobState


@asynccontextmanager
async def working(dsn: str, *pipelines: Pipeline[Any], **settings: Any) -> AsyncIterator[Worker]:
    worker = Worker(dsn, pipelines, settings=Settings(**settings))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    try:
        yield worker
    finally:
        worker.stop()
        await running


async def test_a_submit_wakes_an_idle_worker(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """Polling is too slow to have caused this."""
    pings: Pipeline[dict[str, int]] = Pipeline("pings", dict)
    ran = asyncio.Event()

    @pings.step()
    async def ping(ctx: Context, value: dict[str, int]) -> None:
        ran.set()

    async with working(dsn, pings, poll_s=3600, sweep_s=3600) as worker:
        await worker.wait_until_idle()
        await pings.submit(conn, {"n": 1})
        async with asyncio.timeout(60):
            await ran.wait()


async def test_without_listen_polling_finds_the_work(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    polls: Pipeline[dict[str, int]] = Pipeline("polls", dict)

    @polls.step()
    async def step(ctx: Context, value: dict[str, int]) -> int:
        return value["n"]

    async with working(dsn, polls, listen=False, poll_s=0.05, prepared_statements=False) as worker:
        await worker.wait_until_idle()
        job = await polls.submit(conn, {"n": 7})
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.DONE


async def test_a_stop_lets_running_steps_end_and_hands_the_rest_back(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    slow: Pipeline[dict[str, int]] = Pipeline("slow", dict)
    begun, go = asyncio.Event(), asyncio.Event()

    @slow.step(concurrency=(1, 1))
    async def step(ctx: Context, value: dict[str, int]) -> int:
        begun.set()
        await go.wait()
        return ctx.n

    async with working(dsn, slow) as worker:
        job = await slow.submit_many(conn, [{"n": n} for n in range(50)])
        await begun.wait()
        worker.stop()
        go.set()
    counted = await summary(conn, job.job_id)
    assert 1 <= counted.done < 50
    assert await conn.fetchval("select count(*) from forebay.lease") == 0
    ready = await conn.fetchval("select sum(last_n - first_n + 1) from forebay.ready")
    assert ready + counted.done == 50
    assert await conn.fetchval("select count(*) from forebay.attempt") == counted.done
    assert await conn.fetchval("select max(attempt) from forebay.ready") == 0


async def test_what_outlasts_the_grace_period_is_stopped_and_runs_again(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    stuck: Pipeline[dict[str, int]] = Pipeline("stuck", dict)
    begun = asyncio.Event()

    @stuck.step(retry=Retry(attempts=1))
    async def step(ctx: Context, value: dict[str, int]) -> int:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return ctx.attempt

    async with working(dsn, stuck, grace_s=0):
        job = await stuck.submit(conn, {"n": 1})
        await begun.wait()
    assert await conn.fetchval("select outcome from forebay.attempt") == "RELEASED"
    async with working(dsn, stuck):
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert await conn.fetchval("select result from forebay.item") == '{"step": 1}'


async def test_a_step_that_takes_too_long_is_stopped(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    late: Pipeline[dict[str, int]] = Pipeline("late", dict)
    stopped: list[str] = []

    @late.step(timeout=0.05, retry=Retry(attempts=2, base=0))
    async def step(ctx: Context, value: dict[str, int]) -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append("stopped")
            raise
        return 1

    async with working(dsn, late):
        job = await late.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.FAILED
    assert stopped == ["stopped", "stopped"]
    reasons = [row[0] for row in await conn.fetch("select reason from forebay.attempt")]
    assert reasons == ["timed out after 0.05 s"] * 2


async def test_a_thread_that_takes_too_long_is_given_up(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    threads: Pipeline[dict[str, int]] = Pipeline("threads", dict)
    go = threading.Event()

    @threads.step(timeout=0.05, retry=Retry(attempts=1))
    def step(ctx: Context, value: dict[str, int]) -> int:
        go.wait(60)
        return 1

    async with working(dsn, threads):
        job = await threads.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.FAILED
        go.set()
    assert await conn.fetchval("select reason from forebay.dead_letter") == "timed out after 0.05 s"


async def test_cancel_reaches_the_running_step(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    endless: Pipeline[dict[str, int]] = Pipeline("endless", dict)
    begun, ended = asyncio.Event(), asyncio.Event()

    @endless.step()
    async def step(ctx: Context, value: dict[str, int]) -> int:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            assert ctx.cancelled
            ended.set()
        return 1

    async with working(dsn, endless):
        job = await endless.submit_many(conn, [{"n": 1}, {"n": 2}])
        await begun.wait()
        await conn.execute("select forebay.cancel($1)", job.job_id)
        async with asyncio.timeout(60):
            await ended.wait()
        done = await wait(dsn, job.job_id, timeout=60)
        assert (done.state, done.skipped, done.open) == (JobState.CANCELLED, 2, 0)


async def test_a_slice_ends_when_nothing_is_left(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    slices: Pipeline[dict[str, int]] = Pipeline("slices", dict)

    @slices.step()
    async def one(ctx: Context, value: dict[str, int]) -> int:
        return value["n"]

    @slices.step(after=one)
    async def two(ctx: Context, value: dict[str, int], n: int) -> int:
        return n + 1

    assert await Worker(dsn, [slices]).run_slice(60) == 0
    await slices.submit_many(conn, [{"n": n} for n in range(20)])
    assert await Worker(dsn, [slices]).run_slice(60) == 40


async def test_a_slice_ends_when_its_time_is_up(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    long: Pipeline[dict[str, int]] = Pipeline("long", dict)

    @long.step(concurrency=(1, 1))
    async def step(ctx: Context, value: dict[str, int]) -> int:
        await asyncio.sleep(0.01)
        return 1

    worker = Worker(dsn, [long])
    await worker.run_slice(0)  # registers the pipeline
    await long.submit_many(conn, [{"n": n} for n in range(500)])
    settled = await Worker(dsn, [long]).run_slice(1)
    assert settled < 500
    assert await conn.fetchval("select count(*) from forebay.lease") == 0


async def test_owners_share_a_worker(dsn: str) -> None:
    """The tasks of a large job end only after a task of another owner has run; first come, first served would wait."""
    shared: Pipeline[dict[str, str]] = Pipeline("shared", dict)
    small_ran = asyncio.Event()

    @shared.step(concurrency=(4, 4))
    async def step(ctx: Context, value: dict[str, str]) -> None:
        if value["owner"] == "small":
            small_ran.set()
        else:
            await small_ran.wait()

    async with testbed(dsn, [shared], migrated=True) as bed:
        large = await shared.submit_many(bed.pool, [{"owner": "large"}] * 3000, owner="large")
        small = await shared.submit(bed.pool, {"owner": "small"}, owner="small")
        async with asyncio.timeout(120):
            await bed.run()
        assert (await bed.job(small)).done == 1
        assert (await bed.job(large)).done == 3000


async def test_higher_priorities_go_first(dsn: str) -> None:
    ranked: Pipeline[dict[str, int]] = Pipeline("ranked", dict)
    order: list[int] = []

    @ranked.step(concurrency=(1, 1))
    async def step(ctx: Context, value: dict[str, int]) -> None:
        order.append(value["n"])

    async with testbed(dsn, [ranked], migrated=True) as bed:
        for n in (0, 5, -5, 10):
            await ranked.submit_many(bed.pool, [{"n": n}] * 3, priority=n)
        await bed.run()
    assert order == [10] * 3 + [5] * 3 + [0] * 3 + [-5] * 3


async def test_a_paused_job_waits_and_does_not_block_the_others(dsn: str) -> None:
    paused: Pipeline[dict[str, int]] = Pipeline("paused", dict)

    @paused.step()
    async def step(ctx: Context, value: dict[str, int]) -> int:
        return 1

    async with testbed(dsn, [paused], migrated=True) as bed:
        first = await paused.submit_many(bed.pool, [{"n": 1}] * 10)
        second = await paused.submit_many(bed.pool, [{"n": 2}] * 10)
        await bed.pool.execute("select forebay.pause($1)", first.job_id)
        await bed.run()
        assert (await bed.job(first)).done == 0
        assert (await bed.job(first)).state == JobState.PAUSED
        assert (await bed.job(second)).done == 10
        await bed.pool.execute("select forebay.resume($1)", first.job_id)
        await bed.run()
        assert (await bed.job(first)).state == JobState.DONE


async def test_progress_is_written_while_the_step_runs(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    steady: Pipeline[dict[str, int]] = Pipeline("steady", dict)
    go = asyncio.Event()

    @steady.step()
    async def step(ctx: Context, value: dict[str, int]) -> int:
        ctx.progress(0.25, "a quarter")
        ctx.progress(0.5, "half\0way")
        await go.wait()
        return 1

    async with working(dsn, steady):
        job = await steady.submit(conn, {"n": 1})
        async with asyncio.timeout(60):
            while (progress := await conn.fetchval("select progress from forebay.item")) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert progress == '{"note": "half�way", "step": "step", "fraction": 0.5}'
        status = await conn.fetchval("select status::text from forebay.items where job_id = $1", job.job_id)
        assert status == ItemStatus.PROCESSING
        go.set()
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1


async def test_a_full_disk_slows_the_worker_and_spends_no_attempt(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    full: Pipeline[dict[str, int]] = Pipeline("full", dict)
    calls: list[int] = []

    @full.step(retry=Retry(attempts=1))
    async def step(ctx: Context, value: dict[str, int]) -> int:
        calls.append(ctx.attempt)
        if len(calls) == 1:
            raise ResourceError("the disk is full")
        return ctx.attempt

    async with working(dsn, full):
        job = await full.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.DONE
    assert calls == [1, 1]


async def test_only_the_queues_that_were_asked_for(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    split: Pipeline[dict[str, int]] = Pipeline("split", dict)

    @split.step(queue="mine")
    async def mine(ctx: Context, value: dict[str, int]) -> int:
        return 1

    @split.step(queue="theirs")
    async def theirs(ctx: Context, value: dict[str, int]) -> int:
        return 2

    worker = Worker(dsn, [split], settings=Settings(queues="mine"))
    await worker.run_slice(0)
    job = await split.submit(conn, {"n": 1})
    await Worker(dsn, [split], settings=Settings(queues="mine")).run_slice(60)
    assert await conn.fetchval("select result from forebay.item where job_id = $1", job.job_id) == '{"mine": 1}'
    await Worker(dsn, [split], settings=Settings(queues="theirs")).run_slice(60)
    assert (await summary(conn, job.job_id)).state == JobState.DONE


async def test_an_input_that_does_not_fit_is_a_data_error(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """It was submitted with SQL, where no model validates it."""
    numbers: Pipeline[int] = Pipeline("numbers", int)

    @numbers.step()
    async def step(ctx: Context, value: int) -> int:
        return value

    await Worker(dsn, [numbers]).run_slice(0)
    await conn.execute("""select forebay.submit('numbers', '"many"')""")
    await Worker(dsn, [numbers]).run_slice(60)
    error = await conn.fetchval("select error->>'reason' from forebay.item")
    assert error == "input: Input should be a valid integer, unable to parse string as an integer"


async def test_a_worker_without_a_schema_says_so(bare_dsn: str) -> None:
    with pytest.raises(SchemaError, match="run `forebay migrate`"):
        await Worker(bare_dsn, []).run()


async def test_large_inputs_are_read_when_their_task_begins(dsn: str) -> None:
    """A claim of many tasks contains only small inputs; the steps see no difference."""
    large: Pipeline[dict[str, str]] = Pipeline("large", dict)

    @large.step()
    async def measure(ctx: Context, value: dict[str, str]) -> str:
        return value["text"][:20_000]

    @large.step(after=measure)
    async def compare(ctx: Context, value: dict[str, str], measured: str) -> bool:
        return value["text"].startswith(measured)

    @large.batch_step(size=2)
    async def batched(ctx: Context, values: Sequence[dict[str, str]]) -> list[int]:
        return [len(value["text"]) for value in values]

    random = os.urandom(40_000).hex()  # cannot be compressed
    async with testbed(dsn, [large], migrated=True) as bed:
        inputs = [{"text": "small"}, {"text": random}, {"text": "also small"}]
        job = await large.submit_many(bed.pool, inputs)
        step_id = await bed.pool.fetchval("select id from forebay.step where name = 'measure'")
        lane = await bed.pool.fetchval("select lane_id from forebay.ready limit 1")
        async with bed.pool.acquire() as conn:
            looking = conn.transaction()
            await looking.start()
            claim = "select inputs from forebay.claim(1, $1, $2, '{0}', '{10}', $3, '{}', 60)"
            for rows in (4, 100):  # both claim functions
                inputs_seen = await conn.fetchval(claim, [step_id], [lane], [rows])
                assert [text is None for text in inputs_seen] == [False, True, False]
                await conn.execute("select forebay.release(1, array(select token from forebay.lease))")
            await looking.rollback()
        await bed.run()
        found = [item.result for item in await bed.items(job)]
    assert [result["compare"] for result in found] == [True, True, True]
    assert [result["batched"] for result in found] == [5, 80_000, 10]


async def test_a_large_item_that_is_gone_when_its_task_begins_is_told(dsn: str) -> None:
    fading: Pipeline[dict[str, str]] = Pipeline("fading", dict)

    @fading.step(concurrency=(1, 1), retry=Retry(attempts=1))
    async def erase(ctx: Context, value: dict[str, str]) -> None:
        await bed.pool.execute(
            "delete from forebay.item i using forebay.lease l where l.ns @> i.n and i.n <> $1", ctx.n
        )  # what the worker has claimed and not begun

    # Tasks that are slow on a busy machine would be claimed one by one.
    async with testbed(dsn, [fading], migrated=True, settings=Settings(claim_min=20)) as bed:
        await fading.submit_many(bed.pool, [{"text": os.urandom(40_000).hex()}] * 20)
        await bed.run()
        lost = await bed.pool.fetch("select n, reason from forebay.attempt where reason like 'item:%'")
    assert lost
    assert [row["reason"] for row in lost] == [f"item: there is no item {row['n']} in job 1" for row in lost]


async def test_a_queue_is_unparked_by_whoever_gets_through(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """The worker that parked it may have stopped."""
    calls: Pipeline[dict[str, int]] = Pipeline("calls", dict)

    @calls.step()
    async def call(ctx: Context, value: dict[str, int]) -> None:
        pass

    async with working(dsn, calls) as worker:
        await conn.execute("select forebay.park_queue('calls.call', 'no key', clock_timestamp())")
        await worker.report_status()
        job = await calls.submit_many(conn, [{"n": n} for n in range(20)])
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.DONE
    assert await conn.fetchval("select parked from forebay.queue where name = 'calls.call'") is None
    assert await conn.fetchval("select count(*) from forebay.attempt") == 20


async def test_a_resumed_queue_is_told(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    held: Pipeline[dict[str, int]] = Pipeline("held", dict)

    @held.step()
    async def step(ctx: Context, value: dict[str, int]) -> None:
        pass

    async with working(dsn, held, poll_s=3600, sweep_s=3600) as worker:
        await conn.execute("select forebay.pause_queue('held.step')")
        job = await held.submit(conn, {"n": 1})
        await worker.poll()
        assert (await summary(conn, job.job_id)).state == JobState.QUEUED
        await conn.execute("select forebay.resume_queue('held.step')")
        assert (await wait(dsn, job.job_id, timeout=60)).state == JobState.DONE


async def test_a_machine_short_of_something_still_runs_as_many_at_once_as_a_step_must(dsn: str) -> None:
    both: Pipeline[dict[str, int]] = Pipeline("both", dict)

    @both.step(concurrency=(4, 50))
    async def wait(ctx: Context, value: dict[str, int]) -> None: ...

    async with testbed(dsn, [both], migrated=True) as bed:
        (executor,) = bed.worker._executors.values()
        assert executor.capacity() == 8
        assert [executor.capacity(share) for share in (0.75, 0.5, 0.1, 0.0)] == [6, 4, 4, 4]


async def test_claims_and_leases_stay_within_the_settings(dsn: str) -> None:
    both: Pipeline[dict[str, int]] = Pipeline("both", dict)

    @both.step(concurrency=(2, 2))
    async def wait(ctx: Context, value: dict[str, int]) -> None: ...

    settings = Settings(slice_ms=200, claim_safety=0.5, claim_min=3, claim_max=40, lease_floor_s=7, lease_cap_s=9)
    async with testbed(dsn, [both], migrated=True, settings=settings) as bed:
        (executor,) = bed.worker._executors.values()
        assert executor.capacity() == 3
        for item_s, room in ((0.02, 10), (0.0001, 40), (4.0, 3), (60.0, 3)):
            executor.size.item_s.mean = item_s
            assert executor.capacity() == room
        length = bed.worker._leases.length
        assert (length.floor, length.cap) == (7, 9)


async def _filled(dsn: str, conn: asyncpg.Connection[Any], most: int, **settings: Any) -> tuple[list[str], int]:
    """Fill a step with one owner's long tasks; return who has started, and how many ran concurrently."""
    held: Pipeline[dict[str, str]] = Pipeline("held", dict)
    begun: list[str] = []
    news, go = asyncio.Condition(), asyncio.Event()
    running = peak = 0

    @held.step(concurrency=(most, most))
    async def read(ctx: Context, value: dict[str, str]) -> None:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        async with news:
            begun.append(value["of"])
            news.notify_all()
        await go.wait()
        running -= 1

    async with working(dsn, held, **settings) as worker, asyncio.timeout(60):
        for _ in range(4):
            await held.submit(conn, {"of": "ann"}, owner="ann")
        async with news:
            await news.wait_for(lambda: len(begun) == most)
        job = await held.submit(conn, {"of": "bob"}, owner="bob")
        if worker.settings.owner_reserve and most > 1:
            async with news:
                await news.wait_for(lambda: "bob" in begun)
        else:
            await worker.poll()
        seen = list(begun)
        go.set()
        await wait(dsn, job.job_id, timeout=60)
    return seen, peak


async def test_an_owner_who_waits_begins_while_another_holds_all_slots(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    assert await _filled(dsn, conn, 2) == (["ann", "ann", "bob"], 3)


@pytest.mark.parametrize(("most", "reserve"), [(1, 1), (2, 0)])
async def test_steps_that_run_one_at_a_time_do_so_and_the_reserve_can_be_switched_off(
    dsn: str, conn: asyncpg.Connection[Any], most: int, reserve: int
) -> None:
    assert await _filled(dsn, conn, most, owner_reserve=reserve) == (["ann"] * most, most)


class _Held:
    """A step whose tasks run until they are released, one by one; records whose tasks have started."""

    def __init__(self, most: int) -> None:
        self.pipeline: Pipeline[dict[str, str]] = Pipeline("held", dict)
        self.begun: list[str] = []
        self._go: dict[str, asyncio.Semaphore] = {}
        self._news = asyncio.Condition()

        @self.pipeline.step(concurrency=(2, most))
        async def read(ctx: Context, value: dict[str, str]) -> None:
            async with self._news:
                self.begun.append(value["of"])
                self._news.notify_all()
            await self._gate(value["of"]).acquire()

    def _gate(self, owner: str) -> asyncio.Semaphore:
        return self._go.setdefault(owner, asyncio.Semaphore(0))

    def let_go(self, owner: str, count: int = 1) -> None:
        for _ in range(count):
            self._gate(owner).release()

    async def submit(self, conn: asyncpg.Connection[Any], owner: str, count: int, priority: int = 0) -> None:
        for _ in range(count):
            await self.pipeline.submit(conn, {"of": owner}, owner=owner, priority=priority)

    async def until(self, **begun: int) -> None:
        """Wait until exactly this many tasks of these owners have started, and none of others."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.begun) >= sum(begun.values()))
        assert {owner: self.begun.count(owner) for owner in set(self.begun)} == begun


async def test_every_owner_who_waits_gets_a_slot_before_one_who_runs_something(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    held = _Held(2)
    async with working(dsn, held.pipeline), asyncio.timeout(60):
        await held.submit(conn, "ann", 6)
        await held.until(ann=2)
        await held.submit(conn, "bob", 1)
        await held.until(ann=2, bob=1)
        await held.submit(conn, "cid", 1)
        await held.until(ann=2, bob=1, cid=1)
        await held.submit(conn, "dot", 1)  # the reserve is used up: the next slot is hers
        held.let_go("bob")
        await held.until(ann=2, bob=1, cid=1, dot=1)
        for owner in ("ann", "bob", "cid", "dot"):
            held.let_go(owner, 6)


async def test_owners_who_wait_begin_on_an_overloaded_machine(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "observe", lambda *_args, **_kwargs: None)
    held = _Held(8)
    async with working(dsn, held.pipeline) as worker, asyncio.timeout(60):
        worker._machine.share = 0.05  # two of eight slots
        await held.submit(conn, "ann", 6)
        await held.until(ann=2)
        await held.submit(conn, "bob", 1)
        await held.until(ann=2, bob=1)
        await held.submit(conn, "cid", 1)
        await held.until(ann=2, bob=1, cid=1)
        for owner in ("ann", "bob", "cid"):
            held.let_go(owner, 6)


async def test_a_flood_of_a_high_priority_leaves_others_a_slot(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    held = _Held(2)
    async with working(dsn, held.pipeline, owner_reserve=1), asyncio.timeout(60):
        await held.submit(conn, "ann", 12, priority=100)
        await held.until(ann=2)
        await held.submit(conn, "bob", 1)
        await held.until(ann=2, bob=1)
        await held.submit(conn, "cid", 1)
        held.let_go("bob")
        await held.until(ann=2, bob=1, cid=1)
        for owner in ("ann", "bob", "cid"):
            held.let_go(owner, 12)


async def test_short_tasks_of_a_high_priority_leave_others_a_turn(dsn: str) -> None:
    """They never wait for anything, so nobody holds a slot when the next task is chosen. The other task arrives in the
    middle of them."""
    quick: Pipeline[dict[str, str]] = Pipeline("quick", dict)
    order: list[str] = []
    late: list[tasks.Lease] = []

    @quick.step(concurrency=(2, 2))
    async def spin(ctx: Context, value: dict[str, str]) -> None:
        order.append(value["of"])
        if len(order) == 100:
            claimer._intake._accept_some(late)

    async with testbed(dsn, [quick], migrated=True) as bed:
        claimer = bed.worker._claimer
        await quick.submit(bed.pool, {"of": "bob"}, owner="bob")
        await claimer.polling.find_ready_lanes()
        ((step_id, lanes),) = claimer.lanes.steps.items()
        async with bed.pool.acquire() as conn:
            wanted = [tasks.Claim(step_id, lane_id, 0, 1, 1) for lane_id in lanes.lanes]
            late += await tasks.claim(conn, bed.worker.worker_id, wanted, [], 600, bed.clock.stamp())
        await quick.submit_many(bed.pool, [{"of": "ann"}] * 3000, owner="ann", priority=100)
        await bed.run()
    assert 100 <= order.index("bob") < 2900


async def test_a_worker_starts_while_another_one_makes_partitions(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    held = _Held(2)
    async with conn.transaction():
        await conn.execute("select pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662))")
        with capture_logs() as logs:
            async with working(dsn, held.pipeline):
                pass
    (log,) = (log for log in logs if log["event"] == "partitions_not_made")
    assert "lock timeout" in log["error"]
    assert "worker_started" in [log["event"] for log in logs]


@pytest.mark.parametrize("account", [None, "forebay_worker"])
async def test_a_worker_says_that_the_functions_are_of_another_release(
    dsn: str, conn: asyncpg.Connection[Any], account: str | None
) -> None:
    await conn.execute("update forebay.part set routines = 'another' where name = 'engine'")
    if account is not None:
        await conn.execute(f"set role {account}")
    with capture_logs() as logs:
        await check_schema(conn, [_Held(2).pipeline])
    (log,) = (log for log in logs if log["event"] == "routines_of_another_release")
    assert log["parts"] == ["engine"]
    assert "forebay migrate" in log["fix"]


async def test_a_slot_that_has_not_begun_is_held_by_nobody(dsn: str) -> None:
    """The tasks of one owner arrive one after another before the first of them runs: none gets an extra slot."""
    held = _Held(2)
    async with testbed(dsn, [held.pipeline], migrated=True) as bed:
        claimer, (executor,) = bed.worker._claimer, bed.worker._executors.values()
        for _ in range(4):
            await held.pipeline.submit(bed.pool, {"of": "ann"}, owner="ann")
        await claimer.polling.find_ready_lanes()
        async with bed.pool.acquire() as conn:
            wanted = [tasks.Claim(executor.step_id, lane_id, 0, 4, 4) for lane_id in claimer.lanes.steps[1].lanes]
            leases = await tasks.claim(conn, bed.worker.worker_id, wanted, [], 600, bed.clock.stamp())
        for lease in leases:
            claimer._intake._accept_some([lease])
        assert len(executor.slots) == 2
        held.let_go("ann", 4)
        await bed.run()
    assert held.begun == ["ann"] * 4


async def test_a_limit_that_has_shrunk_uses_up_none_of_the_reserve(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    held = _Held(4)
    async with working(dsn, held.pipeline, owner_reserve=1) as worker, asyncio.timeout(60):
        await held.submit(conn, "ann", 6)
        await held.until(ann=4)
        (executor,) = worker._executors.values()
        executor.concurrency.limit = 2.0
        await held.submit(conn, "bob", 1)
        await held.until(ann=4, bob=1)
        held.let_go("ann", 6)
        held.let_go("bob")


async def test_an_owner_who_waits_begins_while_several_others_hold_all_slots(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    held = _Held(4)
    async with working(dsn, held.pipeline), asyncio.timeout(60):
        await held.submit(conn, "ann", 3)
        await held.submit(conn, "cid", 1)
        await held.until(ann=3, cid=1)
        await held.submit(conn, "bob", 1)
        await held.until(ann=3, cid=1, bob=1)
        for owner in ("ann", "bob", "cid"):
            held.let_go(owner, 3)
