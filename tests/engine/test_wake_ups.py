"""A wake-up reaches all workers: one claims at once, the others later, and one claim covers many wake-ups."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from forebay import Context, Pipeline, Worker
from forebay.engine.db import registry
from forebay.engine.work.wake_ups import WakeUps
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg


class Received:
    """One of three workers, with the timers that it has set."""

    def __init__(self, worker_id: int, *, is_active: bool = False) -> None:
        self.woken: list[tuple[int, int, int]] = []
        self.timers: list[tuple[float, asyncio.TimerHandle]] = []
        self.wake_ups = WakeUps(
            worker_id,
            1.0,
            wake=lambda *lane: self.woken.append(lane),
            is_active=lambda _step, _lane: is_active,
            call_later=self._call_later,
        )
        self.wake_ups.set_workers([5, 6, 9])

    def _call_later(self, pause: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        timer = asyncio.TimerHandle(0.0, call, (), loop)
        self.timers.append((pause, timer))
        return timer

    def fire(self) -> None:
        for _, timer in self.timers:
            if not timer.cancelled():
                timer._run()


async def test_each_wake_up_is_handled_at_once_by_one_worker_and_later_by_the_others() -> None:
    at_once: list[int] = []
    for seq in range(30):
        workers = [Received(worker_id) for worker_id in (5, 6, 9)]
        for worker in workers:
            worker.wake_ups.add(1, 7, seq)
        assert sorted(pause for worker in workers for pause, _ in worker.timers) == [0.005, 0.02]
        (first,) = [place for place, worker in enumerate(workers) if worker.woken]
        at_once.append(first)
        for worker in workers:
            worker.fire()
        assert [worker.woken for worker in workers] == [[(1, 7, seq)]] * 3
    assert set(at_once) == {0, 1, 2}


async def test_one_claim_covers_all_wake_ups_of_a_lane() -> None:
    worker = Received(5)
    pauses = {seq: worker.wake_ups._pause(seq) for seq in range(100, 200)}
    late, soon = (
        sorted(seq for seq in pauses if pauses[seq] == pause)[:3] for pause in sorted(set(pauses.values()))[:0:-1]
    )
    for seq in (late[1], late[0], late[2], soon[1], soon[0]):
        worker.wake_ups.add(1, 7, seq)
    assert [pause for pause, _ in worker.timers] == [0.02, 0.005]
    assert worker.woken == []
    worker.fire()
    assert worker.woken == [(1, 7, min(late[0], soon[0]))]  # nothing may be missed below it


async def test_a_wake_up_that_is_handled_at_once_covers_those_that_wait() -> None:
    worker = Received(5)
    by_pause = sorted(range(100, 200), key=worker.wake_ups._pause)
    worker.wake_ups.add(1, 7, by_pause[-1])
    worker.wake_ups.add(1, 7, by_pause[0])
    assert worker.woken == [(1, 7, min(by_pause[-1], by_pause[0]))]
    worker.fire()
    assert len(worker.woken) == 1


async def test_a_worker_that_claims_from_the_lane_anyway_does_not_wait() -> None:
    for seq in range(10):
        worker = Received(5, is_active=True)
        worker.wake_ups.add(1, 7, seq)
        assert worker.woken == [(1, 7, seq)]


async def test_a_worker_alone_does_not_wait() -> None:
    worker = Received(5)
    worker.wake_ups.set_workers([5])
    worker.wake_ups.add(1, 7, 100)
    assert worker.woken == [(1, 7, 100)]


async def test_wake_ups_that_the_next_poll_precedes_are_left_to_it() -> None:
    worker = Received(5)
    worker.wake_ups.set_workers([*range(5, 105)])
    for seq in range(100):
        worker.wake_ups.add(seq, 7, seq)
    assert max(pause for pause, _ in worker.timers) < 1.0
    assert len(worker.timers) < 30
    worker.wake_ups.close()
    worker.fire()
    assert len(worker.woken) < 5


async def test_workers_know_the_live_workers_of_their_steps(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    first: Pipeline[dict[str, int]] = Pipeline("first", dict)
    second: Pipeline[dict[str, int]] = Pipeline("second", dict)

    @first.step()
    async def one(ctx: Context, value: dict[str, int]) -> None: ...

    @second.step()
    async def two(ctx: Context, value: dict[str, int]) -> None: ...

    workers = [Worker(dsn, pipelines, settings=Settings()) for pipelines in ([first], [second], [first, second])]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    for worker, run in zip(workers, running, strict=True):
        await worker.ready_or_failed(run)
    ids = [worker.worker_id for worker in workers]
    try:
        for worker, known in zip(workers, ([0, 2], [1, 2], [0, 1, 2]), strict=True):
            _, found = await registry.report_status(worker._pool, worker.worker_id, {}, 0, None)
            assert found == sorted(ids[place] for place in known)
        await conn.execute("update forebay.worker set seen_at = seen_at - interval '1 minute' where id = $1", ids[2])
        assert (await registry.report_status(workers[0]._pool, ids[0], {}, 0, None))[1] == [ids[0]]
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
