"""What claiming costs: marks of busy lanes, polls, and many owners behind a queue that is paused."""

# demands: S1-119

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay import Context, Pipeline, Worker
from forebay.engine.clock import Clock
from forebay.engine.db import tasks
from forebay.engine.db.tasks import LaneInfo
from forebay.engine.work import lane_polling
from forebay.engine.work.busy_lanes import MARKED_FOR, BusyLanes
from forebay.engine.work.lane_polling import LanePolling
from forebay.engine.work.lane_waking import ClaimNews, LaneWaking
from forebay.engine.work.lanes import StepLanes
from forebay.settings import Settings
from forebay.testing import testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.work.attempt import Attempt

_SUBMIT = "select count(forebay.submit('quiet', '{}', 'owner ' || g)) from generate_series(1, $1::int) g"


def quiet() -> Pipeline[dict[str, Any]]:
    pipeline: Pipeline[dict[str, Any]] = Pipeline("quiet", dict)

    @pipeline.step(queue="quiet")
    async def step(ctx: Context, value: dict[str, Any]) -> None: ...

    return pipeline


class Marks:
    """Records what is written in place of the database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: list[tuple[list[tuple[int, int]], float]] = []
        self.polls = 0
        self.now = 1000.0
        monkeypatch.setattr(tasks, "mark_busy_lanes", self._mark)
        pool: Any = None
        self.lanes = BusyLanes(pool, Clock(), self._poll, lambda: self.now)

    async def _mark(self, _pool: object, pairs: list[tuple[int, int]], seconds: float, _now: object) -> None:
        self.written.append((pairs, seconds))

    def _poll(self) -> None:
        self.polls += 1


async def test_a_step_that_is_not_busy_leaves_the_mark_of_another_step(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    marks.lanes.note(1, 7, is_full=True)
    await marks.lanes.write()
    marks.lanes.note(2, 7, is_full=False)  # another step of the same lane
    await marks.lanes.write()
    assert (marks.written, marks.polls) == ([([(1, 7)], MARKED_FOR)], 0)
    marks.lanes.note(1, 7, is_full=False)
    assert marks.polls == 1  # submits may have sent no wake-up
    await marks.lanes.write()
    assert marks.written[1:] == [([(1, 7)], 0)]
    assert marks.polls == 2  # nor until the mark was removed
    marks.lanes.note(1, 7, is_full=False)
    await marks.lanes.write()
    assert (len(marks.written), marks.polls) == (2, 2)


async def test_a_mark_is_written_again_only_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Marks(monkeypatch)
    for _ in range(20):  # one second each
        marks.lanes.note(1, 7, is_full=True)
        await marks.lanes.write()
        marks.now += 1
    assert len(marks.written) == 20 / (MARKED_FOR / 2)


async def test_a_poll_that_is_requested_keeps_to_the_share_of_the_time(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polls that take 20 ms are at least 400 ms apart, however often they are requested."""
    async with testbed(dsn, [quiet()], migrated=True) as bed:
        claimer = bed.worker._claimer
        began: list[float] = []
        third = asyncio.Event()

        async def slow(*_args: object) -> list[tuple[int, LaneInfo]]:
            began.append(time.monotonic())
            if len(began) == 3:
                third.set()
            claimer.polling.request()
            await asyncio.sleep(0.02)
            return []

        monkeypatch.setattr(tasks, "find_ready_lanes", slow)
        claimer.polling.request()
        async with asyncio.timeout(60):
            await third.wait()
        assert min(later - earlier for earlier, later in pairwise(began)) >= 0.4


async def test_the_express_claim_is_sent_before_the_other_loops_wake_up() -> None:
    news, is_awake = ClaimNews(), list[bool]()

    async def express() -> None:
        await news.express.wait()
        is_awake.append(news.regular.is_set())

    unused: Any = SimpleNamespace(shorten=lambda **_: None, restart=list, describe=lambda _: None)
    book: Any = SimpleNamespace(steps={1: StepLanes(1)}, serves=lambda _: True)
    waking = LaneWaking(book, news, unused, unused, None)
    claiming = asyncio.create_task(express())
    await asyncio.sleep(0)
    waking.wake(1, 7, 1)
    await claiming
    assert is_awake == [False]
    async with asyncio.timeout(60):
        await news.regular.wait()


