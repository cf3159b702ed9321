"""A wake-up reaches all workers: one claims at once, another one later, the others if those have no room."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Pipeline, Worker
from forebay.engine.db import registry
from forebay.engine.work.peers import Peers
from forebay.engine.work.wake_ups import WakeUps
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg


class Received:
    """One of some workers, with the timers that it has set and what it has passed on."""

    def __init__(
        self, worker_id: int, workers: list[int] | None = None, *, is_active: bool = False, has_room: bool = True
    ) -> None:
        self.woken: list[tuple[int, int, int]] = []
        self.passed: list[tuple[int, int, int, int]] = []
        self.timers: list[tuple[float, asyncio.TimerHandle]] = []
        peers = Peers(worker_id)
        peers.learn([registry.WorkersOfSteps([1, 2], workers or [5, 6, 9])])
        self.wake_ups = WakeUps(
            peers,
            wake=lambda *lane: self.woken.append(lane),
            is_active=lambda _step, _lane: is_active,
            has_room=lambda _step: has_room,
            pass_on=lambda *told: self.passed.append(told),
            call_later=self._call_later,
        )

    def _call_later(self, pause: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        timer = asyncio.TimerHandle(0.0, call, (), loop)
        self.timers.append((pause, timer))
        return timer

    def fire(self) -> None:
        for _, timer in self.timers:
            if not timer.cancelled():
                timer._run()


async def test_one_worker_claims_at_once_and_one_more_in_case_the_first_has_died() -> None:
    at_once: list[int] = []
    for seq in range(100):
        workers = [Received(worker_id, [*range(5, 69)]) for worker_id in range(5, 69)]
        for worker in workers:
            worker.wake_ups.add(1, 7, seq)
        (first,) = [place for place, worker in enumerate(workers) if worker.woken]
        at_once.append(first)
        for worker in workers:
            worker.fire()
        assert [worker.woken for worker in workers if worker.woken] == [[(1, 7, seq)]] * 2
        assert not any(worker.passed for worker in workers)
    assert len(set(at_once)) > 32


async def test_a_worker_without_room_tells_the_others_until_one_has_room() -> None:
    ids, seq, told = [*range(16)], 3, [(1, 7, 3, 0)]
    workers = [Received(worker_id, ids, has_room=False) for worker_id in ids]
    rounds: list[int] = []
    for message in told:
        for worker in workers:
            worker.wake_ups.add(*message)
        told += [each for worker in workers for each in worker.passed]
        rounds.append(sum(len(worker.woken) for worker in workers))
        for worker in workers:
            worker.passed.clear()
            worker.woken.clear()
    assert told == [(1, 7, seq, number) for number in range(5)]
    assert rounds == [1, 2, 4, 8, 1]  # each worker once; nobody is left to be told by the last


async def test_the_second_worker_tells_the_others_if_the_first_did_not() -> None:
    workers = [Received(worker_id, has_room=False) for worker_id in (5, 6, 9)]
    for worker in workers:
        worker.wake_ups.add(1, 7, 3)
    (second,) = [worker for worker in workers if worker.timers]
    second.fire()
    assert (second.woken, second.passed) == ([(1, 7, 3)], [(1, 7, 3, 1)])


async def test_one_claim_covers_all_wake_ups_of_a_lane() -> None:
    worker = Received(5)
    place = {seq: _place(seq) for seq in range(100, 200)}
    first, second = ([seq for seq in place if place[seq] == rank] for rank in (0, 1))
    for seq in (second[1], second[0], second[2]):
        worker.wake_ups.add(1, 7, seq)
    assert (worker.woken, len(worker.timers)) == ([], 1)
    worker.wake_ups.add(1, 7, first[5])
    assert worker.woken == [(1, 7, min(second[0], first[5]))]  # nothing may be missed below it
    worker.fire()
    assert len(worker.woken) == 1


def _place(seq: int) -> int:
    worker = Received(5)
    worker.wake_ups.add(1, 7, seq)
    return 0 if worker.woken else 1 if worker.timers else 2


async def test_a_worker_that_claims_from_the_lane_anyway_does_not_wait() -> None:
    for seq in range(10):
        worker = Received(5, is_active=True)
        worker.wake_ups.add(1, 7, seq)
        assert worker.woken == [(1, 7, seq)]


async def test_a_worker_alone_does_not_wait() -> None:
    worker = Received(5, [5], has_room=False)
    worker.wake_ups.add(1, 7, 100)
    assert (worker.woken, worker.passed) == ([(1, 7, 100)], [])


async def test_workers_with_different_steps_agree_who_is_first() -> None:
    known_steps = {(1,): [3, 8], (1, 2): [5], (2,): [6]}
    groups = [registry.WorkersOfSteps(list(steps), ids) for steps, ids in known_steps.items()]
    seen = {3: groups[:2], 8: groups[:2], 5: groups, 6: groups[1:]}
    places = {}
    for worker_id, known in seen.items():
        peers = Peers(worker_id)
        peers.learn(known)
        places[worker_id] = peers.place(1), peers.place(2), peers.least
    assert places == {3: ((0, 3), (0, 1), 3), 8: ((2, 3), (0, 1), 3), 5: ((1, 3), (0, 2), 2), 6: ((0, 1), (1, 2), 2)}


async def listening(worker: Worker) -> None:
    while not worker._listener.is_listening:  # noqa: ASYNC110 - it has no event for this
        await asyncio.sleep(0.01)


@pytest.mark.direct
async def test_a_worker_whose_slots_are_full_passes_a_task_on(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """Nobody polls, and the second worker of a wake-up would claim after a minute."""
    long: Pipeline[dict[str, int]] = Pipeline("long", dict)
    started: asyncio.Queue[int] = asyncio.Queue()
    release = asyncio.Event()

    @long.step(concurrency=(1, 1))
    async def step(ctx: Context, value: dict[str, int]) -> None:
        await started.put(value["n"])
        await release.wait()

    workers = [Worker(dsn, [long], settings=Settings(poll_s=3600)) for _ in range(3)]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        for worker, run in zip(workers, running, strict=True):
            await worker.ready_or_failed(run)
        async with asyncio.timeout(60):
            for worker in workers:
                await listening(worker)
                await worker.report_status()
                worker._wake_ups._claim_later = lambda *_: None  # type: ignore[method-assign]
            for n in range(3):
                await long.submit(conn, {"n": n})
                assert await started.get() == n
    finally:
        release.set()
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)


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
            found = await registry.report_status(worker._pool, worker.worker_id, {}, 0, None)
            alive = sorted(each for group in found.workers for each in group.workers)
            assert alive == sorted(ids[place] for place in known)
        await conn.execute("update forebay.worker set seen_at = seen_at - interval '1 minute' where id = $1", ids[2])
        (alone,) = (await registry.report_status(workers[0]._pool, ids[0], {}, 0, None)).workers
        assert alone.workers == [ids[0]]
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
