"""Slots with short tasks leave the event loop to others: one of them resumes at a time, and not in every iteration."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Pipeline
from forebay.engine.work.slot_scheduler import SLICE_S, SlotScheduler
from forebay.testing import testbed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Iterations:
    """Counts the iterations of the event loop."""

    def __init__(self) -> None:
        self.number = 0

    async def count(self) -> None:
        while True:
            self.number += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def counted() -> AsyncIterator[Iterations]:
    iterations = Iterations()
    counting = asyncio.create_task(iterations.count())
    try:
        yield iterations
    finally:
        counting.cancel()


async def test_one_slot_resumes_at_a_time_and_the_event_loop_runs_in_between() -> None:
    scheduler, resumed = SlotScheduler(), list[int]()

    async def slot(iterations: Iterations) -> None:
        for _ in range(3):
            await scheduler.wait(1)
            resumed.append(iterations.number)

    async with counted() as iterations:
        await asyncio.gather(*(slot(iterations) for _ in range(4)))
    assert len(resumed) == 12
    assert min(later - earlier for earlier, later in pairwise(resumed)) == 4


async def test_steps_take_turns_however_many_slots_each_has() -> None:
    scheduler, resumed = SlotScheduler(), list[int]()

    async def slot(step_id: int) -> None:
        await scheduler.wait(step_id)
        resumed.append(step_id)

    await asyncio.gather(*(slot(1) for _ in range(4)), slot(2), slot(3))
    assert resumed == [1, 2, 3, 1, 1, 1]


async def test_a_slot_that_was_cancelled_does_not_use_a_turn() -> None:
    scheduler = SlotScheduler()
    first, second = (asyncio.create_task(scheduler.wait(1)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    async with asyncio.timeout(60):
        await second
    await scheduler.wait(1)


async def test_slots_whose_tasks_do_not_wait_never_run_in_the_same_iteration(dsn: str) -> None:
    """After the first tasks, when it is known that they do not wait."""
    busy: Pipeline[dict[str, int]] = Pipeline("busy", dict)
    seen: dict[int, set[object]] = defaultdict(set)

    @busy.step()
    async def work(ctx: Context, value: dict[str, int]) -> int:
        seen[iterations.number].add(asyncio.current_task())
        return sum(range(20_000))

    async with testbed(dsn, [busy], migrated=True) as bed, counted() as iterations:
        for _ in range(2):
            seen.clear()
            await busy.submit_many(bed.pool, [{"n": n} for n in range(500)])
            await bed.run()
    assert len(seen) > 2
    assert max(map(len, seen.values())) == 1


async def test_a_slot_runs_for_one_slice(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    busy: Pipeline[dict[str, int]] = Pipeline("busy", dict)
    seen: Counter[int] = Counter()

    @busy.step()
    async def work(ctx: Context, value: dict[str, int]) -> int:
        seen[iterations.number] += 1
        return 0

    async with testbed(dsn, [busy], migrated=True) as bed, counted() as iterations:
        monkeypatch.setattr(SlotScheduler, "shorten", lambda _scheduler, *, is_short: None)
        bed.worker._scheduler.slice_s = 0.0
        for _ in range(2):
            seen.clear()
            await busy.submit_many(bed.pool, [{"n": n} for n in range(100)])
            await bed.run()
    assert len(seen) == 100


async def test_slices_are_short_from_a_wake_up_until_its_tasks_are_claimed(dsn: str) -> None:
    pipeline: Pipeline[dict[str, int]] = Pipeline("new", dict)

    @pipeline.step()
    async def work(ctx: Context, value: dict[str, int]) -> None: ...

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await pipeline.submit(bed.pool, {"n": 1})
        step_id, scheduler = next(iter(bed.worker._executors)), bed.worker._scheduler
        bed.worker._claimer.waking.wake(step_id, await bed.pool.fetchval("select id from forebay.lane"))
        assert scheduler.slice_s < SLICE_S
        await bed.run()
        assert scheduler.slice_s == SLICE_S


async def test_slots_whose_tasks_wait_run_concurrently(dsn: str) -> None:
    waiting: Pipeline[dict[str, int]] = Pipeline("waiting", dict)
    started = 0
    together = asyncio.Event()

    @waiting.step(concurrency=(8, 8))
    async def meet(ctx: Context, value: dict[str, Any]) -> None:
        nonlocal started
        started += 1
        if started == 8:
            together.set()
        await together.wait()

    async with testbed(dsn, [waiting], migrated=True) as bed, asyncio.timeout(60):
        await waiting.submit_many(bed.pool, [{"n": n} for n in range(8)])
        await bed.run()
    assert started == 8


async def test_tasks_that_begin_to_wait_get_all_slots(dsn: str) -> None:
    """The tasks before did not wait, so two slots were enough."""
    mixed: Pipeline[dict[str, int]] = Pipeline("mixed", dict)
    started = 0
    together = asyncio.Event()

    @mixed.step(concurrency=(8, 8))
    async def run(ctx: Context, value: dict[str, int]) -> int:
        nonlocal started
        if value["n"] < 200:
            return sum(range(20_000))
        started += 1
        if started == 8:
            together.set()
        await together.wait()
        return 0

    async with testbed(dsn, [mixed], migrated=True) as bed, asyncio.timeout(60):
        await mixed.submit_many(bed.pool, [{"n": n} for n in range(208)])
        await bed.run()
    assert started == 8