async def test_an_idle_worker_polls_rarely_until_a_wake_up_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def nothing(*_args: object) -> list[tuple[int, LaneInfo]]:
        return []

    async def waited(_news: asyncio.Event, seconds: float) -> bool:
        waits.append(round(seconds))
        if len(waits) > 1:
            raise asyncio.CancelledError
        polling.restart()  # a wake-up, in the middle of the interval of an idle worker
        return True

    monkeypatch.setattr(tasks, "find_ready_lanes", nothing)
    monkeypatch.setattr(lane_polling, "wait_for", waited)
    lanes, arrives = StepLanes(1), [True]
    book: Any = SimpleNamespace(steps={1: lanes}, keys={}, forget_idle=list)
    pool: Any = None
    polling = LanePolling(
        *(pool, Clock(), book, 10.0), on_ready=print, on_ready_key=print, is_listening=lambda: arrives[0]
    )
    polling._pause = polling.idle_poll_s
    with suppress(asyncio.CancelledError):
        await polling.run()
    assert waits == [50, 10]
    assert polling._longest() == 50
    arrives[0] = False
    assert polling._longest() == 10
    arrives[0] = True
    book.keys[1] = SimpleNamespace(next_look=lambda: 7.0)  # a task waits for a key of a limit
    assert polling._longest() == 10
    book.keys.clear()
    lanes.wake(1)
    assert polling._longest() == 10


