"""A wake-up reaches all workers: one claims at once, another one later, the others if those have no room."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Pipeline, Worker
from forebay.engine.db import registry
from forebay.engine.work.peers import Peers
from forebay.engine.work.wake_ups import WakeUps
from forebay.settings import Settings
from tests.engine.test_worker import working

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
        self.all_told: list[tuple[int, int, bool]] = []
        self.timers: list[tuple[float, asyncio.TimerHandle]] = []
        self.is_active, self.has_room = is_active, has_room
        peers = Peers(worker_id)
        peers.learn([registry.WorkersOfSteps([1, 2], workers or [5, 6, 9])])
        self.wake_ups = WakeUps(
            peers,
            wake=lambda *lane: self.woken.append(lane),
            is_active=lambda _step, _lane: self.is_active,
            has_room=lambda _step: self.has_room,
            pass_on=lambda *told: self.passed.append(told),
            on_all_told=lambda *told: self.all_told.append(told),
            call_later=self._call_later,
        )

    def _call_later(self, pause: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        timer = asyncio.TimerHandle(0.0, call, (), loop)
        self.timers.append((pause, timer))
        return timer

    def fire(self, longest: float = 60.0) -> None:
        due = [timer for pause, timer in self.timers if pause <= longest and not timer.cancelled()]
        self.timers = [(pause, timer) for pause, timer in self.timers if pause > longest]
        for timer in due:
            timer._run()

    def take_passed(self) -> list[tuple[int, int, int, int]]:
        passed, self.passed[:] = [*self.passed], []
        return passed

    @property
    def pauses(self) -> list[float]:
        return [pause for pause, timer in self.timers if not timer.cancelled()]


def deliver(workers: list[Received], *told: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Send messages to all workers, and what they answer; return all of it."""
    messages = list(told)
    for message in messages:
        for worker in workers:
            worker.wake_ups.add(*message)
        for worker in workers:
            messages += worker.take_passed()
    return messages


async def test_one_worker_claims_at_once_and_one_more_in_case_the_first_has_died() -> None:
    at_once: list[int] = []
    for seq in range(100):
        workers = [Received(worker_id, [*range(5, 69)]) for worker_id in range(5, 69)]
        for worker in workers:
            worker.wake_ups.add(1, 7, seq)
        (first,) = [place for place, worker in enumerate(workers) if worker.woken]
        at_once.append(first)
        for worker in workers:
            worker.fire(longest=0.1)
        assert [worker.woken for worker in workers if worker.woken] == [[(1, 7, seq)]] * 2
        assert not any(worker.passed for worker in workers)
        assert sorted(worker.pauses for worker in workers if worker.pauses) == [[0.5], [0.6], [0.7]]  # who look then
    assert len(set(at_once)) > 32


async def test_no_wake_up_is_lost_with_half_of_the_workers() -> None:
    """Those of one host, whose numbers are neighbours; in each case one is told that something is left."""
    for seq in range(200):
        workers = [Received(worker_id, [*range(1, 9)]) for worker_id in range(5, 9)]
        deliver(workers, (1, 7, seq, 0))
        for longest in (0.1, 0.5, 0.6, 0.7):
            if not any(worker.woken for worker in workers):
                for worker in workers:
                    worker.fire(longest)
                deliver(workers, *[message for worker in workers for message in worker.take_passed()])
        assert any(worker.woken for worker in workers), seq


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
    assert told == [(1, 7, seq, number) for number in range(6)]
    assert rounds == [1, 2, 4, 8, 1, 0]  # each worker once
    assert sorted(each for worker in workers for each in worker.all_told) == [(1, 7, False)] * 15 + [(1, 7, True)]
    assert not any(worker.pauses for worker in workers)


async def test_a_worker_that_its_claim_has_filled_tells_the_others() -> None:
    ids = [5, 6, 9]
    workers = [Received(worker_id, ids) for worker_id in ids]
    deliver(workers, (1, 7, 3, 0))
    (first,) = [worker for worker in workers if worker.woken]
    first.wake_ups.claimed(1, [8], is_long=False)  # another lane
    first.is_active, first.has_room = True, False
    first.wake_ups.claimed(1, [7], is_long=False)
    assert first.passed == [(1, 7, 3, 1)]
    first.wake_ups.claimed(1, [7], is_long=False)
    assert first.passed == [(1, 7, 3, 1)]  # once
    deliver([worker for worker in workers if worker is not first], *first.passed)
    assert [worker.woken for worker in workers] == [[(1, 7, 3)]] * 3


