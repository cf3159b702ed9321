"""Steps with `ordered_by`: the tasks of one key run one at a time, in the order of their submission."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import DefinitionError, Limit, NotFound, Pipeline, Retry, Skip, Snooze, TaskInfo, Wait
from forebay.engine.db import order
from forebay.errors import PermanentError, ThrottledError, TransientError
from forebay.testing import testbed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.engine.declare.context import Context
    from forebay.engine.declare.order import OrderKey
    from forebay.testing import Testbed

Value = dict[str, Any]


class Log:
    """What a step has done: the tasks in the order of their starts, and how many of one key ran at the same time."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.running: dict[str, int] = {}
        self.most = 0

    def of(self, key: str) -> list[str]:
        return [name for name in self.started if name.startswith(key)]


def sorting(
    log: Log,
    act: Callable[[Context, Value], Any] = lambda ctx, value: None,
    *,
    key: OrderKey = "key",
    limits: Sequence[Limit] = (),
) -> Pipeline[Value]:
    """A pipeline of one step with an order; `act` may fail or return an outcome."""
    pipeline = Pipeline("sorting", dict[str, Any])

    @pipeline.step(ordered_by=key, retry=Retry(attempts=3), limits=limits)
    async def work(ctx: Context, value: Value) -> str | NotFound | Skip | Snooze | Wait:
        log.started.append(value["name"])
        log.running[value["key"]] = log.running.get(value["key"], 0) + 1
        log.most = max(log.most, log.running[value["key"]])
        try:
            await asyncio.sleep(0)
            outcome: str | NotFound | Skip | Snooze | Wait = act(ctx, value) or value["name"]
            return outcome
        finally:
            log.running[value["key"]] -= 1

    return pipeline


def named(*names: str) -> list[Value]:
    """Inputs whose key is the first letter of their name."""
    return [{"key": name[0], "name": name} for name in names]


async def submit(bed: Testbed, pipeline: Pipeline[Value], *names: str, **options: Any) -> int:
    """One job with these items."""
    return (await pipeline.submit_many(bed.pool, named(*names), **options)).job_id


async def statuses(bed: Testbed, job_id: int) -> list[str]:
    return [item.status for item in await bed.items(job_id)]


async def test_tasks_of_a_key_run_one_at_a_time_in_the_order_of_their_submission(dsn: str) -> None:
    log = Log()
    pipeline = sorting(log)
    names = [f"{key}{n:03}" for n in range(40) for key in "ab"]
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        for part in range(0, 40, 10):
            await submit(bed, pipeline, *names[part : part + 10])
        for name in names[40:]:
            await submit(bed, pipeline, name)
        await bed.run()
        assert log.of("a") == [name for name in names if name[0] == "a"]
        assert log.of("b") == [name for name in names if name[0] == "b"]
        assert log.most == 1
        assert await bed.pool.fetchval("select count(*) from forebay.ordered_task") == 0
        assert await bed.pool.fetchval("select count(*) from forebay.attempt where outcome <> 'DONE'") == 0


async def test_other_keys_other_owners_and_tasks_without_a_key_run_at_the_same_time(dsn: str) -> None:
    meeting = asyncio.Barrier(4)
    pipeline = Pipeline("sorting", dict[str, Any])

    @pipeline.step(ordered_by="key")
    async def work(ctx: Context, value: Value) -> None:
        async with asyncio.timeout(30):
            await meeting.wait()

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await pipeline.submit_many(bed.pool, [{"key": "a"}, {"key": "b"}, {"key": None}], owner="ann")
        job = await pipeline.submit(bed.pool, {"key": "a"}, owner="ben")
        await bed.run()
        assert (await bed.item(job)).status == "DONE"


async def test_a_higher_priority_does_not_overtake_within_a_key(dsn: str) -> None:
    log = Log()
    pipeline = sorting(log)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        await submit(bed, pipeline, "a3", priority=9)
        await submit(bed, pipeline, "a4")
        await bed.run()
        assert log.started == ["a1", "a2", "a3", "a4"]


