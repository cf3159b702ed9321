"""Limits across all workers, on a real database and with a controlled clock."""

# demands: S1-93, S1-95, X-07

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import random
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forebay.db.pool import open_pool
from forebay.engine.clock import Clock, ManualClock
from forebay.engine.db import limits as db
from forebay.engine.db.limits import SlotAsk, TokenAsk
from forebay.engine.declare.limit import Limit
from forebay.engine.limits.client import LimitClient, LimitReached
from forebay.engine.limits.limiters import AHEAD, BUSY_WAIT, MAX_PROMISE, SLACK, SLOT_LEASE
from forebay.errors import DataError, ThrottledError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from forebay.db.pool import Pool

START = datetime(2030, 1, 1, tzinfo=UTC)
names = (f"limit{n}" for n in itertools.count())


class Stage(ManualClock):
    """Workers in one process, and a clock that advances only when none of them has anything to do."""

    def __init__(self, pool: Pool, late: Callable[[], float] = lambda: 0.0) -> None:
        super().__init__(START)
        self.pool = pool
        self.workers: list[LimitClient] = []
        self.room_calls = 0
        self._late = late  # how much later than asked a sleeper wakes
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[Any]] = set()

    def worker(self) -> LimitClient:
        limits = LimitClient(self.pool, len(self.workers) + 1, self, on_capacity=self._on_room, sleep=self.doze)
        self.workers.append(limits)
        return limits

    def _on_room(self) -> None:
        self.room_calls += 1

    async def doze(self, seconds: float) -> None:
        await self.sleep(seconds + self._late())

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        at = (math.floor((self.time() + seconds) * 1000) + 1) / 1000  # timers are as coarse as this
        heapq.heappush(self._sleepers, (at, next(self._numbers), woken))
        await woken

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        return task

    async def calm(self) -> None:
        """Return when every task sleeps, waits for another one, or has ended."""
        quiet = 0
        while quiet < 4:
            await asyncio.sleep(0)
            quiet += 1
            for limits in self.workers:
                for requests in (limits._leases.rate_requests, limits._leases.slot_requests):
                    if requests._task is not None:
                        await requests.wait_until_idle()
                        quiet = 0

    async def run(self, seconds: float = math.inf) -> None:
        """Advance the clock by this time, or until nothing sleeps; raise the errors of spawned tasks."""
        end = self.time() + seconds
        await self.calm()
        while self._sleepers and self._sleepers[0][0] <= end:
            at = self._sleepers[0][0]
            self.advance(max(0.0, at - self.time()))
            while self._sleepers and self._sleepers[0][0] <= self.time() + 1e-6:
                woken = heapq.heappop(self._sleepers)[2]
                if not woken.done():
                    woken.set_result(None)
            await self.calm()
        if seconds < math.inf:
            self.advance(end - self.time())
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            if not task.cancelled():
                task.result()


@asynccontextmanager
async def stage_on(dsn: str, late: Callable[[], float] = lambda: 0.0) -> AsyncIterator[Stage]:
    async with await open_pool(dsn, size=4, name="test") as pool:
        stage = Stage(pool, late)
        yield stage
        for task in stage._tasks:
            task.cancel()
        await asyncio.gather(*stage._tasks, return_exceptions=True)


@pytest.fixture
async def stage(dsn: str) -> AsyncIterator[Stage]:
    async with stage_on(dsn) as stage:
        yield stage


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[Pool]:
    async with await open_pool(dsn, size=8, name="test") as pool:
        yield pool


def densest(starts: list[float], window: float) -> int:
    """The maximum number of starts in any half-open window of this length."""
    starts = sorted(starts)
    most = first = 0
    for last, at in enumerate(starts):
        while at - starts[first] >= window - 1e-5:
            first += 1
        most = max(most, last - first + 1)
    return most


def bound(limit: Limit, window: float) -> int:
    assert limit.rate is not None
    interval = limit.per / limit.rate
    return math.ceil((window + max(interval, SLACK)) / interval - 1e-6)


