"""Why work waits: a real situation for each reason that concerns a worker with tasks, and limits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from forebay import Context, Limit, Pipeline
from forebay.engine.why import find
from forebay.engine.work.worker import Worker
from forebay.settings import Settings
from forebay.testing import ManualClock
from tests.engine._why import Asking, asking, codes, met


class Gate:
    """Tasks that run until they are let go."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.opened = asyncio.Event()

    async def __call__(self, ctx: Context, value: str) -> str:
        ctx.progress(0.4, "opening the page")
        self.running.append(value)
        await self.opened.wait()
        return value


@pytest.fixture
async def gate() -> Gate:
    return Gate()


def _gated(gate: Gate, *limits: Limit, most: int = 1, name: str = "gated") -> Pipeline[str]:
    pipeline: Pipeline[str] = Pipeline(name, str)

    @pipeline.step(concurrency=(1, most), limits=limits)
    async def hold(ctx: Context, value: str) -> str:
        return await gate(ctx, value)

    return pipeline


async def test_a_task_runs_and_the_next_ones_wait_for_its_slot(dsn: str, gate: Gate) -> None:
    gated = _gated(gate)
    async with asking(dsn, gated, settings=Settings(claim_max=1)) as ask:
        first, second = await ask.bed.submit(gated, "1"), await ask.bed.submit(gated, "2")
        await ask.claim(lambda: bool(gate.running))
        await ask.bed.worker._runtime.progress.flush()
        await ask.report()
        (reason,) = await ask.item(first)
        assert (reason.code, reason.actions) == ("running", ("cancel_item",))
        (said,) = ask.said
        assert said == "hold: has been running on w1 for 2.0 s (attempt 1 of 3), 40%: opening the page."
        assert {**reason.facts, "worker": ""} == {
            "worker": "",
            "attempt": 1,
            "max_attempts": 3,
            "fraction": 0.4,
            "note": "opening the page",
        }
        (reason,) = await ask.item(second)
        assert (reason.code, reason.facts) == ("workers_full", {"workers": 1, "running": 1, "slots": 1})
        assert ask.said == ["hold: all slots are in use (1 of 1 on 1 worker)."]
        assert codes(await ask.queue("gated.hold")) == ["workers_full"]
        gate.opened.set()


async def test_a_worker_has_claimed_more_than_it_runs(dsn: str, gate: Gate) -> None:
    gated = _gated(gate)
    async with asking(dsn, gated, settings=Settings(claim_min=5)) as ask:
        job = await gated.submit_many(ask.bed.pool, ["1", "2", "3"])
        await ask.claim(lambda: bool(gate.running))
        await ask.report()
        assert codes(await ask.item(job, 1)) == ["running"]
        (reason,) = await ask.item(job, 3)
        assert reason.code == "claimed"
        assert (reason.facts["queued"], reason.facts["running"], reason.facts["slots"]) == (2, 1, 1)
        reasons = await ask.job(job)
        assert codes(reasons) == ["running", "claimed"]
        assert [(reason.facts["tasks"], reason.actions) for reason in reasons] == [(3, ()), (3, ())]

        # Cancelled: the worker learns it with its next heartbeat.
        await ask.call("select forebay.cancel($1)", job.job_id)
        reasons = await ask.item(job, 1)
        assert [(reason.code, reason.step) for reason in reasons] == [("cancelling", None), ("cancelling", "hold")]
        assert codes(await ask.job(job)) == ["cancelling", "cancelling"]
        gate.opened.set()


async def test_a_batch_waits_until_it_is_full(dsn: str) -> None:
    numbers: Pipeline[int] = Pipeline("numbers", int)

    @numbers.batch_step(size=5, linger=50)
    async def double(ctx: Context, values: Sequence[int]) -> list[int]:
        return [2 * value for value in values]

    async with asking(dsn, numbers) as ask:
        job = await ask.bed.submit(numbers, 1)
        (executor,) = ask.bed.worker._executors.values()
        await ask.claim(lambda: executor.describe()["lingers"] is not None)
        await ask.report()
        (reason,) = await ask.item(job)
        assert reason.code == "batch_lingers"
        assert (reason.facts["queued"], reason.facts["batch"], reason.facts["linger_seconds"]) == (1, 5, 50)
        await numbers.submit_many(ask.bed.pool, range(4))
        await ask.bed.worker.drain()


async def test_a_result_is_being_saved(dsn: str, gate: Gate, conn: asyncpg.Connection[Any]) -> None:
    gated = _gated(gate)
    gate.opened.set()
    async with asking(dsn, gated) as ask:
        job = await ask.bed.submit(gated, "1")
        async with conn.transaction():
            await conn.execute("select from forebay.item for update")
            (executor,) = ask.bed.worker._executors.values()
            await ask.claim(lambda: executor.ends.succeeded == 1)
            await ask.report()
            assert codes(await ask.item(job)) == ["settling"]
        await ask.bed.worker.drain()
        assert await ask.item(job) == []


