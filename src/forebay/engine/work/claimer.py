"""Claiming: finds the lanes that have ready tasks, and claims as many tasks as the executors have capacity for.

A worker learns about ready lanes in three ways: wake-ups (NOTIFY), its own settles, and polls of the tables, at
intervals that grow while nothing is found. Only the polls are required for correctness.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from forebay.db.pool import REJECTED, UNAVAILABLE, release, retry_until_up
from forebay.engine.db import tasks
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.busy_lanes import BusyLanes
from forebay.engine.work.key_lanes import KeyLanes
from forebay.engine.work.lanes import StepLanes
from forebay.engine.work.task_order import TaskOrder
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.waits import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from forebay.db.pool import Connection, Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Claim, LaneInfo, Lease
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.machine import Machine
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.spans import Spans
    from forebay.engine.work.step_names import StepNames
    from forebay.engine.work.task_infos import TaskInfos
    from forebay.settings import Settings

log = get_logger("claimer")

_FIRST_POLL = 0.01
_MIN_KEYS_WAIT = 0.01  # seconds between two looks at keys that are due while there is no capacity for their tasks
_SWEEP_EVERY = 5.0  # seconds between polls below the watermark of a busy lane
_SWEEP_SHARE = 20  # polls of all lanes may use 1/20 of the time
_YIELD_EVERY = 250  # lanes after which a poll yields to the event loop


class Claimer:
    """Claims tasks for all steps of one worker."""

    def __init__(  # noqa: PLR0913 - one claimer is wired once
        self,
        pool: Pool,
        worker_id: int,
        settings: Settings,
        clock: Clock,
        *,
        executors: Mapping[int, StepExecutor],
        leases: LeaseBook,
        limits: LimitClient,
        settler: Settler,
        machine: Machine,
        names: StepNames,
        infos: TaskInfos,
        spans: Spans | None = None,
        only: frozenset[int] | None = None,
    ) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._poll_s = settings.poll_s
        self._timeout = 2 * settings.command_timeout_s
        self._clock = clock
        self._executors = executors
        self._order = sorted(executors.values(), key=lambda executor: -executor.step.priority)
        self._reading = [step_id for step_id, executor in executors.items() if executor.step.after]
        self._leases = leases
        self._limits = limits
        self._settler = settler
        self._machine = machine
        self._names = names
        self._infos = infos
        self._spans = spans  # None: tracing is off
        self._only = None if only is None else set(only)  # lanes; None: all
        self._lanes = {step_id: StepLanes(step_id) for step_id in executors}
        self._keys = {
            step_id: KeyLanes(step_id, executor.step.limits, limits)
            for step_id, executor in executors.items()
            if any(limit.key is not None for limit in executor.step.limits)
        }
        self._task_order: TaskOrder | None = None
        if any(executor.step.order is not None for executor in executors.values()):
            self._task_order = TaskOrder(
                pool,
                {step_id: executor.step for step_id, executor in executors.items()},
                clock,
                timeout=self._timeout,
                on_ready=self._wake_sorted,
                on_idle=self.on_capacity,
            )
        self._key_news = asyncio.Event()
        self._busy = BusyLanes(pool, clock, self.request_poll)
        self._unknown: set[int] = set()  # lanes whose owner and priority are to be read
        self._has_lost_claim = False  # the database may have leases that the book has not
        self._hold_until = 0.0
        self._pause = _FIRST_POLL
        self._news = asyncio.Event()
        self._express_news = asyncio.Event()
        self._poll_requested = False
        self._poll_news = asyncio.Event()  # a poll is requested, or a lane is unknown
        self._idle = asyncio.Event()
        self._closed = False
        self._stopped = False

    # -- notifications --------------------------------------------------------------------------------------------

    def wake(self, step_id: int, lane_id: int, seq: int | None = None) -> None:
        """Record that something is ready in this lane."""
        lanes = self._lanes.get(step_id)
        if lanes is None or (self._only is not None and lane_id not in self._only):
            return
        if self._task_order is None or not self._task_order.wake(step_id, lane_id):
            self._wake_lane(lanes, lane_id, seq)

    def _wake_sorted(self, step_id: int, lane_id: int, seq: int | None) -> None:
        """Record that tasks can be claimed from this lane: those in it have their order."""
        if self._only is not None:
            self._only.add(lane_id)
        if step_id in self._lanes:
            self._wake_lane(self._lanes[step_id], lane_id, seq)

    def _wake_lane(self, lanes: StepLanes, lane_id: int, seq: int | None) -> None:
        if lanes.wake(lane_id, seq):
            self._pause = _FIRST_POLL
            self._news.set()
            if not lanes.lanes[lane_id].known:
                self._unknown.add(lane_id)  # its owner and priority are read while its first tasks are claimed
                self._poll_news.set()
        self._express_news.set()  # last, because claims are sent in the order in which their loops wake up

    def wake_key(self, step_id: int, lane_id: int, seq: int, key: tuple[str, str] | None = None) -> None:
        """Record that tasks wait for a key in this lane; without the key, it is read first."""
        lanes = self._keys.get(step_id)
        if self._task_order is not None:
            self._task_order.learn_sorted(lane_id)
        if lanes is None:  # the step has no such limit any more, or the lane is that of tasks in order
            self.wake(step_id, lane_id, seq)
            return
        if key is not None:
            lanes.learn([lane_id], {lane_id: key})
            if self._only is not None:
                self._only.add(lane_id)
        if lanes.unknown([lane_id]):
            self.request_poll()
        elif lanes.key_of(lane_id) is None:
            self.wake(step_id, lane_id, seq)
        elif self._only is None or lane_id in self._only:
            if not lanes.wake(lane_id, seq):
                self._unknown.add(lane_id)
                self._poll_news.set()
            self._key_news.set()

    def on_key(self, name: str, key: str) -> None:
        """Handle that a key may admit more tasks."""
        for lanes in self._keys.values():
            if lanes.has_line((name, key)):
                lanes.look_at((name, key))
                self._key_news.set()

    def has_line(self, name: str, key: str) -> bool:
        """Whether tasks wait in lanes of this key."""
        return any(lanes.has_line((name, key)) for lanes in self._keys.values())

    @property
    def has_keys(self) -> bool:
        """Whether a step has a limit with a key."""
        return bool(self._keys)

    def next_start(self) -> float | None:
        """After how many seconds a key may admit the next task that waits for it; None if none waits."""
        looks = [look for lanes in self._keys.values() if (look := lanes.next_look()) is not None]
        return max(0.0, min(looks) - self._limits.now()) if looks else None

    def on_capacity(self) -> None:
        """Handle free capacity of a step. A lane may also have so few tasks left that the express claim serves it."""
        self._news.set()
        self._express_news.set()
        self._key_news.set()

    def ended(self, step_id: int, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended. Lanes of keys get starts in turn, not time."""
        self._lanes[step_id].ended(lane_id, count, seconds)

    def gave_back(self, step_id: int, lane_id: int, count: int) -> None:
        """Charge a lane nothing for tasks that did not run."""
        self._lanes[step_id].gave_back(lane_id, count)

    def longest_wait(self, step_id: int) -> float:
        """For how many seconds a lane of this step that has ready tasks has not been claimed from."""
        return self._lanes[step_id].longest_wait()

    def request_poll(self) -> None:
        """Poll soon, because wake-ups may have been missed."""
        self._pause = _FIRST_POLL
        self._poll_requested = True
        self._poll_news.set()

    def hold(self, seconds: float) -> None:
        """Stop claiming for a while, because this machine is overloaded."""
        self._hold_until = time.monotonic() + seconds

    @property
    def is_held(self) -> bool:
        return self._hold_until > time.monotonic()

    def close(self) -> None:
        """Stop claiming until `open` is called."""
        self._closed = True
        if self._task_order is not None:
            self._task_order.close()

    def open(self) -> None:
        self._closed = False
        if self._task_order is not None:
            self._task_order.open()
        self._news.set()
        self._key_news.set()

    def stop(self) -> None:
        self._stopped = True
        self._news.set()
        self._key_news.set()
        self._express_news.set()

    async def wait_until_idle(self) -> None:
        """Wait until all lanes have been polled and there is nothing to do."""
        await self.find_ready_lanes()
        self._idle.clear()
        self._news.set()
        self._key_news.set()
        await self._idle.wait()

    # -- claiming -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Claim whenever there is capacity and something is ready. Two of these loops run concurrently."""
        await self._run(self._news, self._pick)

    async def run_express(self) -> None:
        """Claim a few of the newly arrived tasks immediately: while a long backlog is processed, an owner with one task
        waits neither for capacity nor behind a large claim."""
        await self._run(self._express_news, self._pick_waiting)

    async def run_keys(self) -> None:
        """Claim tasks that wait for a key of a limit when the key admits them."""
        await self._run(self._key_news, self._pick_of_keys, self._keys_wait)

    @property
    def order_loop(self) -> Callable[[], Coroutine[Any, Any, None]] | None:
        """Puts the tasks of steps with an order in order; None if there is no such step."""
        return None if self._task_order is None else self._task_order.run

    async def _run(
        self, news: asyncio.Event, pick: Callable[[], list[Claim]], wait: Callable[[], float] | None = None
    ) -> None:
        while not self._stopped:
            news.clear()
            claims = pick()
            if claims:
                await self._claim_isolated(claims)
            else:
                self._note_idle()
                await wait_for(news, (wait or self._limits_wait)())

    async def _claim_isolated(self, claims: list[Claim]) -> None:
        """Claim; if the claim is rejected, halve it until the lane that causes this is alone, so that the tasks of all
        others start. That lane is tried again when the next poll finds it."""
        try:
            await self._claim(claims)
        except REJECTED as error:
            if len(claims) > 1:
                middle = len(claims) // 2
                await self._claim_isolated(claims[:middle])
                await self._claim_isolated(claims[middle:])
                return
            (claim,) = claims
            log.exception("claim_rejected", step=claim.step_id, lane=claim.lane_id, error=one_line(error))
            lanes = self._lanes_of(claim.step_id, claim.lane_id)
            lanes.failed([claim])
            lanes.set_aside(claim.lane_id)
        except BaseException:
            for claim in claims:
                self._lanes_of(claim.step_id, claim.lane_id).failed([claim])
            raise

    def _pick(self) -> list[Claim]:
        """What to claim now: for every step with capacity, tasks from the lanes that are next."""
        if self._closed or self.is_held or self._settler.is_full:
            return []
        claims: list[Claim] = []
        for executor in self._order:
            capacity, lanes = executor.capacity(self._machine.share), self._lanes[executor.step_id]
            if capacity > 0 and capacity >= executor.queue.size and lanes.active:
                claims += lanes.pick(self._within_limits(executor, capacity), self._leases.served(executor.step_id))
        return claims

    def _pick_waiting(self) -> list[Claim]:
        """The same for lanes that have almost nothing in this worker while others have much."""
        if self._closed or self.is_held:
            return []
        claims: list[Claim] = []
        for executor in self._order:
            lanes = self._lanes[executor.step_id]
            if not lanes.active:
                continue
            served, owners = self._leases.served(executor.step_id), self._leases.filled_by(executor.step_id)
            if served or owners:
                capacity = self._within_limits(executor, executor.concurrency.value)
                claims += lanes.pick_waiting(capacity, served, () if served else owners)
            elif executor.is_idle:  # the other loops may be in the middle of large claims of other steps
                claims += lanes.pick_waiting(self._within_limits(executor, executor.concurrency.value), served)
            elif (spare := executor.spare_reserve()) > 0:  # several owners hold all slots
                capacity = self._within_limits(executor, spare)
                claims += lanes.pick_waiting(capacity, served, self._leases.holders(executor.step_id))
            if executor.is_shared and (holders := self._leases.holders(executor.step_id)) and self._may_start(executor):
                claims += lanes.pick_outranked(holders)
            if lanes.has_priorities and self._may_start(executor):
                claims += lanes.pick_aged()
        return claims

    def _pick_of_keys(self) -> list[Claim]:
        """Tasks whose key admits them. They need not wait for capacity behind the backlog of other keys: they are few,
        and a start that is not used is lost. But no more of them wait in a queue than can run: another worker may be
        able to start them."""
        if self._closed or self.is_held or self._settler.is_full or self.next_start() != 0.0:
            return []
        claims: list[Claim] = []
        queued = {step_id: self._executors[step_id].queue.sizes_of_keys() for step_id in self._keys}
        taken = sum(queued.values(), Counter[tuple[str, str]]())
        for step_id, lanes in list(self._keys.items()):
            executor = self._executors[step_id]
            capacity = self._within_limits(executor, executor.concurrency.value - queued[step_id].total())
            if picked := lanes.pick(capacity, taken):
                claims += picked
                self._keys[step_id] = self._keys.pop(step_id)  # steps with the same key go in turn
        return claims

    def _keys_wait(self) -> float:
        wait = self.next_start()
        return 1.0 if wait is None else min(1.0, max(_MIN_KEYS_WAIT, wait))

    def _lanes_of(self, step_id: int, lane_id: int) -> StepLanes:
        keys = self._keys.get(step_id)
        return (keys.lanes_of(lane_id) if keys else None) or self._lanes[step_id]

    def _may_start(self, executor: StepExecutor) -> bool:
        """Whether the step's limits admit any task."""
        return not executor.step.limits or self._limits.capacity(executor.step.limits, 1) != 0

    def _within_limits(self, executor: StepExecutor, capacity: int) -> int:
        """How many of these tasks could start soon. Tasks that the step's limits hold back are better left
        unclaimed."""
        step = executor.step
        allowed = self._limits.capacity(step.limits, capacity) if step.limits else None
        return capacity if allowed is None else min(capacity, allowed * (step.batch_size or 1) - executor.queue.size)

    def _limits_wait(self) -> float:
        return min((self._limits.wait(e.step.limits) for e in self._order if e.step.limits), default=1.0)

    async def _claim(self, claims: list[Claim]) -> None:
        by_lanes: dict[StepLanes, list[Claim]] = {}
        for claim in claims:
            by_lanes.setdefault(self._lanes_of(claim.step_id, claim.lane_id), []).append(claim)
        conn, leases, arrival = await retry_until_up(
            lambda: self._claim_once(claims), self._claim_failed, self._timeout
        )
        try:
            await self._learn_about(leases)
            for lanes, mine in by_lanes.items():
                lanes.claimed(mine, [lease for lease in leases if lease.step_id == lanes.step_id])
                for claim in mine:
                    self._busy.note(lanes.step_id, claim.lane_id, is_full=lanes.lanes[claim.lane_id].full)
            self._accept(leases)
            if self._keys:
                self._note_claimed_keys(claims)
        finally:
            self._leases.note_arrival(arrival)
            await release(self._pool, conn)  # takes several iterations of the event loop; the tasks start meanwhile

    async def _learn_about(self, leases: list[Lease]) -> None:
        try:
            await self._names.learn(leases)
            await self._infos.learn(leases)
            if self._spans is not None:
                await self._spans.learn(leases)
        except BaseException:
            self._has_lost_claim = True  # these leases will not be in the book
            raise

    async def _claim_once(self, claims: list[Claim]) -> tuple[Connection, list[Lease], asyncio.Event]:
        """The leases, the connection of the claim, which the caller must release, and the arrival, which the caller
        must note when the leases are in the book."""
        if self._has_lost_claim:
            await self._leases.release_unknown()
            self._has_lost_claim = False
        lease_s = self._leases.length.value
        conn = await self._pool.acquire()
        arrival = self._leases.expect_claim()
        try:
            stamp = self._clock.stamp()
            return conn, await tasks.claim(conn, self._worker_id, claims, self._reading, lease_s, stamp), arrival
        except BaseException:
            self._leases.note_arrival(arrival)
            await release(self._pool, conn)
            raise

    def _accept(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._leases.add(lease)
            if len(lease.ns) < lease.open:
                for n in lease.missing():
                    self._cancel_missing(lease, n)
            if not self._stopped:  # otherwise the claim returned too late, and the lease is released with the others
                lane = self._lanes_of(lease.step_id, lease.lane_id).lanes[lease.lane_id]
                if lease.step_id in self._keys:
                    lease.key = self._keys[lease.step_id].key_of(lease.lane_id)
                self._executors[lease.step_id].queue.push(lease, lane.priority, lane.weight)
        for step_id in {lease.step_id for lease in leases}:
            self._executors[step_id].start_slots()

    def _note_claimed_keys(self, claims: list[Claim]) -> None:
        for claim in claims:
            keys = self._keys.get(claim.step_id)
            if keys is not None and keys.key_of(claim.lane_id) is not None:
                keys.claimed(claim.lane_id)

    def _cancel_missing(self, lease: Lease, n: int) -> None:
        """Settle a task whose item has ended or was deleted, so that the lease does not hold it."""
        attempt = Attempt(lease, n, self._clock.mark())
        attempt.fail("CANCELLED", reason="the item had already ended", ends_item=True)
        self._lanes[lease.step_id].gave_back(lease.lane_id, 1)
        self._settler.add(attempt)

    def _note_idle(self) -> None:
        if (
            not self._leases
            and not self._settler.backlog
            and not any(lanes.active for lanes in self._lanes.values())
            and all(self._is_held_back(lanes) for lanes in self._keys.values())
            and (self._task_order is None or self._task_order.is_idle)
        ):
            self._idle.set()

    def _is_held_back(self, keys: KeyLanes) -> bool:
        """Whether no task waits for a key, or none could start before the clock of a test advances."""
        look = keys.next_look()
        return look is None or (self._clock.stamp() is not None and look > self._limits.now() and not keys.is_asking)

    def _claim_failed(self, error: BaseException, pause: float) -> None:
        self._has_lost_claim = True  # perhaps only its response was lost
        self._lost(error, pause)

    def _lost(self, error: BaseException, pause: float) -> None:
        log.warning("claim_repeated", error=one_line(error), pause=pause)

    # -- polling --------------------------------------------------------------------------------------------------

    async def poll(self) -> None:
        """Poll for ready lanes forever. The interval doubles while nothing is found, so a task whose commit came after
        its wake-up waits about as long as the commit was late. Polling uses only a small share of the time."""
        while True:
            began, least = time.monotonic(), 0.0
            self._poll_requested = False
            try:
                await self.find_ready_lanes()
                least = _SWEEP_SHARE * (time.monotonic() - began)
            except REJECTED + UNAVAILABLE as error:  # the time until a timeout is no work of the server
                self._lost(error, self._pause)
            await self._wait_for_poll(least)
            self._pause = min(self._pause * 2, self._poll_s)

    async def _wait_for_poll(self, least: float) -> None:
        """Wait until the next poll is due or requested, but at least `least` seconds. Meanwhile lanes that wake-ups
        have named are described."""
        now = time.monotonic()
        earliest, latest = now + least, now + max(self._pause, least)
        while (due := earliest if self._poll_requested else latest) > now:
            await wait_for(self._poll_news, due - now)
            self._poll_news.clear()
            try:
                await self._describe_unknown()
            except REJECTED + UNAVAILABLE as error:
                self._lost(error, self._pause)
            now = time.monotonic()

    async def find_ready_lanes(self) -> None:
        found: Iterable[tuple[int, LaneInfo]]
        found = await tasks.find_ready_lanes(self._pool, list(self._executors), self._clock.stamp())
        if self._keys:
            found = await self._learn_keys(list(found))
        if self._task_order is not None:
            found = await self._task_order.sift(found)
        for count, (step_id, info) in enumerate(found, 1):
            if self._only is None or info.lane_id in self._only:
                self._found(self._lanes_of(step_id, info.lane_id), info)
            if not count % _YIELD_EVERY:
                await asyncio.sleep(0)
        for lanes in self._lanes.values():
            lanes.forget_idle()
        for keys in self._keys.values():
            keys.forget_idle()
        await self._describe_unknown()

    async def _learn_keys(self, found: list[tuple[int, LaneInfo]]) -> list[tuple[int, LaneInfo]]:
        """Read the keys of lanes that are new to their step."""
        lanes: dict[int, list[int]] = {}
        for step_id, info in found:
            if step_id in self._keys:
                lanes.setdefault(step_id, []).append(info.lane_id)
        new = {step_id: self._keys[step_id].unknown(mine) for step_id, mine in lanes.items()}
        if unknown := sorted({lane_id for mine in new.values() for lane_id in mine}):
            keys = await tasks.limit_keys(self._pool, unknown)
            for step_id, mine in new.items():
                self._keys[step_id].learn(mine, keys)
        return found

    def _found(self, lanes: StepLanes, info: LaneInfo) -> None:
        lanes.learn(info)
        # The lane was empty for us but is not empty: something is below the watermark. An active lane can have such
        # tasks too.
        if not lanes.is_active(info.lane_id):
            lanes.rewind(info.lane_id)
            if lanes is self._lanes[lanes.step_id]:
                lanes.wake(info.lane_id)
                self._news.set()
                self._express_news.set()
            else:
                self._keys[lanes.step_id].wake(info.lane_id)
                self._key_news.set()
        elif time.monotonic() - lanes.lanes[info.lane_id].rewound > _SWEEP_EVERY:
            lanes.rewind(info.lane_id)

    async def _describe_unknown(self) -> None:
        unknown, self._unknown = self._unknown, set[int]()
        if not unknown:
            return
        try:
            described = await tasks.describe_lanes(self._pool, sorted(unknown))
        except BaseException:
            self._unknown |= unknown
            raise
        for count, info in enumerate(described, 1):
            for step_id, lanes in self._lanes.items():
                if info.lane_id in lanes.lanes:
                    lanes.learn(info)
                elif self._keys and info.lane_id in (of_key := self._lanes_of(step_id, info.lane_id)).lanes:
                    of_key.learn(info)
            if not count % _YIELD_EVERY:
                await asyncio.sleep(0)

    async def mark_busy(self) -> None:
        """Record which lanes need no wake-ups from submitters, because their backlog is being processed."""
        await self._busy.write()