# -- rates --------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rate=st.sampled_from([(5, 1), (0.5, 1), (7, 3), (60, 60), (100, 1), (2000, 1)]),
    workers=st.integers(1, 4),
    bursts=st.lists(st.tuples(st.floats(0, 2), st.integers(1, 30)), min_size=1, max_size=12),
    lateness=st.floats(0, 0.5),
    seed=st.integers(0, 2**32),
)
def test_no_window_sees_more_than_the_bound(
    dsn: str, rate: tuple[float, float], workers: int, bursts: list[tuple[float, int]], lateness: float, seed: int
) -> None:
    limit = Limit(next(names), rate=rate[0], per=rate[1], key=lambda value: "k")
    starts = asyncio.run(_burst(dsn, limit, workers, bursts, lateness, random.Random(seed)))
    for window in (limit.per, limit.per / 3, 3 * limit.per, 0.05):
        assert densest(starts, window) <= bound(limit, window)


async def _burst(
    dsn: str, limit: Limit, workers: int, bursts: list[tuple[float, int]], lateness: float, rng: random.Random
) -> list[float]:
    """Start bursts of tasks that retry when they are told to; return when they started."""
    starts: list[float] = []

    async def task(stage: Stage) -> None:
        while True:
            try:
                await rng.choice(stage.workers).acquire([limit], None)
            except LimitReached as reached:
                await stage.doze(reached.retry_after)
            else:
                starts.append(stage.time())
                return

    async with stage_on(dsn, late=lambda: rng.random() * lateness) as stage:
        for _ in range(workers):
            stage.worker()
        for pause, count in bursts:
            await stage.run(pause)
            for _ in range(count):
                stage.spawn(task(stage))
        await stage.run()
    assert len(starts) == sum(count for _, count in bursts)
    return starts


@pytest.mark.parametrize("rate", [5.0, 20.0])
async def test_tasks_that_are_told_a_time_need_two_claims_each(stage: Stage, rate: float) -> None:
    """As many as can start before the longest time that a task is told."""
    rng = random.Random(7)
    limit = Limit(next(names), rate=rate, key=str)
    claims, starts, tasks = 0, list[float](), int(rate * MAX_PROMISE)
    due = [(0.0, n) for n in range(tasks)]
    began = stage.time()

    async def slot(limits: LimitClient) -> None:
        """One slot of a worker: claims due tasks, earliest first, as the engine does, with some delay."""
        nonlocal claims
        while len(starts) < tasks:
            if not due or due[0][0] > stage.time() - began:
                await stage.sleep(max(0.05, due[0][0] - stage.time() + began) if due else 0.5)
                continue
            _, n = heapq.heappop(due)
            claims += 1
            busy = bool(due) and due[0][0] <= stage.time() - began
            try:
                await limits.acquire([limit], "example.org", busy=busy)
            except LimitReached as reached:
                back = stage.time() - began + reached.retry_after + rng.uniform(0, 0.3)
                heapq.heappush(due, (back, n))
            else:
                starts.append(stage.time() - began)

    for limits in (stage.worker(), stage.worker()):
        for _ in range(16):
            stage.spawn(slot(limits))
    await stage.run()
    assert len(starts) == tasks
    assert claims <= 2.2 * tasks
    assert max(starts) <= 1.05 * tasks / rate + 2
    assert densest(starts, 1.0) <= bound(limit, 1.0)


@pytest.mark.parametrize(("rate", "per"), [(5.0, 1.0), (600.0, 60.0), (10_000.0, 1.0)])
async def test_one_worker_gets_the_full_rate_in_few_calls(stage: Stage, rate: float, per: float) -> None:
    limit = Limit(next(names), rate=rate, per=per)
    limits, starts, claims, seconds = stage.worker(), list[float](), 0, 3.0 if rate > 1000 else 20.0

    async def task() -> None:
        await limits.acquire([limit], None)
        starts.append(stage.time())

    async def claim_loop() -> None:
        nonlocal claims
        running: set[asyncio.Task[Any]] = set()
        while stage.time() < end:
            room = limits.capacity([limit])
            assert room is not None
            running = {task for task in running if not task.done()}
            for _ in range(min(room, 1000 - len(running))):
                claims += 1
                running.add(stage.spawn(task()))
            await stage.sleep(min(0.01, limits.wait([limit])))

    end = stage.time() + seconds
    stage.spawn(claim_loop())
    await stage.run()
    started = [at for at in starts if at < end]
    assert len(started) >= 0.97 * seconds * rate / per
    assert densest(starts, per) <= bound(limit, per)
    about = limits.describe()
    assert about["sent_away"] == 0, "what was claimed could start"
    assert claims == len(starts)
    assert about["rate_calls"] <= 5 * seconds + 20, "a few a second, and some while slices grow"