async def test_a_long_task_leaves_other_lanes_to_others() -> None:
    worker = Received(5, [5, 6])
    seq = next(seq for seq in range(100) if _place(seq, [5, 6]) == 0)
    for lane in (7, 8):
        worker.wake_ups.add(1, lane, seq)
    worker.is_active, worker.has_room = True, False
    worker.wake_ups.claimed(1, [7], is_long=True)
    assert worker.passed == [(1, 7, seq, 1), (1, 8, seq, 1)]


async def test_a_worker_that_finds_nothing_tells_nobody() -> None:
    workers = [Received(worker_id) for worker_id in (5, 6, 9)]
    deliver(workers, (1, 7, 3, 0))
    for worker in workers:
        worker.wake_ups.claimed(1, [7], is_long=True)
        worker.has_room = False
        worker.wake_ups.claimed(1, [7, 8], is_long=True)
    assert not any(worker.passed for worker in workers)


async def test_workers_that_are_told_together_replace_the_one_that_should_tell_the_others() -> None:
    """The first of each round has died."""
    ids, seq = [*range(16)], 3
    ranks = {worker_id: rank(worker_id, ids, seq) for worker_id in ids}
    alive = [worker_id for worker_id in ids if ranks[worker_id] not in (1, 3, 7)]
    workers = [Received(worker_id, ids, has_room=False) for worker_id in alive]
    told = deliver(workers, (1, 7, seq, 0))
    while any(worker.pauses for worker in workers):
        soonest = min(pause for worker in workers for pause in worker.pauses)
        for worker in workers:
            worker.fire(soonest)
        told += deliver(workers, *[each for worker in workers for each in worker.take_passed()])
    assert sorted(set(told)) == [(1, 7, seq, number) for number in range(6)]
    assert all(worker.woken for worker in workers)


async def test_a_worker_that_missed_a_task_claims_when_more_are_left() -> None:
    """Another worker was splitting the same run at that moment."""
    ids, seq = [*range(8)], 3
    (first,) = [worker_id for worker_id in ids if rank(worker_id, ids, seq) == 0]
    worker = Received(first, ids)
    deliver([worker], (1, 7, seq, 0), (1, 7, seq, 1), (1, 7, seq, 4))
    assert worker.woken == [(1, 7, seq)] * 3
    worker.has_room = False
    deliver([worker], (1, 7, seq, 4))
    assert len(worker.woken) == 3


async def test_the_second_worker_tells_the_others_if_the_first_did_not() -> None:
    workers = [Received(worker_id, has_room=False) for worker_id in (5, 6, 9)]
    for worker in workers:
        worker.wake_ups.add(1, 7, 3)
    (second,) = [worker for worker in workers if worker.pauses == [0.1]]
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


async def test_what_was_told_from_a_higher_number_on_leaves_a_lower_one_waiting() -> None:
    worker = Received(5, has_room=False)
    second = [seq for seq in range(100, 200) if _place(seq) == 1]
    worker.wake_ups.add(1, 7, second[0])
    worker.wake_ups.add(1, 7, second[1], 2)
    assert worker.pauses == [0.1]
    worker.wake_ups.add(1, 7, second[0], 2)
    assert worker.pauses == []


def rank(worker_id: int, workers: list[int], seq: int) -> int:
    peers = Peers(worker_id)
    peers.learn([registry.WorkersOfSteps([1], workers)])
    return peers.rank(1, seq)[0]


def _place(seq: int, workers: list[int] | None = None) -> int:
    return rank(5, workers or [5, 6, 9], seq)


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
    peers = {worker_id: Peers(worker_id) for worker_id in seen}
    for worker_id, known in seen.items():
        peers[worker_id].learn(known)
    for number in range(10):
        assert sorted(peers[worker_id].rank(1, number) for worker_id in (3, 5, 8)) == [(0, 3), (1, 3), (2, 3)]
        assert sorted(peers[worker_id].rank(2, number) for worker_id in (5, 6)) == [(0, 2), (1, 2)]
    assert {worker_id: each.least for worker_id, each in peers.items()} == {3: 3, 8: 3, 5: 2, 6: 2}


async def listening(worker: Worker) -> None:
    while not worker._listener.is_listening:  # noqa: ASYNC110 - it has no event for this
        await asyncio.sleep(0.01)


