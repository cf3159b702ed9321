"""A broker may lose, double, delay and forget everything, and runners may send anything: PostgreSQL stays right."""

# demands: S1-120

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Pipeline, Retry, Worker
from forebay.engine.submit.results import wait
from forebay.fleet.step_runner import StepRunner
from forebay.settings import Settings
from tests.fleet._lossy import LossyDispatcherPort, LossyRunnerPort
from tests.fleet._nats import NatsCluster
from tests.fleet._pipelines import Gate, Input, counting, kinds, passing
from tests.fleet._polling import assert_once, until
from tests.fleet._redis import RedisServer
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import asyncpg

    Conn = asyncpg.Connection[Any]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 8))])
async def test_offers_and_reports_are_lost_doubled_and_delayed(dsn: str, conn: Conn, fleet: Fleet, seed: int) -> None:
    await conn.execute("create table effects (n int primary key)")
    pipeline, rng = counting(), random.Random(seed)
    ports: list[Any] = []

    def dispatcher_port() -> Any:
        ports.append(LossyDispatcherPort(fleet.dispatcher_port(), rng, longest=1.5))
        return ports[-1]

    def runner_port() -> Any:
        ports.append(LossyRunnerPort(fleet.runner_port(), rng, longest=1.5))
        return ports[-1]

    lossy = Fleet(dispatcher_port, runner_port)
    async with lossy.working(dsn, pipeline, runners=2, lease_floor_s=1.0, sweep_s=0.1):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(60)])
        assert (await wait(dsn, job.job_id, timeout=120)).done == 60
    await assert_once(conn, 60)
    assert all(sum(getattr(port, kind) for port in ports) > 0 for kind in ("lost", "doubled", "delayed"))


async def _nats(folder: Path) -> NatsCluster:
    server = NatsCluster(folder, 1)
    server.start()
    await server.wait_until_ready()
    return server


@pytest.mark.soak
async def test_jetstream_that_stops_and_forgets_everything(dsn: str, conn: Conn, tmp_path: Path) -> None:
    server = await _nats(tmp_path)
    try:
        async with _half_done(dsn, conn, server.url):
            server.kill()
            server.forget()
            await asyncio.sleep(1.5)  # longer than a lease
            server.start()
            await server.wait_until_ready()
    finally:
        server.kill()


@pytest.mark.soak
async def test_redis_that_stops_and_forgets_everything(dsn: str, conn: Conn, tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        async with _half_done(dsn, conn, server.url):
            server.flush()
            await until(conn, "count(*) >= 60 from effects")
            server.kill()
            await asyncio.sleep(1.5)  # longer than a lease
            server.start()


@asynccontextmanager
async def _half_done(dsn: str, conn: Conn, url: str) -> AsyncIterator[None]:
    """A fleet in the middle of a job, which has to end after what the block does."""
    await conn.execute("create table effects (n int primary key)")
    pipeline = counting()
    async with _fleet_at(url).working(dsn, pipeline, lease_floor_s=1.0, sweep_s=0.1, grace_s=0.5):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(200)])
        await until(conn, "count(*) >= 20 from effects")
        yield
        assert (await wait(dsn, job.job_id, timeout=90)).done == 200
    await assert_once(conn, 200)


def _fleet_at(url: str) -> Fleet:
    from forebay.fleet.brokers import dispatcher_port, runner_port

    return Fleet(lambda: dispatcher_port(url), lambda: runner_port(url))


async def test_what_runners_may_not_write_is_refused(dsn: str, conn: Conn, jetstream: Fleet) -> None:
    await conn.execute("create table notes (id int primary key)")
    pipeline = kinds()
    async with jetstream.working(dsn, pipeline):
        job = await pipeline.submit_many(conn, [{"do": "statement"}, {"do": "foreign"}])
        assert (await wait(dsn, job.job_id, timeout=30)).error == 2
    reasons = [row[0] for row in await conn.fetch("select error ->> 'reason' from forebay.item order by n")]
    assert "cannot return a Statement" in reasons[0]
    assert "may not write into forebay.job" in reasons[1]


