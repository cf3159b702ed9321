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

    for owner in range(4):
        await slow.submit_many(conn, [{"n": n} for n in range(3)], owner=f"owner {owner}", priority=owner % 2)
    async with working(dsn, slow) as worker, asyncio.timeout(60):
        (executor,) = worker._executors.values()
        executor.size.add(1.0)  # longer than what is claimed ahead
        for ended in range(6):
            await started.get()
            while worker.settled < ended:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.01)
            for _ in range(3):  # what the claim loops want while it runs
                await worker.poll()
                worker._claimer.on_capacity()
                await asyncio.sleep(0.05)
            assert await conn.fetchval(_LEASED) == 1
            executor.size.add(1.0)
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


class Marks:
    """The marks of one worker, as they are written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: list[tuple[list[tuple[int, int]], float]] = []
        self.unmarked: list[tuple[int, int]] = []
        self.now, self.polls = 1000.0, 0
        monkeypatch.setattr(tasks, "mark_busy_lanes", self._mark)
        pool: Any = None
        self.lanes = BusyLanes(
            pool, Clock(), self._poll, lambda: self.now, on_unmarked=lambda *pair: self.unmarked.append(pair)
        )

    async def _mark(self, _pool: object, pairs: list[tuple[int, int]], seconds: float, _now: object) -> None:
        self.written.append((pairs, seconds))

    def _poll(self) -> None:
        self.polls += 1


async def test_a_lane_that_waits_for_a_long_task_gets_wake_ups_again(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    marks.lanes.note(1, 7, is_full=True)
    await marks.lanes.write()
    marks.now += 5
    await marks.lanes.write()
    assert marks.written == [([(1, 7)], MARKED_FOR), ([(1, 7)], 0)]
    assert marks.polls == 1  # submits may have sent no wake-up
    assert marks.unmarked == [(1, 7)]  # others may have room for what was submitted


async def test_one_long_task_marks_no_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    marks.lanes.note(1, 7, is_full=True, is_long=True)
    await marks.lanes.write()
    assert marks.written == []
    marks.lanes.note(1, 7, is_full=True)
    await marks.lanes.write()
    for _ in range(3):
        marks.now += 1.5
        marks.lanes.note(1, 7, is_full=True, is_long=True)  # the backlog of what was short before
        await marks.lanes.write()
    assert marks.written == [([(1, 7)], MARKED_FOR)]


async def test_a_lane_is_marked_while_no_worker_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    marker, other = Marks(monkeypatch), Marks(monkeypatch)
    marker.lanes.note_all_full(1, 7, True)
    other.lanes.note_all_full(1, 7, False)
    for marks in (marker, other):
        monkeypatch.setattr(tasks, "mark_busy_lanes", marks._mark)
        for _ in range(4):
            await marks.lanes.write()
            marks.now += 1
    assert (marker.written, other.written) == ([([(1, 7)], MARKED_FOR)], [])
    other.lanes.note(1, 7, is_full=False)  # who finds it empty removes the mark
    await other.lanes.write()
    await other.lanes.write()
    assert (other.written, other.polls) == ([([(1, 7)], 0)], 2)
    marker.now += MARKED_FOR  # it has ended by itself
    marker.lanes.note(1, 7, is_full=False)
    await marker.lanes.write()
    assert (len(marker.written), marker.polls) == (1, 0)