class Idle:
    """Idle workers of one slot, none of which polls any more. Tasks run until `release` is set."""

    def __init__(self, dsn: str, count: int, slots: int = 1) -> None:
        self.pipeline: Pipeline[dict[str, int]] = Pipeline("long", dict)
        self.started: asyncio.Queue[int] = asyncio.Queue()
        self.release = asyncio.Event()
        self.pipeline.step(concurrency=(slots, slots))(self.step)
        self.workers = [Worker(dsn, [self.pipeline], settings=Settings(pool_size=2)) for _ in range(count)]
        self._running: list[asyncio.Task[None]] = []

    async def step(self, ctx: Context, value: dict[str, int]) -> None:
        await self.started.put(value["n"])
        await self.release.wait()

    async def __aenter__(self) -> Idle:
        self._running = [asyncio.create_task(worker.run()) for worker in self.workers]
        async with asyncio.timeout(120):
            for worker, run in zip(self.workers, self._running, strict=True):
                await worker.ready_or_failed(run)
                await listening(worker)
            for worker in self.workers:
                await worker.report_status()
                await worker.wait_until_idle()
                worker._claimer.polling.find_ready_lanes = no_poll  # type: ignore[method-assign]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release.set()
        for worker in self.workers:
            worker.stop()
        await asyncio.gather(*self._running)

    async def all_start(self, count: int) -> None:
        async with asyncio.timeout(60):
            assert sorted([await self.started.get() for _ in range(count)]) == [*range(count)]


async def no_poll() -> None:
    pass


INPUTS = [{"n": n} for n in range(6)]


@pytest.mark.direct
async def test_a_worker_whose_slots_are_full_passes_a_task_on(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """Nobody stands in for the first worker of a wake-up, which is seldom the one that is idle."""
    async with Idle(dsn, len(INPUTS)) as idle:
        for worker in idle.workers:
            worker._claimer.wake_ups._do_later = lambda *_: None  # type: ignore[method-assign]
        for n in range(len(INPUTS)):
            await idle.pipeline.submit(conn, {"n": n})
            async with asyncio.timeout(60):
                assert await idle.started.get() == n


@pytest.mark.direct
async def test_idle_workers_share_the_tasks_of_a_job(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with Idle(dsn, len(INPUTS)) as idle:
        await idle.pipeline.submit_many(conn, INPUTS)
        await idle.all_start(len(INPUTS))


@pytest.mark.direct
async def test_idle_workers_share_jobs_of_one_transaction(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with Idle(dsn, len(INPUTS)) as idle:
        async with conn.transaction():
            for value in INPUTS:
                await idle.pipeline.submit(conn, value)
        await idle.all_start(len(INPUTS))


@pytest.mark.direct
async def test_idle_workers_share_jobs_of_one_call(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with Idle(dsn, len(INPUTS)) as idle:
        await conn.execute(
            "select from forebay.submit_jobs('long', $1::jsonb[])", [json.dumps(value) for value in INPUTS]
        )
        await idle.all_start(len(INPUTS))


@pytest.mark.direct
async def test_idle_workers_take_jobs_that_come_one_after_another(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """Also after the worker of the first task has had the time to mark its lane as busy."""
    async with Idle(dsn, len(INPUTS)) as idle:
        for n, value in enumerate(INPUTS):
            await idle.pipeline.submit(conn, value)
            async with asyncio.timeout(60):
                assert await idle.started.get() == n
            for worker in idle.workers:
                await worker._claimer.mark_busy()


@pytest.mark.direct
async def test_idle_workers_take_jobs_that_come_at_once(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    async with Idle(dsn, len(INPUTS)) as idle:
        for value in INPUTS:
            await idle.pipeline.submit(conn, value)
        await idle.all_start(len(INPUTS))


@pytest.mark.direct
async def test_a_worker_that_is_stopping_leaves_tasks_to_others(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """It still has a slot, and a task that it finishes."""
    async with Idle(dsn, 2, slots=2) as idle:
        await idle.pipeline.submit(conn, {"n": 0})
        async with asyncio.timeout(60):
            await idle.started.get()
        stopping, other = sorted(idle.workers, key=lambda worker: not worker._leases)
        stopping.stop()
        for n in (1, 2):
            await idle.pipeline.submit(conn, {"n": n})
            async with asyncio.timeout(60):
                assert await idle.started.get() == n
        await stopping.report_status()
        await other.report_status()
        (alone,) = (await registry.report_status(other._pool, other.worker_id, {}, 0, None)).workers
        assert alone.workers == [other.worker_id]


async def test_a_slice_is_no_peer_of_workers(dsn: str) -> None:
    pipeline: Pipeline[dict[str, int]] = Pipeline("sliced", dict)

    @pipeline.step()
    async def step(ctx: Context, value: dict[str, int]) -> None: ...

    async with working(dsn, pipeline) as worker:
        part = Worker(dsn, [pipeline], settings=Settings(), lanes=frozenset({1}))
        running = asyncio.create_task(part.run())
        try:
            await part.ready_or_failed(running)
            for each, known in ((worker, [worker.worker_id]), (part, [worker.worker_id])):
                (group,) = (await registry.report_status(each._pool, each.worker_id, {}, 0, None)).workers
                assert group.workers == known
            await part.report_status()
            assert part._peers.rank(group.steps[0], 7) == (0, 1)
        finally:
            part.stop()
            await running


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
