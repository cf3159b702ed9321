"""Many small workers: nobody holds what another could run, new ones are fair, and a long task hides no other."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from forebay import Context, Pipeline
from forebay.engine.clock import Clock
from forebay.engine.db import tasks
from forebay.engine.db.tasks import LaneInfo, Lease
from forebay.engine.work.busy_lanes import MARKED_FOR, BusyLanes
from forebay.engine.work.lanes import StepLanes
from tests.engine.test_worker import working

if TYPE_CHECKING:
    import asyncpg
    import pytest

_LEASED = "select coalesce(sum((select sum(upper(r) - lower(r)) from unnest(ns) r)), 0)::int from forebay.lease"


async def test_a_busy_worker_holds_no_task_that_another_could_run(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    slow: Pipeline[dict[str, int]] = Pipeline("slow", dict)
    started: asyncio.Queue[None] = asyncio.Queue()
    go_on: asyncio.Queue[None] = asyncio.Queue()

    @slow.step(concurrency=(1, 1))
    async def step(ctx: Context, value: dict[str, int]) -> None:
        await started.put(None)
        await go_on.get()
        await asyncio.sleep(0.15)  # longer than what is claimed ahead

    for owner in range(4):
        await slow.submit_many(conn, [{"n": n} for n in range(3)], owner=f"owner {owner}", priority=owner % 2)
    async with working(dsn, slow) as worker, asyncio.timeout(60):
        for _ in range(6):
            await started.get()
            for _ in range(3):  # what the claim loops want while it runs
                await worker.poll()
                worker._claimer.on_capacity()
                await asyncio.sleep(0.05)
            assert await conn.fetchval(_LEASED) == 1
            go_on.put_nowait(None)
        for _ in range(6):
            go_on.put_nowait(None)


def first_tasks(workers: int, weights: dict[int, float], rounds: int = 1) -> Counter[int]:
    """From which lanes so many new workers of one slot take their first tasks."""
    taken: Counter[int] = Counter()
    for _ in range(workers):
        lanes = StepLanes(1, spreads=True)
        for lane_id, weight in weights.items():
            lanes.learn(LaneInfo(lane_id, lane_id, 0, weight))
            lanes.wake(lane_id)
        for _ in range(rounds):
            (claim,) = lanes.pick(1)
            taken[claim.lane_id] += 1
            lease = Lease(1, 1, claim.lane_id, claim.lane_id, claim.lane_id, 1, 1, 10**6, 1, 1, [1], [""], None)
            lanes.claimed([claim], [lease])
    return taken


def test_new_workers_spread_over_the_owners() -> None:
    taken = first_tasks(400, dict.fromkeys(range(1, 5), 1.0))
    assert all(60 <= taken[lane_id] <= 140 for lane_id in range(1, 5)), taken  # 100 each; six standard deviations
    taken = first_tasks(400, {1: 4.0, 2: 1.0, 3: 1.0, 4: 2.0})
    assert 140 <= taken[1] <= 260, taken  # 200
    taken = first_tasks(100, dict.fromkeys(range(1, 5), 1.0), rounds=4)
    assert all(60 <= taken[lane_id] <= 140 for lane_id in range(1, 5)), taken


async def test_a_lane_that_waits_for_a_long_task_gets_wake_ups_again(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[list[tuple[int, int]], float]] = []
    now, polls = 1000.0, 0

    async def mark(_pool: object, pairs: list[tuple[int, int]], seconds: float, _now: object) -> None:
        written.append((pairs, seconds))

    def poll() -> None:
        nonlocal polls
        polls += 1

    monkeypatch.setattr(tasks, "mark_busy_lanes", mark)
    pool: Any = None
    lanes = BusyLanes(pool, Clock(), poll, lambda: now)
    lanes.note(1, 7, is_full=True)
    await lanes.write()
    now += 5
    await lanes.write()
    assert written == [([(1, 7)], MARKED_FOR), ([(1, 7)], 0)]
    assert polls == 1  # submits may have sent no wake-up