async def test_a_new_rate_holds_from_the_next_slice_on(stage: Stage) -> None:
    limits, name = stage.worker(), next(names)
    starts: list[float] = []

    async def tasks(limit: Limit, count: int) -> None:
        while len(starts) < count:
            try:
                await limits.acquire([limit], None)
            except LimitReached as reached:
                await stage.sleep(reached.retry_after)
            else:
                starts.append(stage.time())

    began = stage.time()
    stage.spawn(tasks(Limit(name, rate=1, per=3600), 1))
    await stage.run()
    with pytest.raises(LimitReached) as reached:
        await limits.acquire([Limit(name, rate=1, per=3600)], None)
    assert MAX_PROMISE / 2 <= reached.value.retry_after <= MAX_PROMISE
    faster, slower = Limit(name, rate=100), Limit(name, rate=2)
    stage.spawn(tasks(faster, 101))
    await stage.run()
    assert starts[-1] - began < 2 * AHEAD + 1 + 0.1
    assert densest(starts, 1) <= bound(faster, 1)
    changed = stage.time()
    stage.spawn(tasks(slower, 130))
    await stage.run()
    later = [at for at in starts if at >= changed + AHEAD]  # what was leased before is spent by then
    assert densest(later, 1) <= bound(slower, 1)


async def test_sent_away_tasks_are_told_different_times(stage: Stage) -> None:
    limits, limit = stage.worker(), Limit(next(names), rate=10, key=str)

    async def task() -> float:
        try:
            await limits.acquire([limit], "k")
        except ThrottledError as error:
            return error.retry_after
        return 0.0

    tasks = [stage.spawn(task()) for _ in range(30)]
    await stage.run()
    told = sorted(t.result() for t in tasks if t.result())
    assert len(told) >= 20
    assert [b - a for a, b in itertools.pairwise(told)] == pytest.approx([0.1] * (len(told) - 1))
    assert limits.describe()["rate_calls"] == 1


async def test_no_task_is_told_a_time_far_ahead_and_not_all_the_same(stage: Stage) -> None:
    limits = stage.worker()
    for limit in (Limit(next(names), rate=5, key=str), Limit(next(names), concurrency=1, key=str)):
        told = await asyncio.gather(*(_try(stage, limits, limit) for _ in range(1000)))
        assert max(told) <= MAX_PROMISE
        assert len({round(seconds, 3) for seconds in told}) > 500


async def test_a_full_key_does_not_keep_others_from_running(stage: Stage) -> None:
    """One slot, a hundred tasks of a slow key, and one task of another key at the end."""
    limits, limit = stage.worker(), Limit(next(names), rate=2, concurrency=1, key=str)
    began, started = stage.time(), list[str]()

    async def slot() -> None:
        for key in ["slow"] * 100 + ["other"]:
            try:
                limits.release(await limits.acquire([limit], key, busy=True))
            except LimitReached:
                continue
            started.append(key)
        assert stage.time() - began <= BUSY_WAIT

    stage.spawn(slot())
    await stage.run()
    assert started == ["slow", "other"]


async def test_waiters_that_never_come_are_forgotten(stage: Stage) -> None:
    limits, limit = stage.worker(), Limit(next(names), rate=5, key=str)
    await asyncio.gather(*(_try(stage, limits, limit) for _ in range(1000)))
    stage.advance(300)  # their job was cancelled
    told = await asyncio.gather(*(_try(stage, limits, limit) for _ in range(20)))
    assert max(told) < 6


async def _try(stage: Stage, limits: LimitClient, limit: Limit) -> float:
    entering = asyncio.ensure_future(limits.acquire([limit], "k"))
    await stage.calm()
    if not entering.done():
        entering.cancel()
    try:
        await entering
    except LimitReached as reached:
        return reached.retry_after
    except asyncio.CancelledError:
        pass
    return 0.0


async def test_room_counts_only_limits_without_a_key(stage: Stage) -> None:
    limits = stage.worker()
    assert limits.capacity([]) is None
    assert limits.capacity([Limit(next(names), rate=1, key=str)]) is None
    static = Limit(next(names), rate=100)
    assert limits.capacity([static]) == 0
    await stage.calm()
    assert stage.room_calls == 1
    assert limits.capacity([static]) == 1


async def test_wait_says_when_to_look_again(stage: Stage) -> None:
    first, second, limit = stage.worker(), stage.worker(), Limit(next(names), rate=1, per=1.5)
    first.capacity([limit])
    await stage.calm()
    second.capacity([limit])
    await stage.calm()
    assert second.capacity([limit]) == 0
    assert second.wait([limit]) == pytest.approx(0.5)
    stage.advance(0.5)
    second.capacity([limit])
    await stage.calm()
    assert second.capacity([limit]) == 1