async def test_a_lane_that_a_wake_up_names_is_described_at_once_and_without_a_poll(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = quiet()
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await pipeline.submit(conn, {}, owner="ann", priority=7)
        lane_id, step_id = await conn.fetchval("select id from forebay.lane"), next(iter(bed.worker._executors))

        async def nothing(*_args: object) -> list[tuple[int, LaneInfo]]:
            return []

        monkeypatch.setattr(tasks, "find_ready_lanes", nothing)
        learned: asyncio.Queue[LaneInfo] = asyncio.Queue()
        monkeypatch.setattr(bed.worker._claimer.lanes.steps[step_id], "learn", learned.put_nowait)
        bed.worker._claimer.waking.wake(step_id, lane_id)
        async with asyncio.timeout(60):
            assert (await learned.get()).priority == 7


async def test_owners_behind_a_paused_queue_cost_a_worker_nothing(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with testbed(dsn, [quiet()], migrated=True) as bed:
        claims: list[int] = []
        claim = tasks.claim

        async def counted(*args: Any) -> list[tasks.Lease]:
            claims.append(len(args[2]))
            return await claim(*args)

        monkeypatch.setattr(tasks, "claim", counted)
        await conn.execute("select forebay.pause_queue('quiet')")
        await conn.fetchval(_SUBMIT, 1000)
        for _ in range(3):
            await bed.worker.poll()
            await bed.run()
        assert claims == []
        assert not any(lanes.active for lanes in bed.worker._claimer.lanes.steps.values())
        await conn.execute("select forebay.resume_queue('quiet')")
        await bed.run()
        assert await conn.fetchval("select count(*) from forebay.job where state = 'DONE'") == 1000


@pytest.mark.parametrize("owners", [1000, 10_000])
async def test_the_event_loop_is_free_while_many_lanes_are_found(
    dsn: str, monkeypatch: pytest.MonkeyPatch, owners: int
) -> None:
    """Counts the lanes that are handled between two turns of the event loop."""
    async with testbed(dsn, [quiet()], migrated=True) as bed:
        claimer = bed.worker._claimer
        (step_id,) = bed.worker._executors
        turn, handled, this = 0, Counter[int](), asyncio.current_task()
        found = claimer.polling._found

        async def count_turns() -> None:
            nonlocal turn
            while True:
                turn += 1
                await asyncio.sleep(0)

        async def many(*_args: object) -> Any:
            return ((step_id, LaneInfo(10**6 + n, n, 0, 1.0)) for n in range(owners))

        def noted(*args: Any) -> None:
            if asyncio.current_task() is this:  # the worker polls as well
                handled[turn] += 1
            found(*args)

        monkeypatch.setattr(tasks, "find_ready_lanes", many)
        monkeypatch.setattr(claimer.polling, "_found", noted)
        turns = asyncio.create_task(count_turns())
        await claimer.polling.find_ready_lanes()
        turns.cancel()
        assert handled.total() == owners
        assert max(handled.values()) <= 250


async def test_a_step_without_tasks_does_not_wait_for_the_claims_of_another_step(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both large claims of one pipeline are in progress when a task of the same owner's other pipeline arrives."""
    slow, quick = quiet(), Pipeline[dict[str, Any]]("quick", dict)
    ran = asyncio.Event()

    @quick.step()
    async def run(ctx: Context, value: dict[str, Any]) -> None:
        ran.set()

    async with testbed(dsn, [slow, quick], migrated=True) as bed:
        claimer, go, claim = bed.worker._claimer, asyncio.Event(), tasks.claim
        held = {step_id for step_id, executor in bed.worker._executors.items() if executor.step.pipeline is slow}
        for step_id in held:
            bed.worker._executors[step_id].size.add(1e-4)  # of short tasks, both loops claim some ahead
        waiting: asyncio.Queue[None] = asyncio.Queue()

        async def gated(conn: Any, worker_id: int, claims: list[tasks.Claim], *args: Any) -> list[tasks.Lease]:
            if held & {each.step_id for each in claims}:
                waiting.put_nowait(None)
                await go.wait()
            return await claim(conn, worker_id, claims, *args)

        monkeypatch.setattr(tasks, "claim", gated)
        claimer.open()
        async with asyncio.timeout(60):
            for owners in (1, 2):  # a new lane for each of the two loops
                await conn.fetchval(_SUBMIT, owners)
                await claimer.polling.find_ready_lanes()
                await waiting.get()
            await quick.submit(conn, {}, owner="owner 1")
            await claimer.polling.find_ready_lanes()
            await ran.wait()
        go.set()


async def test_the_first_tasks_of_a_step_are_not_claimed_together_with_the_backlog_of_another(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    slow, quick = quiet(), Pipeline[dict[str, Any]]("quick", dict)

    @quick.step()
    async def run(ctx: Context, value: dict[str, Any]) -> None: ...

    async with testbed(dsn, [slow, quick], migrated=True) as bed:
        claimer = bed.worker._claimer
        busy, unused = sorted(bed.worker._executors.values(), key=lambda executor: executor.step.pipeline is quick)
        await conn.fetchval(_SUBMIT, 1)
        await quick.submit(conn, {}, owner="owner 1")
        await claimer.polling.find_ready_lanes()
        claimer._closed = False
        busy.arriving = 1
        assert {claim.step_id for claim in claimer._picker.pick()} == {busy.step_id}
        assert {claim.step_id for claim in claimer._picker.pick_waiting()} == {unused.step_id}


async def test_the_event_loop_is_free_while_many_tasks_are_claimed_and_settled(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the leases that are handled between two turns of the event loop."""
    async with testbed(dsn, [quiet()], migrated=True, settings=Settings(claim_min=2000)) as bed:
        book, turn = bed.worker._leases, 0
        added, ended = Counter[int](), Counter[int]()
        add, settled = book.add, book.settled

        async def count_turns() -> None:
            nonlocal turn
            while True:
                turn += 1
                await asyncio.sleep(0)

        def noted_add(lease: tasks.Lease) -> None:
            added[turn] += 1
            add(lease)

        def noted_settled(attempts: Sequence[Attempt]) -> None:
            ended[turn] += len(attempts)
            settled(attempts)

        monkeypatch.setattr(book, "add", noted_add)
        monkeypatch.setattr(book, "settled", noted_settled)
        turns = asyncio.create_task(count_turns())
        await conn.execute("select count(forebay.submit('quiet', '{}')) from generate_series(1, 3000)")
        await bed.run()
        turns.cancel()
        assert (added.total(), ended.total()) == (3000, 3000)
        assert max(added.values()) <= 500  # two claims arrive at a time
        assert max(ended.values()) <= 1000  # two batches are settled at a time


async def _listening(worker: Worker, but: object = None) -> None:
    while worker._listener._conn in (None, but):  # noqa: ASYNC110 - another task connects
        await asyncio.sleep(0.01)


@pytest.mark.direct
async def test_an_express_claim_needs_no_connection_of_the_pool(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    """While large claims and settles use all of them, the task of another owner starts."""
    pipeline, ran = Pipeline[dict[str, Any]]("express", dict), asyncio.Event()

    @pipeline.step()
    async def run(ctx: Context, value: dict[str, Any]) -> None:
        ran.set()

    worker = Worker(dsn, [pipeline], settings=Settings(pool_size=2, poll_s=3600, sweep_s=3600))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    try:
        await _listening(worker)
        await worker.wait_until_idle()
        async with asyncio.timeout(60), worker._pool.acquire(), worker._pool.acquire():
            await pipeline.submit(conn, {}, owner="ann")
            await ran.wait()
    finally:
        worker.stop()
        await running


@pytest.mark.direct
async def test_an_express_claim_that_fails_gives_the_listening_connection_up(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be half open. The pool serves the next try, and the worker listens again."""
    pipeline, ran = Pipeline[dict[str, Any]]("express", dict), asyncio.Event()

    @pipeline.step()
    async def run(ctx: Context, value: dict[str, Any]) -> None:
        ran.set()

    used: list[object] = []
    claim = tasks.claim

    async def failing_once(conn: Any, worker_id: int, *args: Any) -> list[tasks.Lease]:
        if worker_id:  # else it prepares the claims of a connection
            used.append(conn)
            if len(used) == 1:
                raise TimeoutError
        return await claim(conn, worker_id, *args)

    monkeypatch.setattr(tasks, "claim", failing_once)
    worker = Worker(dsn, [pipeline], settings=Settings(poll_s=3600, sweep_s=3600))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    try:
        async with asyncio.timeout(60):
            await _listening(worker)
            await worker.wait_until_idle()
            first = worker._listener._conn
            await pipeline.submit(conn, {}, owner="ann")
            await ran.wait()
            await _listening(worker, but=first)
        assert used[0] is first
        assert used[1] is not first
    finally:
        worker.stop()
        await running
