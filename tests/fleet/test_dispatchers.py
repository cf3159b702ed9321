"""Dispatchers when the database, the broker or another dispatcher fails."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import nats
import pytest

from forebay import Context, Limit, Pipeline, Retry, Worker
from forebay.engine.db import control, tasks
from forebay.engine.submit.results import wait
from forebay.fleet import brokers, wire
from forebay.fleet.bullmq import BullMQDispatcher, BullMQRunner
from forebay.fleet.bullmq.links import Link
from forebay.fleet.credits import FleetMembers
from forebay.fleet.port import Beat, BrokerUnavailable, InputRequest, Offer, OfferedTask, Report, TaskEnd
from forebay.fleet.step_runner import StepRunner
from tests.fleet._nats import NatsCluster
from tests.fleet._pipelines import Gate, Input
from tests.fleet._polling import until
from tests.fleet._redis import RedisServer
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    import asyncpg

    from forebay.fleet.dispatcher import Dispatcher
    from forebay.fleet.port import DispatcherPort

    Conn = asyncpg.Connection[Any]


async def test_a_large_input_that_cannot_be_read_at_first(
    dsn: str, conn: Conn, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step with one attempt succeeds: neither the dispatcher's trouble nor that of the broker is one of the step."""
    pipeline: Pipeline[Input] = Pipeline("large", dict)

    @pipeline.step(retry=Retry(attempts=1))
    async def measure(ctx: Context, value: Input) -> int:
        return len(value["text"])

    read, failures = tasks.read_task, [ConnectionResetError("the connection was lost"), ValueError("a defect")]

    async def failing(*args: Any) -> tuple[str, str | None]:
        if failures:
            raise failures.pop()
        return await read(*args)

    monkeypatch.setattr(tasks, "read_task", failing)
    for adapter in ("bullmq", "jetstream"):
        monkeypatch.setattr(f"forebay.fleet.{adapter}.runner_side._INPUT_S", 1)
    async with fleet.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"text": "x" * 100_000})
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert not failures
    assert json.loads(await conn.fetchval("select result from forebay.item")) == {"measure": 100_000}


class _Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def _members(clock: _Clock, name: str = "2-a", steps: tuple[str, ...] = ("s", "t")) -> FleetMembers:
    members = FleetMembers(5.0, now=clock)
    members.name, members.steps = name, frozenset(steps)
    return members


def _of_dispatcher(name: str, *steps: str) -> Beat:
    return Beat(name, is_dispatcher=True, slots=dict.fromkeys(steps, 0))


def _pass(clock: _Clock, members: FleetMembers, seconds: int, *names: str) -> None:
    """Seconds pass, in each of which these are heard."""
    for _ in range(seconds):
        clock.at += 1
        for name in names:
            members.note(_of_dispatcher(name, "s"))
        members.forget_silent()


def test_a_dispatcher_is_silent_only_for_one_that_hears_itself() -> None:
    clock = _Clock()
    members = _members(clock)
    assert not members.is_silent("1-a")
    _pass(clock, members, 8, "2-a", "1-a")
    assert members.others == 1
    assert not members.is_silent("1-a")
    assert members.is_silent("7-unknown")
    _pass(clock, members, 60)  # the broker is gone
    assert members.others == 1
    assert not members.is_silent("1-a")
    _pass(clock, members, 4, "2-a")  # it is back, and the other one is not yet
    assert not members.is_silent("1-a")
    _pass(clock, members, 4, "2-a")
    assert members.is_silent("1-a")
    assert members.others == 0
    members.note(_of_dispatcher("1-a", "s"))
    assert not members.is_silent("1-a")


def test_one_dispatcher_continues_the_work_of_others() -> None:
    members = _members(_Clock(), "12-a", ("s",))
    for name, steps in (("13-a", ("s",)), ("9-a", ("other",))):
        members.note(_of_dispatcher(name, *steps))
        assert members.is_first()
    members.note(_of_dispatcher("9-b", "s", "other"))
    assert not members.is_first()
    members.note(Beat("9-b", is_dispatcher=True, is_last=True))
    assert members.is_first()
    members.note(Beat("3-old-release", is_dispatcher=True))
    assert not members.is_first()


