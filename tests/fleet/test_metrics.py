"""What dispatchers tell about their fleets, as metrics."""

# demands: S1-118

from __future__ import annotations

import asyncio
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from forebay import Context, Pipeline
from forebay.api.metrics import names
from forebay.api.metrics.metric import MetricSet
from forebay.api.metrics.workers import write_fleets
from forebay.engine.db import overview
from forebay.fleet.jetstream import JetStreamDispatcher, JetStreamRunner
from tests.fleet._fake_runner import fake_runner
from tests.fleet._nats import NatsCluster
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from pathlib import Path

    import asyncpg

    from forebay.fleet.dispatcher import Dispatcher

    Conn = asyncpg.Connection[Any]


def pipeline_of_two() -> Pipeline[dict[str, Any]]:
    pipeline: Pipeline[dict[str, Any]] = Pipeline("p", dict)

    @pipeline.step()
    async def first(ctx: Context, value: dict[str, Any]) -> int:
        raise NotImplementedError

    @pipeline.step(after=first)
    async def second(ctx: Context, value: dict[str, Any], found: int) -> int:
        raise NotImplementedError

    return pipeline


async def metrics(conn: Conn, dispatcher: Dispatcher) -> dict[str, float]:
    """The metrics of the fleet now, by name and the step or state that they are about."""
    await dispatcher._report_status()
    return await last_metrics(conn)


async def last_metrics(conn: Conn) -> dict[str, float]:
    found = MetricSet(names.GENERAL)
    write_fleets(found, cast("Any", SimpleNamespace(workers=await overview.workers(conn))))
    return {
        ".".join([sample.name.removeprefix("forebay_fleet_"), *list(sample.labels.values())[2:]]): sample.value
        for family in found.collect()
        for sample in family.samples
    }


async def test_what_a_dispatcher_tells(fleet: Fleet, dsn: str, conn: Conn) -> None:
    pipeline = pipeline_of_two()
    dispatcher = fleet.dispatcher(dsn, pipeline, grace_s=0)
    async with (
        running(dispatcher),
        fake_runner(fleet, "one", "p.first") as one,
        fake_runner(fleet, "two", "p.first") as two,
        asyncio.timeout(60),
    ):
        for runner in (one, two):
            await runner.beat(2)
        await pipeline.submit_many(conn, [{}] * 9)
        await one.take(1)
        await one.beat(2)
        expected = {
            "broker_up": 1, "runners": 2, "lost_offers_total": 0, "slots.first": 4, "slots.second": 0,
            "offers.first.offered": 3, "offers.first.taken": 1, "offers.second.offered": 0, "offers.second.taken": 0,
        }  # fmt: skip
        while (told := await metrics(conn, dispatcher)) != expected:
            assert told.keys() == expected.keys()
            await one.beat(2)
            await two.beat(2)
        for out in dispatcher._offers.open.values():
            out.seen = 0.0 if out.runner == "one" else out.seen
        await dispatcher._watch()
        assert (await metrics(conn, dispatcher))["lost_offers_total"] == 1
    assert await last_metrics(conn) == {}  # it has stopped


async def test_a_dispatcher_tells_that_its_broker_is_gone(dsn: str, conn: Conn, tmp_path: Path) -> None:
    server = NatsCluster(tmp_path, 1)
    server.start()
    await server.wait_until_ready()
    try:
        fleet = Fleet(partial(JetStreamDispatcher, server.url), partial(JetStreamRunner, server.url))
        dispatcher = fleet.dispatcher(dsn, pipeline_of_two())
        late = 0.0
        dispatcher._members._now = lambda: time.monotonic() + late
        async with running(dispatcher), asyncio.timeout(60):
            server.kill()
            while (await metrics(conn, dispatcher))["broker_up"]:
                late += 100
            server.start()
            while not (await metrics(conn, dispatcher))["broker_up"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    finally:
        server.kill()