async def test_a_step_without_a_runner_is_left_to_workers(dsn: str, conn: Conn, jetstream: Fleet) -> None:
    """Also after a runner of an older release, which does not know the step, has come."""
    new: Pipeline[Input] = Pipeline("skewed", dict)
    old: Pipeline[Input] = Pipeline("skewed", dict)

    async def one(ctx: Context, value: Input) -> str:
        return "fleet"

    async def two(ctx: Context, value: Input) -> str:
        return "worker"

    new.step()(one)
    new.step()(two)
    old.step()(one)
    probe = passing()
    async with running(jetstream.dispatcher(dsn, new, probe)), running(jetstream.runner(old, probe)):
        job = await new.submit(conn, {})
        await until(conn, "coalesce(result, '{}') ? 'one' from forebay.item")
        passed = await probe.submit_many(conn, [{}] * 10)  # what could be claimed before them has been
        assert (await wait(dsn, passed.job_id, timeout=30)).done == 10
        assert await conn.fetchval("select count(*) from forebay.lease") == 0
        async with running(Worker(dsn, [new], settings=Settings(queues="skewed.two"))):
            assert (await wait(dsn, job.job_id, timeout=30)).done == 1


async def test_a_step_that_needs_the_database_parks_its_queue(dsn: str, conn: Conn, jetstream: Fleet) -> None:
    pipeline: Pipeline[Input] = Pipeline("needy", dict)

    @pipeline.step()
    async def step(ctx: Context, value: Input) -> None:
        async with ctx.transaction() as inner:
            await inner.execute("select 1")

    async with jetstream.working(dsn, pipeline):
        await pipeline.submit(conn, {})
        await until(conn, "parked is not null from forebay.queue where name = 'needy.step'")
    assert "needs_database=True" in await conn.fetchval("select parked from forebay.queue where name = 'needy.step'")


async def test_a_task_that_loses_its_runner_too_often_fails(dsn: str, conn: Conn, jetstream: Fleet) -> None:
    """The runner is cut off each time that it has the task, as if the task had killed it."""
    gate = Gate(max_expiries=2)
    dispatcher = jetstream.dispatcher(dsn, gate.pipeline, lease_floor_s=1.0, sweep_s=0.1)
    async with running(dispatcher):
        job = await gate.pipeline.submit(conn, {"n": 1})
        for _ in range(3):
            if (await conn.fetchval("select count(*) from forebay.item where status = 'ERROR'")) == 1:
                break
            runner = jetstream.runner(gate.pipeline, lease_floor_s=1.0)
            task = asyncio.create_task(runner.run())
            await runner.ready_or_failed(task)
            await gate.begun()
            task.cancel()  # without a last word
            await asyncio.gather(task, return_exceptions=True)
            await until(conn, "count(*) = 0 from forebay.lease")
        assert (await wait(dsn, job.job_id, timeout=30)).error == 1
    assert await conn.fetchval("select count(*) from forebay.attempt where outcome = 'EXPIRED'") >= 2


@pytest.mark.soak
async def test_workers_and_fleets_share_a_queue_and_take_over_without_a_drain(
    dsn: str, conn: Conn, jetstream: Fleet, bullmq: Fleet
) -> None:
    """A worker, a fleet over JetStream, one over BullMQ, and a worker again; each meets the one before."""
    await conn.execute("create table effects (n int primary key)")
    pipeline = counting()
    worker = Worker(dsn, [pipeline], settings=Settings(grace_s=5))
    async with AsyncExitStack() as stack:
        async with running(worker):
            job = await pipeline.submit_many(conn, [{"n": n} for n in range(1000)])
            await stack.enter_async_context(jetstream.working(dsn, pipeline))
            await until(conn, "count(distinct worker_id) = 2 from forebay.attempt")
            worker.stop()
            async with bullmq.working(dsn, pipeline):
                await until(conn, "count(distinct worker_id) = 3 from forebay.attempt")
                await stack.aclose()
                await until(conn, "count(*) >= 600 from effects")
        async with running(Worker(dsn, [pipeline])):
            assert (await wait(dsn, job.job_id, timeout=60)).done == 1000
    await assert_once(conn, 1000)


async def test_a_runner_hands_back_what_it_has_when_it_stops(dsn: str, conn: Conn, jetstream: Fleet) -> None:
    gate = Gate(concurrency=(2, 2), retry=Retry(attempts=1))
    async with running(jetstream.dispatcher(dsn, gate.pipeline)):
        first: StepRunner = jetstream.runner(gate.pipeline, grace_s=0.1)
        async with running(first):
            job = await gate.pipeline.submit_many(conn, [{"n": n} for n in range(4)])
            await gate.begun()
        gate.go.set()
        async with running(jetstream.runner(gate.pipeline)):
            assert (await wait(dsn, job.job_id, timeout=30)).done == 4
