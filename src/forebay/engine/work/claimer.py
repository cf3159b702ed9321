"""Claiming: claims as many tasks from the lanes that have ready tasks as the executors have capacity for.

A worker learns about ready lanes in three ways: wake-ups (NOTIFY), its own settles, and polls of the tables.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.db.pool import REJECTED, release, retry_until_up, terminate
from forebay.engine.db import tasks
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.busy_lanes import BusyLanes
from forebay.engine.work.claim_picking import ClaimPicker
from forebay.engine.work.lane_book import LaneBook
from forebay.engine.work.lane_polling import LanePolling
from forebay.engine.work.task_order import TaskOrder
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.waits import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from forebay.db.listen import Listener
    from forebay.db.pool import Connection, Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Claim, Lease
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.key_lanes import KeyLanes
    from forebay.engine.work.lanes import StepLanes
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.machine import Machine
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.spans import Spans
    from forebay.engine.work.step_names import StepNames
    from forebay.engine.work.task_infos import TaskInfos
    from forebay.settings import Settings

log = get_logger("claimer")

_MIN_KEYS_WAIT = 0.01  # seconds between two looks at keys that are due while there is no capacity for their tasks
_YIELD_EVERY = 250  # leases after which a claim yields to the event loop


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
        listener: Listener | None = None,
        spans: Spans | None = None,
        only: frozenset[int] | None = None,
    ) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._timeout = 2 * settings.command_timeout_s
        self._clock = clock
        self._executors = executors
        self._reading = [step_id for step_id, executor in executors.items() if executor.step.after]
        self._leases = leases
        self._limits = limits
        self._settler = settler
        self._names = names
        self._infos = infos
        self._listener = listener  # whose connection serves express claims; None: the pool serves them, too
        self._spans = spans  # None: tracing is off
        self.lanes = LaneBook(executors, limits, only)
        self._picker = ClaimPicker(
            executors,
            self.lanes,
            leases=leases,
            limits=limits,
            settler=settler,
            machine=machine,
            may_claim=self._may_claim,
            on_express=self._on_express,
        )
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
        self.polling = LanePolling(
            pool,
            clock,
            self.lanes,
            settings.poll_s,
            on_ready=self._on_ready,
            on_ready_key=self._on_ready_key,
            task_order=self._task_order,
        )
        self._key_news = asyncio.Event()
        self._busy = BusyLanes(pool, clock, self.polling.request)
        self._has_lost_claim = False  # the database may have leases that the book has not
        self._hold_until = 0.0
        self._news = asyncio.Event()
        self._express_news = asyncio.Event()
        self._idle = asyncio.Event()
        self._closed = False
        self._stopped = False

    # -- notifications --------------------------------------------------------------------------------------------

    def wake(self, step_id: int, lane_id: int, seq: int | None = None) -> None:
        """Record that something is ready in this lane."""
        lanes = self.lanes.steps.get(step_id)
        if lanes is None or not self.lanes.serves(lane_id):
            return
        if self._task_order is None or not self._task_order.wake(step_id, lane_id):
            self._wake_lane(lanes, lane_id, seq)

    def _wake_sorted(self, step_id: int, lane_id: int, seq: int | None) -> None:
        """Record that tasks can be claimed from this lane: those in it have their order."""
        if self.lanes.only is not None:
            self.lanes.only.add(lane_id)
        if step_id in self.lanes.steps:
            self._wake_lane(self.lanes.steps[step_id], lane_id, seq)

    def _wake_lane(self, lanes: StepLanes, lane_id: int, seq: int | None) -> None:
        self._express_news.set()  # first, because claims are sent in the order in which their loops wake up
        if lanes.wake(lane_id, seq):
            self.polling.restart()
            self._news.set()
            if not lanes.lanes[lane_id].known:
                self.polling.describe(lane_id)  # its owner and priority are read while its first tasks are claimed

    def wake_key(self, step_id: int, lane_id: int, seq: int, key: tuple[str, str] | None = None) -> None:
        """Record that tasks wait for a key in this lane; without the key, it is read first."""
        lanes = self.lanes.keys.get(step_id)
        if self._task_order is not None:
            self._task_order.learn_sorted(lane_id)
        if lanes is None:  # the step has no such limit any more, or the lane is that of tasks in order
            self.wake(step_id, lane_id, seq)
            return
        if key is not None:
            lanes.learn([lane_id], {lane_id: key})
            if self.lanes.only is not None:
                self.lanes.only.add(lane_id)
        if lanes.unknown([lane_id]):
            self.polling.request()
        elif lanes.key_of(lane_id) is None:
            self.wake(step_id, lane_id, seq)
        elif self.lanes.serves(lane_id):
            if not lanes.wake(lane_id, seq):
                self.polling.describe(lane_id)
            self._key_news.set()

    def on_key(self, name: str, key: str) -> None:
        """Handle that a key may admit more tasks."""
        for lanes in self.lanes.keys.values():
            if lanes.has_line((name, key)):
                lanes.look_at((name, key))
                self._key_news.set()

    def has_line(self, name: str, key: str) -> bool:
        """Whether tasks wait in lanes of this key."""
        return any(lanes.has_line((name, key)) for lanes in self.lanes.keys.values())

    @property
    def has_keys(self) -> bool:
        """Whether a step has a limit with a key."""
        return bool(self.lanes.keys)

    def on_capacity(self) -> None:
        """Handle free capacity of a step. A lane may also have so few tasks left that the express claim serves it."""
        self._news.set()
        self._express_news.set()
        self._key_news.set()

    def _on_ready(self) -> None:
        self._news.set()
        self._express_news.set()

    def _on_ready_key(self) -> None:
        self._key_news.set()

    def _on_express(self) -> None:
        self._express_news.set()

    def ended(self, step_id: int, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended. Lanes of keys get starts in turn, not time."""
        self.lanes.steps[step_id].ended(lane_id, count, seconds)

    def gave_back(self, step_id: int, lane_id: int, count: int) -> None:
        """Charge a lane nothing for tasks that did not run."""
        self.lanes.steps[step_id].gave_back(lane_id, count)

    def longest_wait(self, step_id: int) -> float:
        """For how many seconds a lane of this step that has ready tasks has not been claimed from."""
        return self.lanes.steps[step_id].longest_wait()

    def hold(self, seconds: float) -> None:
        """Stop claiming for a while, because this machine is overloaded."""
        self._hold_until = time.monotonic() + seconds

    @property
    def is_held(self) -> bool:
        return self._hold_until > time.monotonic()

    @property
    def held_s(self) -> float:
        """For how many more seconds it does not claim."""
        return max(0.0, self._hold_until - time.monotonic())

    def _may_claim(self) -> bool:
        return not self._closed and not self.is_held

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
        await self.polling.find_ready_lanes()
        self._idle.clear()
        self._news.set()
        self._key_news.set()
        await self._idle.wait()

    # -- claiming -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Claim whenever there is capacity and something is ready. Two of these loops run concurrently."""
        await self._run(self._news, self._picker.pick)

    async def run_express(self) -> None:
        """Claim a few of the newly arrived tasks immediately: while a long backlog is processed, an owner with one task
        waits neither for capacity nor behind a large claim."""
        await self._run(self._express_news, self._picker.pick_waiting, listener=self._listener)

    async def run_keys(self) -> None:
        """Claim tasks that wait for a key of a limit when the key admits them."""
        await self._run(self._key_news, self._picker.pick_of_keys, self._keys_wait)

    @property
    def order_loop(self) -> Callable[[], Coroutine[Any, Any, None]] | None:
        """Puts the tasks of steps with an order in order; None if there is no such step."""
        return None if self._task_order is None else self._task_order.run

    async def _run(
        self,
        news: asyncio.Event,
        pick: Callable[[], list[Claim]],
        wait: Callable[[], float] | None = None,
        *,
        listener: Listener | None = None,
    ) -> None:
        while not self._stopped:
            news.clear()
            claims = pick()
            if claims:
                await self._claim_isolated(claims, listener)
            else:
                self._note_idle()
                await wait_for(news, (wait or self._picker.limits_wait)())

    async def _claim_isolated(self, claims: list[Claim], listener: Listener | None) -> None:
        """Claim; if the claim is rejected, halve it until the lane that causes this is alone, so that the tasks of all
        others start. That lane is tried again when the next poll finds it."""
        try:
            await self._claim(claims, listener)
        except REJECTED as error:
            if len(claims) > 1:
                middle = len(claims) // 2
                await self._claim_isolated(claims[:middle], listener)
                await self._claim_isolated(claims[middle:], listener)
                return
            (claim,) = claims
            log.exception("claim_rejected", step=claim.step_id, lane=claim.lane_id, error=one_line(error))
            lanes = self.lanes.lanes_of(claim.step_id, claim.lane_id)
            lanes.failed([claim])
            lanes.set_aside(claim.lane_id)
        except BaseException:
            for claim in claims:
                self.lanes.lanes_of(claim.step_id, claim.lane_id).failed([claim])
            raise

    def _keys_wait(self) -> float:
        wait = self.lanes.next_start()
        return 1.0 if wait is None else min(1.0, max(_MIN_KEYS_WAIT, wait))

    async def _claim(self, claims: list[Claim], listener: Listener | None) -> None:
        by_lanes: dict[StepLanes, list[Claim]] = {}
        for claim in claims:
            by_lanes.setdefault(self.lanes.lanes_of(claim.step_id, claim.lane_id), []).append(claim)
        conn, leases, arrival = await retry_until_up(
            lambda: self._claim_once(claims, listener), self._claim_failed, self._timeout
        )
        try:
            await self._learn_about(leases)
            for lanes, mine in by_lanes.items():
                lanes.claimed(mine, [lease for lease in leases if lease.step_id == lanes.step_id])
                for claim in mine:
                    self._busy.note(lanes.step_id, claim.lane_id, is_full=lanes.lanes[claim.lane_id].full)
            await self._accept(leases)
            if self.lanes.keys:
                self._note_claimed_keys(claims)
        finally:
            self._leases.note_arrival(arrival)
            await self._release(conn)  # takes several iterations of the event loop; the tasks start meanwhile

    async def _learn_about(self, leases: list[Lease]) -> None:
        try:
            await self._names.learn(leases)
            await self._infos.learn(leases)
            if self._spans is not None:
                await self._spans.learn(leases)
        except BaseException:
            self._has_lost_claim = True  # these leases will not be in the book
            raise

    async def _claim_once(
        self, claims: list[Claim], listener: Listener | None
    ) -> tuple[Connection, list[Lease], asyncio.Event]:
        """The leases, the connection of the claim, which the caller must release, and the arrival, which the caller
        must note when the leases are in the book."""
        if self._has_lost_claim:
            await self._leases.release_unknown()
            self._has_lost_claim = False
        lease_s = self._leases.length.value
        conn = None if listener is None else listener.take()
        if conn is None:
            conn = await self._pool.acquire()
        arrival = self._leases.expect_claim()
        try:
            stamp = self._clock.stamp()
            return conn, await tasks.claim(conn, self._worker_id, claims, self._reading, lease_s, stamp), arrival
        except BaseException as error:
            self._leases.note_arrival(arrival)
            await self._release(conn, is_sound=isinstance(error, REJECTED))
            raise

    async def _release(self, conn: Connection, *, is_sound: bool = True) -> None:
        if self._listener is None or not self._listener.give_back(conn):
            await release(self._pool, conn)
        elif not is_sound:
            terminate(conn)  # otherwise the listener might wait for it

    async def _accept(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._executors[lease.step_id].arriving += len(lease.ns)
        for start in range(0, len(leases), _YIELD_EVERY):
            if start:
                await asyncio.sleep(0)
            some = leases[start : start + _YIELD_EVERY]
            for lease in some:
                self._executors[lease.step_id].arriving -= len(lease.ns)
            self._accept_some(some)

    def _accept_some(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._leases.add(lease)
            if len(lease.ns) < lease.open:
                for n in lease.missing():
                    self._cancel_missing(lease, n)
            if not self._stopped:  # otherwise the claim returned too late, and the lease is released with the others
                lane = self.lanes.lanes_of(lease.step_id, lease.lane_id).lanes[lease.lane_id]
                if lease.step_id in self.lanes.keys:
                    lease.key = self.lanes.keys[lease.step_id].key_of(lease.lane_id)
                self._executors[lease.step_id].queue.push(lease, lane.priority, lane.weight)
        for step_id in {lease.step_id for lease in leases}:
            self._executors[step_id].start_slots()

    def _note_claimed_keys(self, claims: list[Claim]) -> None:
        for claim in claims:
            keys = self.lanes.keys.get(claim.step_id)
            if keys is not None and keys.key_of(claim.lane_id) is not None:
                keys.claimed(claim.lane_id)

    def _cancel_missing(self, lease: Lease, n: int) -> None:
        """Settle a task whose item has ended or was deleted, so that the lease does not hold it."""
        attempt = Attempt(lease, n, self._clock.mark())
        attempt.fail("CANCELLED", reason="the item had already ended", ends_item=True)
        self.lanes.steps[lease.step_id].gave_back(lease.lane_id, 1)
        self._settler.add(attempt)

    def _note_idle(self) -> None:
        if (
            not self._leases
            and not self._settler.backlog
            and not any(lanes.active for lanes in self.lanes.steps.values())
            and all(self._is_held_back(lanes) for lanes in self.lanes.keys.values())
            and (self._task_order is None or self._task_order.is_idle)
        ):
            self._idle.set()

    def _is_held_back(self, keys: KeyLanes) -> bool:
        """Whether no task waits for a key, or none could start before the clock of a test advances."""
        look = keys.next_look()
        return look is None or (self._clock.stamp() is not None and look > self._limits.now() and not keys.is_asking)

    def _claim_failed(self, error: BaseException, pause: float) -> None:
        self._has_lost_claim = True  # perhaps only its response was lost
        log.warning("claim_repeated", error=one_line(error), pause=pause)

    async def mark_busy(self) -> None:
        """Record which lanes need no wake-ups from submitters, because their backlog is being processed."""
        await self._busy.write()