async def test_a_start_that_another_limit_refused_is_not_lost(stage: Stage) -> None:
    limits = stage.worker()
    slow, full = Limit(next(names), rate=1, per=50, key=str), Limit(next(names), rate=1, per=40, key=str)
    await limits.acquire([full], "k")
    with pytest.raises(LimitReached) as reached:
        await limits.acquire([slow, full], "k")
    assert full.name in str(reached.value)
    await limits.acquire([slow], "k")


async def test_leases_of_many_at_once_do_not_overlap(pool: Pool) -> None:
    """With the server's clock and real concurrency."""
    interval, name = 0.0001, next(names)

    async def lease(rng: random.Random) -> list[tuple[float, int]]:
        got: list[tuple[float, int]] = []
        for _ in range(40):
            keys = rng.sample(["a", "b", "c"], 3)
            asks = [TokenAsk(name, key, interval, rng.randint(1, 50), 0, AHEAD) for key in keys]
            grants = await db.take_tokens(pool, asks, AHEAD, SLACK, None)
            got += [(g.starts_at, g.granted) for k, g in zip(keys, grants, strict=True) if k == "a" and g.granted]
        return got

    pieces = sorted(itertools.chain(*await asyncio.gather(*(lease(random.Random(n)) for n in range(8)))))
    assert len(pieces) == 320
    for (start, count), (following, _) in itertools.pairwise(pieces):
        assert following - start >= count * interval - 1e-6


# -- concurrency --------------------------------------------------------------------------------------------------


class Hall:
    """Counts the holders of slots in all workers."""

    def __init__(self) -> None:
        self.inside: dict[LimitClient, int] = {}
        self.most = 0
        self.served: dict[LimitClient, int] = {}

    @property
    def total(self) -> int:
        return sum(self.inside.values())

    def enter(self, limits: LimitClient) -> None:
        self.inside[limits] = self.inside.get(limits, 0) + 1
        self.served[limits] = self.served.get(limits, 0) + 1
        self.most = max(self.most, self.total)

    def leave(self, limits: LimitClient) -> None:
        self.inside[limits] -= 1


def hammer(
    stage: Stage, hall: Hall, limits: LimitClient, limit: Limit, rng: random.Random, slots: int
) -> list[asyncio.Task[Any]]:
    """A worker that is always busy; returns the task to cancel to kill it."""

    async def slot() -> None:
        while True:
            try:
                held = await limits.acquire([limit], "k")
            except LimitReached as reached:
                await stage.sleep(reached.retry_after + 0.01)
                continue
            hall.enter(limits)
            await stage.sleep(rng.uniform(0.05, 0.8))
            hall.leave(limits)
            limits.release(held)

    async def care() -> None:
        while True:
            await stage.sleep(rng.uniform(0.8, 1.2))
            await limits.renew()

    return [stage.spawn(care()), *(stage.spawn(slot()) for _ in range(slots))]


@pytest.mark.parametrize("keyed", [True, False])
async def test_workers_together_never_exceed_the_concurrency_and_a_dead_ones_slots_return(
    stage: Stage, keyed: bool
) -> None:
    rng, hall = random.Random(3), Hall()
    limit = Limit(next(names), concurrency=7, key=str if keyed else None)
    workers = {stage.worker(): list[asyncio.Task[Any]]() for _ in range(4)}
    for limits in workers:
        workers[limits] = hammer(stage, hall, limits, limit, rng, slots=6)
    await stage.run(20)
    assert hall.most == 7
    victim = max(workers, key=lambda limits: hall.inside[limits])
    assert hall.inside[victim] > 0
    for task in workers[victim]:
        task.cancel()
    await stage.run(SLOT_LEASE + 3)
    hall.inside[victim] = 0  # from here on, only the living workers count
    hall.most = 0
    await stage.run(10)
    assert hall.most == 7, "what the dead one had came back, and no more than that"
    async with stage.pool.acquire() as conn:
        leased = await conn.fetchval(
            "select sum(slots) from forebay.slot_lease where name = $1 and expires_at > $2", limit.name, stage.now()
        )
    assert leased <= 7


