"""The demand of a queue that a fleet serves counts what runs at runners, not what waits for them in the broker."""

# demands: S1-118

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay import Context, Pipeline
from forebay.engine.db import overview
from forebay.engine.submit.results import wait
from forebay.engine.supervise.controllers import step_control
from forebay.engine.supervise.demand import QueueDemand, queue_demand
from tests.fleet._fake_runner import fake_runner
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    import asyncpg

    from forebay.fleet.dispatcher import Dispatcher

    Conn = asyncpg.Connection[Any]

DAY = 86_400.0


def tasks_of(step: str, *, batch: int | None = None) -> Pipeline[dict[str, Any]]:
    """The step runs nowhere: the test is the runner."""
    pipeline: Pipeline[dict[str, Any]] = Pipeline("p", dict)
    if batch is None:

        @pipeline.step(name=step)
        async def run(ctx: Context, value: dict[str, Any]) -> int:
            raise NotImplementedError

    else:

        @pipeline.batch_step(name=step, size=batch)
        async def run_all(ctx: Context, values: Sequence[dict[str, Any]]) -> list[int]:
            raise NotImplementedError

    return pipeline


async def demand(conn: Conn, dispatcher: Dispatcher, **options: float) -> QueueDemand:
    """As autoscalers ask for it."""
    await dispatcher.report_status()
    return queue_demand(await overview.depth(conn), await overview.workers(conn), {}, **options)


async def test_offers_that_wait_are_not_running(fleet: Fleet, dsn: str, conn: Conn) -> None:
    """Else each answer would lead to more slots, these to more offers, and these to a larger answer."""
    pipeline = tasks_of("short")
    dispatcher = fleet.dispatcher(dsn, pipeline, grace_s=0)
    async with running(dispatcher), fake_runner(fleet, "r", "p.short") as runner, asyncio.timeout(120):
        job = await pipeline.submit_many(conn, [{}] * 50)
        await runner.beat(2)
        left = 50
        while left:
            await runner.take(2)
            left -= await runner.report(0.0001)  # so short that many go to a runner together
        await wait(dsn, job.job_id, timeout=100)
        await pipeline.submit_many(conn, [{}] * 1000)
        slots = 2
        await runner.take(slots)
        taken = sum(len(offer.tasks) for offer in runner.held)
        for _ in range(3):
            assert slots < taken
            await runner.beat(slots)
            while (await demand(conn, dispatcher)).running != slots:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            found = await demand(conn, dispatcher, target_s=DAY)
            assert found.waiting == 1000 - slots
            assert found.slots == slots + 1  # one more for what waits, however much of it is offered
            slots = found.slots


async def test_the_time_of_a_task_is_that_of_its_runner(fleet: Fleet, dsn: str, conn: Conn) -> None:
    """However long they were in the broker; a call for a batch is shared by its tasks."""
    pipeline = tasks_of("many", batch=5)
    dispatcher = fleet.dispatcher(dsn, pipeline)
    async with running(dispatcher), fake_runner(fleet, "r", "p.many") as runner, asyncio.timeout(120):
        job = await pipeline.submit_many(conn, [{}] * 10)
        await runner.beat(1)
        left = 10
        while left:
            await runner.take(1)
            left -= await runner.report(50.0)
        await wait(dsn, job.job_id, timeout=100)
        await dispatcher.report_status()
        control = step_control("p.many", await overview.workers(conn))
        assert control is not None
        assert control.item_ms == 50_000
        assert control.limit == 1