async def test_a_worker_is_lost(dsn: str, gate: Gate, conn: asyncpg.Connection[Any]) -> None:
    """It ends without a chance to hand its tasks back."""
    gated, clock = _gated(gate), ManualClock()
    worker = Worker(dsn, [gated], settings=Settings(listen=False), clock=clock)
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    job = await gated.submit(conn, "1")
    await worker.poll()
    await met(lambda: bool(gate.running))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    answer = await find.of_item(conn, job.job_id, 1, now=clock.now())
    assert (answer.status, codes(answer.reasons)) == ("PROCESSING", ["running"])
    clock.advance(worker.settings.lease_floor_s + 1)
    (reason,) = (await find.of_item(conn, job.job_id, 1, now=clock.now())).reasons
    assert (reason.code, "worker" in reason.facts) == ("worker_lost", True)
    await conn.execute("delete from forebay.worker")
    (reason,) = (await find.of_item(conn, job.job_id, 1, now=clock.now())).reasons
    assert (reason.code, "worker" in reason.facts) == ("worker_lost", False)
    gate.opened.set()


async def test_limits_with_keys(dsn: str, gate: Gate) -> None:
    slots = _gated(gate, Limit("site", concurrency=1, key=lambda value: value[:1]), most=10, name="slots")
    rates = _gated(gate, Limit("calls", rate=1, per=3600, key=lambda value: value[:1]), most=10, name="rates")
    async with asking(dsn, slots, rates) as ask:
        first = [await ask.bed.submit(pipeline, "a1", owner="ann") for pipeline in (slots, rates)]
        await ask.claim(lambda: len(gate.running) == 2)
        later = [await ask.bed.submit(pipeline, "a2", owner="ben") for pipeline in (slots, rates)]
        await ask.bed.worker.poll()
        await _moved(ask, 2)
        await ask.report()
        assert [codes(await ask.item(job)) for job in first] == [["running"], ["running"]]
        (reason,) = await ask.item(later[0])
        expected = {"limit": "site", "key": "a", "slots": 1, "in_use": 1, "owners": 0, "ahead": 0}
        assert (reason.code, reason.facts) == ("slots_full", expected)
        (reason,) = await ask.item(later[1])
        expected = {"limit": "calls", "key": "a", "rate": 1, "per_seconds": 3600, "in_use": 0, "owners": 0, "ahead": 0}
        assert (reason.code, reason.facts) == ("rate_limited", expected)
        assert reason.until is not None
        assert reason.until > ask.bed.clock.now()
        assert ask.said == ["hold: limit calls of a: 1 per 1 h, the next start is in 59 min 58 s."]
        gate.opened.set()


_IN_LANES_OF_KEYS = (
    "select count(*) from forebay.ready r join forebay.lane l on l.id = r.lane_id where l.limit_name <> ''"
)


async def _moved(ask: Asking, count: int) -> None:
    """Wait until so many tasks are in lanes of keys."""
    async with asyncio.timeout(30):
        while (await ask.call(_IN_LANES_OF_KEYS)) < count:
            pass


async def test_the_limit_of_an_owner(dsn: str, gate: Gate) -> None:
    gated = _gated(gate, most=10)
    async with asking(dsn, gated, settings=Settings(owner_concurrency=1)) as ask:
        await ask.bed.submit(gated, "1", owner="ann")
        await ask.claim(lambda: len(gate.running) == 1)
        second = await ask.bed.submit(gated, "2", owner="ann")
        await ask.bed.worker.poll()
        await _moved(ask, 1)
        await ask.report()
        (reason,) = await ask.item(second)
        expected = {"limit": "owner", "slots": 1, "in_use": 1, "owners": 0, "ahead": 0}
        assert (reason.code, reason.facts) == ("owner_limit", expected)
        assert ask.said == ["hold: its owner may run 1 task at a time."]
        gate.opened.set()


async def test_limits_without_keys(dsn: str, gate: Gate) -> None:
    slots = _gated(gate, Limit("gpu", concurrency=1), most=10, name="slots")
    rates = _gated(gate, Limit("mails", rate=1, per=3600), most=10, name="rates")
    async with asking(dsn, slots, rates) as ask:
        for pipeline in (slots, rates):
            await ask.bed.submit(pipeline, "1")
        await ask.claim(lambda: len(gate.running) == 2)
        ask.bed.worker._claimer.close()
        later = [await ask.bed.submit(pipeline, "2") for pipeline in (slots, rates)]
        await ask.report()
        (reason,) = await ask.item(later[0])
        assert (reason.code, reason.facts) == ("slots_full", {"limit": "gpu", "slots": 1, "in_use": 1})
        assert ask.said == ["hold: limit gpu: 1 at a time, 1 in use."]
        (reason,) = await ask.item(later[1])
        expected = {"limit": "mails", "rate": 1, "per_seconds": 3600}
        assert (reason.code, reason.facts) == ("rate_limited", expected)
        assert codes(await ask.queue("slots.hold")) == ["slots_full"]
        gate.opened.set()