@pytest.mark.parametrize("slots", [0, 1, 2, 3, 7])
def test_the_shares_of_dispatchers_are_the_slots_of_the_runners(slots: int) -> None:
    names = ("2-a", "10-a", "10-b")
    shares: dict[str, list[int]] = {}
    for name in names:
        members = _members(_Clock(), name)
        for other in set(names) - {name}:
            members.note(_of_dispatcher(other, "s", "t"))
        members.note(_of_dispatcher("1-a", "other"))  # does not take these steps
        for runner in ("r", "q"):
            members.note(Beat(runner, slots={"s": 9, "t": 9}))
        members.note(Beat("q", is_last=True))
        members.note(Beat("r", slots={"s": slots, "t": slots}))
        for step in ("s", "t"):
            shares.setdefault(step, []).append(members.slots(step))
    for each in shares.values():
        assert sum(each) == slots
        assert max(each) - min(each) <= 1


async def _all(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds in this process."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_an_outage_of_the_broker_makes_no_dispatcher_adopt_another(dsn: str, conn: Conn, tmp_path: Path) -> None:
    """The outage is longer than a dispatcher may be silent, and the runner has offers of both."""
    gate = Gate(concurrency=(2, 2))
    with RedisServer(tmp_path) as server:
        fleet = Fleet(partial(BullMQDispatcher, server.url), partial(BullMQRunner, server.url))
        both = [fleet.dispatcher(dsn, gate.pipeline, lease_floor_s=4.0) for _ in range(2)]
        for each in both:
            each._lost_s = 60.0  # the tasks go on, however long the server takes to start
        async with running(both[0]), running(both[1]):
            await _all(lambda: all(each._members.others == 1 for each in both))
            async with running(fleet.runner(gate.pipeline, lease_floor_s=4.0)):
                job = await gate.pipeline.submit_many(conn, [{"n": n} for n in range(2)])
                assert {await gate.begun(), await gate.begun()} == {0, 1}
                assert [len(each._offers.open) for each in both] == [1, 1]
                server.kill()
                await _all(lambda: all(each._members.runners == 0 for each in both))
                server.start()
                await _all(lambda: all(each._members.runners == 1 and each._members._hears for each in both))
                assert all(each._members.others == 1 for each in both)
                assert not any(each._adoption.dispatchers for each in both)
                gate.go.set()
                assert (await wait(dsn, job.job_id, timeout=60)).done == 2
    assert sorted(gate.runs) == [0, 1]
    assert await conn.fetchval("select count(distinct worker_id) from forebay.attempt where outcome = 'DONE'") == 2


@asynccontextmanager
async def _killed(dispatcher: Dispatcher) -> AsyncIterator[asyncio.Task[None]]:
    """A dispatcher that ends without a last word when its task is cancelled."""
    task = asyncio.create_task(dispatcher.run())
    await dispatcher.ready_or_failed(task)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_the_work_of_a_dead_dispatcher_is_under_control(dsn: str, conn: Conn, fleet: Fleet) -> None:
    """Its leases are kept, its tasks report their progress and their results, and are cancelled."""
    gate = Gate(concurrency=(4, 4))
    floor = {"lease_floor_s": 4.0}
    dying = fleet.dispatcher(dsn, gate.pipeline, **floor)
    async with _killed(dying) as dies, running(fleet.runner(gate.pipeline, **floor)):
        jobs = [await gate.pipeline.submit(conn, {"n": n}) for n in range(4)]
        assert {await gate.begun() for _ in jobs} == {0, 1, 2, 3}
        await until(conn, "count(*) = 1 from forebay.worker where stats ? 'dispatcher'")
        survivor = fleet.dispatcher(dsn, gate.pipeline, **floor)
        async with running(survivor):
            dies.cancel()
            await asyncio.wait({dies})
            await conn.execute("delete from forebay.lease where job_id = $1", jobs[3].job_id)
            await until(conn, f"count(*) = 3 from forebay.lease where worker_id = {survivor.worker_id}")
            assert list(survivor._adoption.dispatchers) == [dying._offers.name]
            await _all(lambda: gate.cancelled == [3])  # nobody waits for it: the runner is told to drop it
            gate.contexts[1].progress(0.5, "half way")
            await until(conn, "progress ->> 'note' = 'half way' from forebay.item where job_id = 2")
            assert await control.cancel(conn, jobs[0].job_id, "admin")
            await _all(lambda: gate.cancelled == [3, 0])
            await conn.execute("delete from forebay.lease where job_id = $1", jobs[2].job_id)
            await _all(lambda: gate.cancelled == [3, 0, 2])
            gate.go.set()
            assert (await wait(dsn, jobs[1].job_id, timeout=60)).done == 1
    assert sorted(gate.runs) == [0, 1, 2, 3]
    ends = await conn.fetch("select job_id, attempt, outcome::text from forebay.attempt order by job_id")
    assert [tuple(row) for row in ends] == [(1, 1, "CANCELLED"), (2, 1, "DONE")]


async def test_leases_of_direct_workers_are_not_for_runners(
    dsn: str, conn: Conn, jetstream: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports that name the lease of a worker change nothing."""
    gate = Gate()
    elsewhere: Pipeline[Input] = Pipeline("elsewhere", dict)

    @elsewhere.step()
    async def step(ctx: Context, value: Input) -> int:
        return 1

    port = jetstream.runner_port()
    dispatcher = jetstream.dispatcher(dsn, gate.pipeline, elsewhere)
    async with running(Worker(dsn, [gate.pipeline])), running(dispatcher), running(jetstream.runner(elsewhere)):
        await port.open("liar", [])
        job = await gate.pipeline.submit(conn, {"n": 1})
        await gate.begun()
        token = await conn.fetchval("select token from forebay.lease")
        end = TaskEnd(token, 1, 0.1, {"kind": "done", "result": '"forged"'})
        report = Report("x:1", dispatcher._offers.name, "liar", (end,))
        await port.report([report])
        with monkeypatch.context() as forging:
            forged = wire.encode(replace(report, dispatcher="9-x"))
            forging.setattr(wire, "encode", lambda *_: forged)
            await port.report([report])
        # What is reported after it has been handled after it.
        other = await elsewhere.submit(conn, {})
        assert (await wait(dsn, other.job_id, timeout=30)).done == 1
        gate.go.set()
        assert (await wait(dsn, job.job_id, timeout=30)).done == 1
        await port.close()
    assert json.loads(await conn.fetchval("select result from forebay.item where job_id = $1", job.job_id)) == {
        "hold": 1
    }


async def test_reports_of_a_dispatcher_that_was_released_come_to_it(fleet: Fleet) -> None:
    def report(n: int) -> Report:
        return Report(f"o{n}", "1-a", "r", (TaskEnd(1, 1, 0.5, {"kind": "done"}),))

    survivor, returned, runner = fleet.dispatcher_port(), fleet.dispatcher_port(), fleet.runner_port()
    await survivor.open("2-b", ["s"], _no_input)
    await survivor.adopt("1-a")
    await runner.open("r", ["s"])
    await runner.report([report(0)])
    async with asyncio.timeout(30):
        assert await anext(survivor.reports()) == [report(0)]
    await survivor.release("1-a")
    await returned.open("1-a", ["s"], _no_input)
    async with asyncio.timeout(30):
        received = asyncio.create_task(_next_reports(returned))
        n = 0
        while not received.done():  # the survivor may still take one that is on its way
            n += 1
            await runner.report([report(n)])
            await asyncio.wait({received}, timeout=0.1)
    for port in (runner, returned, survivor):
        await port.close()


async def _next_reports(port: DispatcherPort) -> Sequence[Report]:
    return await anext(port.reports())


@pytest.fixture(params=["jetstream", "bullmq"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NatsCluster | RedisServer]:
    """The server of a broker, which has not started."""
    found = NatsCluster(tmp_path, 1) if request.param == "jetstream" else RedisServer(tmp_path)
    yield found
    found.kill()


async def test_a_dispatcher_waits_for_its_broker(
    dsn: str, conn: Conn, broker: NatsCluster | RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """One that is stopped meanwhile ends as usual."""
    gate = Gate()
    gate.go.set()
    fleet = Fleet(partial(brokers.dispatcher_port, broker.url), partial(brokers.runner_port, broker.url))
    waiting, stopped = fleet.dispatcher(dsn, gate.pipeline), fleet.dispatcher(dsn, gate.pipeline)
    tasks = [asyncio.create_task(each.run()) for each in (waiting, stopped)]
    await until(conn, "count(*) = 2 from forebay.worker where stats ? 'dispatcher'")
    stopped.stop()
    await tasks[1]
    assert "dispatcher_started" not in caplog.text
    assert await conn.fetchval("select array_agg(id) from forebay.worker where stopped_at is not null") == [
        stopped.worker_id
    ]
    broker.start()
    await waiting.ready_or_failed(tasks[0])
    async with running(fleet.runner(gate.pipeline)):
        job = await gate.pipeline.submit(conn, {"n": 1})
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    waiting.stop()
    await tasks[0]


async def test_a_runner_that_is_stopped_before_it_reaches_its_broker_ends_as_usual(
    broker: NatsCluster | RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    runner = StepRunner(brokers.runner_port(broker.url), [Gate().pipeline])
    task = asyncio.create_task(runner.run())
    await _all(lambda: "broker_awaited" in caplog.text)
    runner.stop()
    await task
    assert "runner_started" not in caplog.text


async def test_a_dispatcher_that_stops_leaves_its_share_to_the_others(dsn: str, conn: Conn, fleet: Fleet) -> None:
    gate = Gate(concurrency=(5, 5))
    floor = {"lease_floor_s": 120.0}  # nobody would be silent for long enough during this test
    stays = fleet.dispatcher(dsn, gate.pipeline, **floor)
    async with running(stays):
        async with (
            running(fleet.dispatcher(dsn, gate.pipeline, **floor)),
            running(fleet.runner(gate.pipeline, **floor)),
        ):
            await _all(lambda: stays._members.others == 1 and 2 <= stays._members.slots("gate.hold") <= 3)
        await _all(lambda: stays._members.others == 0)
        async with running(fleet.runner(gate.pipeline, **floor)):
            await _all(lambda: stays._members.slots("gate.hold") == 5)


async def test_two_dispatchers_offer_one_slot_once(dsn: str, conn: Conn, fleet: Fleet) -> None:
    """The step takes longer than an offer waits for a runner."""
    gate = Gate(concurrency=(1, 1))
    floor = {"lease_floor_s": 2.0}
    both = [fleet.dispatcher(dsn, gate.pipeline, **floor) for _ in range(2)]
    async with running(both[0]), running(both[1]):
        await _all(lambda: all(each._members.others == 1 for each in both))
        async with running(fleet.runner(gate.pipeline, **floor)):
            await _all(lambda: all(each._members.runners == 1 for each in both))
            job = await gate.pipeline.submit_many(conn, [{"n": n} for n in range(3)])
            await gate.begun()
            for dispatcher in both:
                await dispatcher.poll()
            await until(conn, "min(claimed_at) < clock_timestamp() - interval '2.2 s' from forebay.lease")
            assert await conn.fetchval("select count(*) from forebay.lease") == 1
            assert len(gate.runs) == 1
            gate.go.set()
            assert (await wait(dsn, job.job_id, timeout=60)).done == 3
    assert sorted(gate.runs) == [0, 1, 2]
    assert await conn.fetchval("select count(*) from forebay.attempt where outcome <> 'DONE'") == 0


async def test_offers_that_nobody_takes_leave_redis(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that a runner had begun to take when it was killed."""
    monkeypatch.setattr("forebay.fleet.bullmq.dispatcher_side._DROP_EVERY_S", 0.05)
    url = f"{redis_server.url}?prefix=old"

    def kept() -> list[str]:
        return [key for state in ("wait", "active", "[0-9]*") for key in redis_server.keys(f"old:offers-s:{state}")]

    task = OfferedTask(1, 1, 1, 1, 1, "{}")
    port = BullMQDispatcher(url)
    await port.open("1-a", ["s"], _no_input)
    killed = Link(url)
    taken = killed.taking("offers", "s")
    try:
        for n in range(2):
            await port.offer("s", [Offer(f"1-a:{n}", "1-a", "s", (task,))])
        while (job := await taken._next()) is None:
            pass
        await killed.redis.delete(f"old:offers-s:{job.id}:lock")  # as after thirty seconds
        assert kept() == ["old:offers-s:wait", "old:offers-s:active", "old:offers-s:1", "old:offers-s:2"]
        monkeypatch.setattr("forebay.fleet.bullmq.dispatcher_side.OFFER_SECONDS", 0.0)
        await _all(lambda: kept() == [])
    finally:
        await port.close()
        await killed.close()


async def test_a_cluster_that_is_too_small_for_three_replicas(tmp_path: Path) -> None:
    """Only a stream that exists is taken as it is; what else is wrong is said."""
    cluster = NatsCluster(tmp_path, 2)

    async def opened(url: str) -> None:
        port = brokers.dispatcher_port(url)
        try:
            await port.open("1-a", ["s"], _no_input)
        finally:
            await port.close()

    cluster.start()
    try:
        await cluster.wait_until_ready()
        with pytest.raises(BrokerUnavailable, match="no suitable peers") as refused:
            await opened(f"{cluster.url}/shop")
        fix = (
            ": 3 replicas need as many servers with free storage; ?replicas=1 in FOREBAY_BROKER_URL sets another number"
        )
        assert str(refused.value).endswith(fix)
        await opened(f"{cluster.url}/shop?replicas=1")
        await opened(f"{cluster.url}/shop")  # its streams exist
        client = await nats.connect(cluster.url.split(","))
        await client.jetstream().add_stream(name="other", subjects=["mall.offer.x"])
        await client.close()
        with pytest.raises(BrokerUnavailable, match="the stream mall-offer cannot be made: subjects overlap"):
            await opened(f"{cluster.url}/mall?replicas=1")
    finally:
        cluster.kill()


async def _no_input(_: InputRequest) -> None:
    return None


async def test_limits_count_the_tasks_of_a_dead_dispatcher(
    dsn: str, conn: Conn, jetstream: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its slots of a limit would expire, although its tasks run on."""
    for module in ("limiters", "limit_leases"):
        monkeypatch.setattr(f"forebay.engine.limits.{module}.SLOT_LEASE", 4.0)
    limits = [Limit("all", concurrency=1), Limit("each", concurrency=1, key=lambda value: str(value["n"]))]
    gate = Gate(concurrency=(4, 4), limits=limits)
    floor = {"lease_floor_s": 4.0}
    dying, runner = jetstream.dispatcher(dsn, gate.pipeline, **floor), jetstream.runner(gate.pipeline, **floor)
    async with _killed(dying) as dies, running(runner):
        first = await gate.pipeline.submit(conn, {"n": 1})
        await gate.begun()
        await until(conn, "count(*) = 1 from forebay.worker where stats ? 'dispatcher'")
        survivor = jetstream.dispatcher(dsn, gate.pipeline, **floor)
        async with running(survivor):
            dies.cancel()
            await asyncio.wait({dies})
            ends = await conn.fetchval("select max(expires_at) from forebay.slot_lease")
            await until(conn, f"count(*) = 1 from forebay.lease where worker_id = {survivor.worker_id}")
            second = await gate.pipeline.submit(conn, {"n": 2})
            await until(conn, f"clock_timestamp() > '{ends}'::timestamptz + interval '0.5 s'")
            await survivor.poll()
            held = await conn.fetch("select worker_id, name, slots from forebay.slot_lease where key in ('', '1')")
            assert {tuple(row) for row in held} == {(survivor.worker_id, name, 1) for name in ("all", "each")}
            assert gate.runs == [1]
            gate.go.set()
            for job in (first, second):
                assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert gate.runs == [1, 2]