@pytest.mark.parametrize("again", ["retry", "snooze", "throttled"])
async def test_a_task_that_runs_again_keeps_its_place(dsn: str, again: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        if value["name"] == "a1" and log.started.count("a1") == 1:
            if again == "snooze":
                return Snooze(timedelta(hours=1))
            raise TransientError("not yet") if again == "retry" else ThrottledError("not yet", retry_after=3600)
        return None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2", "b1")
        await submit(bed, pipeline, "a3")
        await bed.run()
        assert sorted(log.started) == ["a1", "b1"]
        await bed.finish()
        assert log.of("a") == ["a1", "a1", "a2", "a3"]


async def test_a_task_that_waits_for_a_signal_keeps_its_place(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Wait("paid", key="1") if value["name"] == "a1" and ctx.signal is None else None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        await bed.run()
        assert log.started == ["a1"]
        await bed.pool.execute("select forebay.signal('paid', '1', null, 'default')")
        await bed.run()
        assert log.started == ["a1", "a1", "a2"]


@pytest.mark.parametrize("end", ["error", "not found", "skip", "attempts used up"])
async def test_a_task_that_ends_for_good_lets_the_next_one_run(dsn: str, end: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        if value["name"] != "a1":
            return None
        if end in ("error", "attempts used up"):
            raise PermanentError("no") if end == "error" else TransientError("no")
        return NotFound("gone") if end == "not found" else Skip("not needed")

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        await bed.finish()
        assert log.started == ["a1"] * (log.started.count("a1")) + ["a2"]


async def test_a_key_waits_for_a_paused_job_and_goes_on_when_it_is_cancelled(dsn: str) -> None:
    log = Log()
    pipeline = sorting(log)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        first = await submit(bed, pipeline, "a1", "a2")
        await bed.pool.execute("select forebay.pause($1)", first)
        second = await submit(bed, pipeline, "a3", "b1")
        await bed.run()
        assert log.started == ["b1"]
        shown = await bed.pool.fetch(
            "select step, key, job_id, n, is_current from forebay.ordered_tasks order by job_id, n"
        )
        assert [tuple(row) for row in shown] == [
            ("work", "a", first, 1, True),
            ("work", "a", first, 2, False),
            ("work", "a", second, 1, False),
        ]
        await bed.pool.execute("select forebay.resume($1)", first)
        await bed.run()
        assert log.started == ["b1", "a1", "a2", "a3"]
        log.started.clear()
        third = await submit(bed, pipeline, "a4", "a5")
        await bed.pool.execute("select forebay.pause($1)", third)
        await submit(bed, pipeline, "a6")
        await bed.run()
        assert log.started == []
        await bed.pool.execute("select forebay.cancel($1)", third)
        await bed.run()
        assert log.started == ["a6"]
        assert await statuses(bed, third) == ["SKIPPED", "SKIPPED"]


async def test_a_key_waits_for_a_paused_item_and_goes_on_when_it_is_cancelled(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(hours=1)) if value["name"] == "a1" and len(log.started) == 1 else None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        job = await submit(bed, pipeline, "a1", "a2", "a3", "a4")
        await bed.run()
        await bed.pool.execute("select forebay.pause_item($1, 2)", job)
        await bed.pool.execute("select forebay.pause_item($1, 3)", job)
        await bed.finish()
        assert log.started == ["a1", "a1"]
        await bed.pool.execute("select forebay.resume_item($1, 2)", job)
        await bed.run()
        assert log.started == ["a1", "a1", "a2"]
        await bed.pool.execute("select forebay.cancel_item($1, 3)", job)
        await bed.run()
        assert log.started == ["a1", "a1", "a2", "a4"]


async def test_cancelling_the_first_task_frees_its_key_at_once(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(days=1)) if value["name"] == "a1" else None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        first = await submit(bed, pipeline, "a1", "a2")
        await submit(bed, pipeline, "a3")
        await bed.run()
        await bed.pool.execute("select forebay.cancel($1)", first)
        ready = await bed.pool.fetchval("select count(*) from forebay.ready r join forebay.lane l on l.id = r.lane_id")
        assert ready == 1, "in the same transaction"
        await bed.run()
        assert log.started == ["a1", "a3"]


async def test_an_item_that_runs_again_takes_its_place_among_those_that_wait(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        if value["name"] == "a1" and log.started.count("a1") == 1:
            raise PermanentError("no")
        return Snooze(timedelta(hours=1)) if value["name"] == "a2" and log.started.count("a2") == 1 else None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        first = await submit(bed, pipeline, "a1")
        await submit(bed, pipeline, "a2", "a3")
        await bed.run()
        assert log.started == ["a1", "a2"]
        await bed.pool.execute("select forebay.reprocess($1)", first)
        await bed.run()
        assert log.started == ["a1", "a2"], "behind the one that has begun"
        await bed.finish()
        assert log.started == ["a1", "a2", "a2", "a1", "a3"]


async def test_an_item_that_another_step_ends_frees_its_key(dsn: str) -> None:
    started: list[str] = []
    checked: list[str] = []
    pipeline = Pipeline("sorting", dict[str, Any])

    @pipeline.step(ordered_by="key")
    async def work(ctx: Context, value: Value) -> str | Snooze:
        started.append(value["name"])
        return Snooze(timedelta(hours=1)) if value["name"] == "a1" else ""

    @pipeline.step()
    async def check(ctx: Context, value: Value) -> str | Snooze | Skip:
        checked.append(value["name"])
        if value["name"] != "a1":
            return ""
        return Skip("not needed", item=True) if checked.count("a1") > 1 else Snooze(timedelta(minutes=1))

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        await bed.run()
        assert started == ["a1"]
        bed.clock.advance(61)
        await bed.run()
        await bed.run()
        assert started == ["a1", "a2"]


async def test_two_workers_share_the_keys(dsn: str) -> None:
    log = Log()
    pipelines = [sorting(log), sorting(log)]
    names = [f"{key}{n:02}" for n in range(20) for key in "abc"]
    async with testbed(dsn, pipelines[:1], migrated=True) as one, testbed(dsn, pipelines[1:], migrated=True) as two:
        for name in names:
            await submit(one, pipelines[0], name)
        while len(log.started) < len(names):
            await asyncio.gather(one.worker.drain(), two.worker.drain())
        for key in "abc":
            assert log.of(key) == sorted(log.of(key))
        assert log.most == 1
        assert one.worker.settled + two.worker.settled == len(names)


async def test_a_lost_worker_keeps_the_place_of_its_task(dsn: str) -> None:
    log = Log()
    pipeline = sorting(log)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        step_id = await bed.pool.fetchval("select id from forebay.step where name = 'work'")
        await put_in_order(bed, step_id)
        lane = await bed.pool.fetchval("select lane_id from forebay.ready where step_id = $1", step_id)
        claim = "select count(*) from forebay.claim_tasks(9, $1, $2, '{0}', '{10}', '{9}', '{}', 60, $3)"
        assert await bed.pool.fetchval(claim, [step_id], [lane], bed.clock.now()) == 1
        await bed.run()
        assert log.started == [], "the second waits for the first"
        bed.clock.advance(61)
        await bed.run()
        assert log.started == ["a1", "a2"]


async def put_in_order(bed: Testbed, step_id: int) -> None:
    """Put all tasks of a step in order, by the key of their input, without a worker."""
    async with bed.pool.acquire() as conn, conn.transaction():
        lanes = await conn.fetchval("select array_agg(distinct lane_id) from forebay.ready where step_id = $1", step_id)
        rows = await conn.fetch(
            "select * from forebay.take_unordered($1, $2, 100, false)",
            [step_id] * len(lanes),
            lanes,
        )
        columns = [[row[name] for row in rows] for name in ("step_id", "lane_id", "job_id", "n", "attempt", "owner_id")]
        await conn.execute(
            "select forebay.order_tasks($1, $2, $3, $4, $5, $6, $7, $8)",
            *columns,
            ["a"] * len(rows),
            [False] * len(rows),
        )


async def test_tasks_keep_the_key_that_they_had_when_the_function_changes(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(hours=1)) if value["name"] == "a1" and len(log.started) == 1 else None

    async with testbed(dsn, [sorting(log, act)], migrated=True) as bed:
        await submit(bed, sorting(log), "a1", "a2")
        await bed.run()
        clock = bed.clock
    changed = sorting(log, act, key=lambda value: value["name"])
    async with testbed(dsn, [changed], migrated=True, clock=clock) as bed:
        await submit(bed, changed, "a3")
        await bed.run()
        assert log.started == ["a1", "a3"]
        await bed.finish()
        assert log.started == ["a1", "a3", "a1", "a2"]


async def test_a_step_keeps_its_order_under_another_name_and_after_other_steps(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(minutes=30)) if value["name"] == "a1" and len(log.started) == 1 else None

    async with testbed(dsn, [sorting(log, act)], migrated=True) as bed:
        await submit(bed, sorting(log), "a1", "a2")
        await bed.run()
        clock = bed.clock
    changed = sorting(log, act)
    changed.steps.clear()

    @changed.step()
    async def before(ctx: Context, value: Value) -> None:
        pass

    @changed.step(after=before, renamed_from="work", ordered_by="key")
    async def renamed(ctx: Context, value: Value, _: None) -> None:
        log.started.append(value["name"])

    async with testbed(dsn, [changed], migrated=True, clock=clock) as bed:
        await submit(bed, changed, "a3")
        await bed.run()
        assert log.started == ["a1"], "the tasks of the old version come first"
        for _ in range(2):  # the old version has no worker, and has had none for a while
            await bed.worker.report_status()
            await bed.worker.adopt_jobs()
            clock.advance(600)
        await bed.finish()
        assert log.started == ["a1", "a1", "a2", "a3"]


async def test_without_the_order_all_tasks_that_wait_run(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(minutes=30)) if value["name"] == "a1" and len(log.started) == 1 else None

    async with testbed(dsn, [sorting(log, act)], migrated=True) as bed:
        await submit(bed, sorting(log), "a1", "a2", "a3")
        await bed.run()
        clock = bed.clock
        clock.advance(1)
    plain = sorting(log, act)
    plain.steps["work"].order = None
    async with testbed(dsn, [plain], migrated=True, clock=clock) as bed:
        await submit(bed, plain, "a4")
        await bed.run()
        assert sorted(log.started) == ["a1", "a2", "a3", "a4"]
        await bed.finish()
        assert sorted(log.started) == ["a1", "a1", "a2", "a3", "a4"]


async def test_an_order_works_with_a_limit_of_the_same_step(dsn: str) -> None:
    log = Log()
    limits = [Limit("site", rate=1, key=lambda value: "one"), Limit("all", concurrency=1)]
    pipeline = sorting(log, limits=limits)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "b1", "a2", "b2")
        await bed.finish()
        assert log.of("a") == ["a1", "a2"]
        assert log.of("b") == ["b1", "b2"]


async def test_a_coalesced_job_has_the_key_of_its_new_input(dsn: str) -> None:
    log = Log()

    def act(ctx: Context, value: Value) -> Any:
        return Snooze(timedelta(hours=1)) if value["name"] == "a1" and len(log.started) == 1 else None

    pipeline = sorting(log, act)
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1")
        await pipeline.submit(bed.pool, named("a2")[0], key="page", coalesce=True)
        await bed.run()
        assert log.started == ["a1"]
        again = await pipeline.submit(bed.pool, named("b2")[0], key="page", coalesce=True)
        await bed.run()
        assert log.started == ["a1", "b2"]
        assert (await bed.item(again)).status == "DONE"


class Page(BaseModel):
    site: str | None = None


async def test_the_key_may_depend_on_the_owner_and_the_meta_of_the_job(dsn: str) -> None:
    seen: list[tuple[str, object]] = []
    pipeline = Pipeline("sorting", Page)

    def key(page: Page, task: TaskInfo) -> str:
        seen.append((task.owner, (task.meta or {}).get("tenant")))
        return str((task.meta or {})["tenant"])

    @pipeline.step(ordered_by=key)
    async def work(ctx: Context, page: Page) -> None:
        pass

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await pipeline.submit(bed.pool, Page(), owner="ann", meta={"tenant": 7})
        failed = await pipeline.submit(bed.pool, Page(), owner="ann")
        await bed.run()
        assert ("ann", 7) in seen
        error = (await bed.item(failed)).error
        assert error is not None
        assert error["reason"] == "ordered_by: the input has no key (KeyError: 'tenant')"


async def test_nobody_claims_tasks_whose_order_is_not_known(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """A worker of a release in which the step has no order asks for them, too."""
    pipeline = sorting(Log())
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await submit(bed, pipeline, "a1", "a2")
        step_id = await conn.fetchval("select id from forebay.step where name = 'work'")
        lane = await conn.fetchval("select lane_id from forebay.ready where step_id = $1", step_id)
        for rows in (1, 100):
            claim = "select count(*) from forebay.claim(9, $1, $2, '{0}', '{10}', $3, '{}', 60)"
            assert await conn.fetchval(claim, [step_id], [lane], [rows]) == 0


def test_definitions_that_cannot_be_ordered() -> None:
    pipeline = Pipeline("sorting", Page)
    refused = (
        "step sorting.{}: a batch step or after_all step cannot have ordered_by, because it does not run item by item; "
        "use it with a step of single items"
    )

    async def batch(ctx: Context, pages: Sequence[Page]) -> Sequence[None]:
        return [None for _ in pages]

    async def last(ctx: Context, job: Any) -> None:
        pass

    async def work(ctx: Context, page: Page) -> None:
        pass

    with pytest.raises(DefinitionError) as error:
        pipeline.batch_step(size=5, ordered_by="site")(batch)
    assert str(error.value) == refused.format("batch")
    with pytest.raises(DefinitionError) as error:
        pipeline.after_all(ordered_by="site")(last)
    assert str(error.value) == refused.format("last")
    with pytest.raises(DefinitionError) as error:
        pipeline.step(ordered_by="host")(work)
    assert str(error.value) == "step sorting.work: ordered_by='host' is not a field of Page"
    with pytest.raises(DefinitionError) as error:
        pipeline.step(ordered_by=lambda: "none")(work)  # type: ignore[arg-type]
    assert str(error.value) == (
        "ordered_by must be the name of a field, a function of the input, or of the input and a TaskInfo"
    )


async def test_one_worker_at_a_time_determines_the_order_and_others_wait_for_it(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    """What a worker has taken out of the queue is in no table that others could see."""
    pipeline = sorting(Log())
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        job = await submit(bed, pipeline, "a1", "a2", "a3")
        row = await conn.fetchrow("select step_id, lane_id from forebay.ready")
        assert row is not None
        pair = (int(row["step_id"]), int(row["lane_id"]))
        async with bed.pool.acquire() as first, bed.pool.acquire() as second:
            async with first.transaction():
                assert await order.lock(first, [pair]) == {pair: "locked"}
                (task,) = await order.take_unordered(first, [pair], 1, with_meta=False)
                assert await order.lock(second, [pair]) == {pair: "busy"}
                cancelling = asyncio.create_task(second.execute("select forebay.cancel($1)", job))
                async with asyncio.timeout(30):
                    while not await conn.fetchval(
                        "select cardinality(pg_blocking_pids($1)) > 0", second.get_server_pid()
                    ):
                        pass
                await order.order_tasks(first, [task], ["a"], None)
            await cancelling
        await conn.execute("select forebay.reprocess($1, '{SKIPPED}')", job)
        runs = await conn.fetch(
            "select first_n, last_n from forebay.ready union all select first_n, last_n from forebay.scheduled"
        )
        assert [tuple(run) for run in runs] == [(1, 3)], "each task is there once"
        await bed.run()
        assert await statuses(bed, job) == ["DONE", "DONE", "DONE"]