async def test_a_dead_workers_slots_stay_taken_until_they_expire(stage: Stage) -> None:
    limit = Limit(next(names), concurrency=1, key=str)
    dead, living = stage.worker(), stage.worker()
    await dead.acquire([limit], "k")
    stage.advance(SLOT_LEASE - 0.5)
    assert await _try(stage, living, limit) == 0.0  # it would rather wait: slots are free in half a second, usually
    assert living.describe()["limits"][limit.name]["used"] == 0
    stage.advance(0.5)
    await living.acquire([limit], "k")


async def test_a_worker_that_cannot_renew_starts_nothing_more(stage: Stage) -> None:
    limit = Limit(next(names), concurrency=2)
    limits = stage.worker()
    held = await limits.acquire([limit], None)
    assert limits.capacity([limit], 2) == 0
    await stage.calm()
    assert limits.capacity([limit]) == 1
    stage.advance(SLOT_LEASE)
    assert limits.capacity([limit]) == 0
    limits.release(held)


async def test_idle_slots_are_returned_and_all_of_them_at_the_end(stage: Stage) -> None:
    limit = Limit(next(names), concurrency=5, key=str)
    limits = stage.worker()
    held = [await limits.acquire([limit], key) for key in "aab"]
    limits.release(held[0])
    for _ in range(2):
        stage.advance(1)
        await limits.renew()
    assert await _slots(stage.pool, limit) == {"a": 1, "b": 1}
    limits.release(held[2])
    stage.advance(1)
    await limits.renew()
    assert await _slots(stage.pool, limit) == {"a": 1}
    await limits.close()
    assert await _slots(stage.pool, limit) == {}


async def _slots(pool: Pool, limit: Limit) -> dict[str, int]:
    async with pool.acquire() as conn:
        rows = await conn.fetch("select key, slots from forebay.slot_lease where name = $1", limit.name)
    return {row["key"]: row["slots"] for row in rows}


async def test_a_worker_with_all_slots_shares_them(stage: Stage) -> None:
    rng, hall, limit = random.Random(5), Hall(), Limit(next(names), concurrency=8)
    first, second = stage.worker(), stage.worker()
    hammer(stage, hall, first, limit, rng, slots=20)
    await stage.run(5)
    assert hall.inside[first] == 8
    hammer(stage, hall, second, limit, rng, slots=20)
    await stage.run(30)
    assert hall.most == 8
    assert hall.served[second] >= 0.25 * 30 / 0.425 * 8, "at least half of its share"


async def test_a_smaller_concurrency_holds_as_soon_as_running_tasks_end(stage: Stage) -> None:
    name = next(names)
    limits = stage.worker()
    held = [await limits.acquire([Limit(name, concurrency=4)], None) for _ in range(4)]
    smaller = Limit(name, concurrency=2)
    assert limits.capacity([smaller]) == 0
    await limits.renew()
    for h in held[:2]:
        limits.release(h)
    assert limits.capacity([smaller]) == 0
    limits.release(held[2])
    assert limits.capacity([smaller]) == 1


async def test_a_waiter_that_is_stopped_leaves_no_slot_behind(stage: Stage) -> None:
    limit = Limit(next(names), concurrency=1)
    limits = stage.worker()
    held = await limits.acquire([limit], None)
    waiting = stage.spawn(limits.acquire([limit], None))
    await stage.calm()
    limits.release(held)  # gives the slot to the waiter …
    waiting.cancel()  # … which never comes to use it
    with pytest.raises(asyncio.CancelledError):
        await waiting
    stage._tasks.discard(waiting)
    assert limits.describe()["limits"][limit.name]["used"] == 0
    await limits.acquire([limit], None)


async def test_a_waiter_is_sent_away_when_it_takes_too_long(stage: Stage) -> None:
    limit = Limit(next(names), concurrency=1, key=str)
    limits = stage.worker()
    await limits.acquire([limit], "k")
    waiting = asyncio.ensure_future(limits.acquire([limit], "k"))
    await stage.calm()
    assert not waiting.done()
    stage.advance(1)
    await limits.renew()
    with pytest.raises(LimitReached):
        await waiting


async def test_slots_leased_at_the_same_time_add_up(pool: Pool) -> None:
    """With the server's clock and real concurrency."""
    name, capacity, worst = next(names), 5, 0

    async def worker(worker_id: int) -> None:
        nonlocal worst
        rng = random.Random(worker_id)
        for _ in range(40):
            asks = [SlotAsk(name, key, capacity, rng.randint(0, 5)) for key in rng.sample(["a", "b"], 2)]
            await db.lease_slots(pool, worker_id, asks, SLOT_LEASE, None)
            async with pool.acquire() as conn:
                sums = await conn.fetch(
                    "select sum(slots) as n from forebay.slot_lease where name = $1 group by key", name
                )
            worst = max([worst, *(row["n"] for row in sums)])

    await asyncio.gather(*(worker(n) for n in range(8)))
    assert 0 < worst <= capacity


# -- other --------------------------------------------------------------------------------------------------------


async def test_a_refused_rate_gives_the_slot_back(stage: Stage) -> None:
    limits = stage.worker()
    limit = Limit(next(names), rate=1, per=100, concurrency=3, key=str)
    await limits.acquire([limit], "k")
    with pytest.raises(LimitReached):
        await limits.acquire([limit], "k")
    assert limits.describe()["limits"][limit.name]["used"] == 1


async def test_an_input_without_a_key_is_a_fault_of_the_data(stage: Stage) -> None:
    limit = Limit(next(names), rate=1, key=lambda value: str(value["host"]))
    with pytest.raises(DataError, match=rf"^limit {limit.name}: the input has no key \(KeyError: 'host'\)$"):
        await stage.worker().acquire([limit], {})


async def test_any_text_can_be_a_key(stage: Stage) -> None:
    limits, limit = stage.worker(), Limit(next(names), rate=100, key=str)
    for key in ("", "a\0b", "\ud800", "x" * 100_000):
        await limits.acquire([limit], key)
    async with stage.pool.acquire() as conn:
        assert await conn.fetchval("select max(length(key)) from forebay.rate_limit") <= 200


async def test_without_the_database_tasks_go_back(dsn: str) -> None:
    pool = await open_pool(dsn, size=1, name="test")
    limits = LimitClient(pool, 1, Clock())
    await pool.close()
    for limit in (Limit("r", rate=1), Limit("c", concurrency=1)):
        with pytest.raises(LimitReached):
            await limits.acquire([limit], None)
        assert limits.capacity([limit]) == 0
        assert 0 < limits.wait([limit]) <= 1


async def test_a_task_from_a_line_does_not_wait_in_the_line_of_its_next_key(pool: Pool) -> None:
    limits = LimitClient(pool, 1, Clock(), has_line=lambda _name, _key: True)
    first, second = (Limit(next(names), concurrency=1, key=str) for _ in range(2))
    with pytest.raises(LimitReached):
        await limits.acquire([first, second], "k")
    limits.release(await limits.acquire([first, second], "k", lane=(first.name, "k")))
    limits.release(await limits.acquire([first, second], "k", lane=(second.name, "k")))
    await limits.close()


async def test_unused_keys_are_forgotten(stage: Stage) -> None:
    limits = stage.worker()
    limit = Limit(next(names), rate=1, concurrency=1, key=str)
    limits.release(await limits.acquire([limit], "k"))
    stage.advance(100)
    await limits.renew()
    assert limits.describe()["limits"] == {}
    tidy = "select forebay.tidy_limits(now => $1)"
    assert await stage.pool.fetchval(tidy, stage.now()) == 0
    assert await stage.pool.fetchval(tidy, stage.now() + timedelta(minutes=61)) == 2


async def test_rows_are_updated_in_place(pool: Pool) -> None:
    async with pool.acquire() as conn:
        for _ in range(50):
            await conn.fetch("select forebay.take_tokens('{hot}', '{k}', '{0.1}', '{1}', '{0}', '{1}', 1, 0.1)")
        assert await conn.fetchval("select pg_relation_size('forebay.rate_limit_pkey')") <= 2 * 8192


async def test_against_real_time(pool: Pool) -> None:
    """Two workers on the real clock keep the bound; nothing is asserted about speed."""
    limit, starts = Limit(next(names), rate=2000), list[float]()

    async def slot(limits: LimitClient) -> None:
        for _ in range(20):
            try:
                await limits.acquire([limit], None)
            except LimitReached as reached:
                await asyncio.sleep(reached.retry_after)
            else:
                starts.append(asyncio.get_running_loop().time())

    workers = [LimitClient(pool, n, Clock()) for n in (1, 2)]
    await asyncio.gather(*(slot(limits) for limits in workers for _ in range(20)))
    for window in (0.02, 0.1):
        assert densest(starts, window) <= bound(limit, window)
    for limits in workers:
        await limits.close()
