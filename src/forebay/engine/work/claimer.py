"""Claiming: claims as many tasks from the lanes that have ready tasks as the executors have capacity for.

A worker learns about ready lanes in three ways: wake-ups (NOTIFY), its own settles, and polls of the tables.
"""

from __future__ import annotations

import asyncio
import time
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from forebay.db.pool import REJECTED
from forebay.engine.work.busy_lanes import BusyLanes
from forebay.engine.work.claim_picking import ClaimPicker
from forebay.engine.work.claim_sending import ClaimSender
from forebay.engine.work.lane_book import LaneBook
from forebay.engine.work.lane_polling import LanePolling
from forebay.engine.work.lane_waking import ClaimNews, LaneWaking
from forebay.engine.work.lease_intake import LeaseIntake
from forebay.engine.work.passing_on import PassingOn
from forebay.engine.work.peers import Peers
from forebay.engine.work.task_order import TaskOrder
from forebay.engine.work.wake_ups import WakeUps
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.waits import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from forebay.db.listen import Listener
    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Claim, ClaimCall, Lease
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.key_lanes import KeyLanes
    from forebay.engine.work.lanes import StepLanes
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.machine import Machine
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.slot_scheduler import SlotScheduler
    from forebay.engine.work.spans import Spans
    from forebay.engine.work.step_names import StepNames
    from forebay.engine.work.task_infos import TaskInfos
    from forebay.settings import Settings

log = get_logger("claimer")

_MIN_KEYS_WAIT = 0.01  # seconds between two looks at keys that are due while there is no capacity for their tasks


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
        scheduler: SlotScheduler,
        listener: Listener | None = None,
        spans: Spans | None = None,
        peers: Peers | None = None,
        only: frozenset[int] | None = None,
    ) -> None:
        self._clock = clock
        self._executors = executors
        self._peers = peers or Peers(worker_id)
        self._leases = leases
        self._limits = limits
        self._settler = settler
        self._names = names
        self._infos = infos
        self._scheduler = scheduler
        self._spans = spans  # None: tracing is off
        self._news = ClaimNews()
        self.lanes = LaneBook(executors, limits, only, spreads=not self._is_controlled)
        self._picker = ClaimPicker(
            executors,
            self.lanes,
            leases=leases,
            limits=limits,
            settler=settler,
            machine=machine,
            may_claim=self._may_claim,
            on_express=self._news.express.set,
        )
        timeout = 2 * settings.command_timeout_s
        reading = [step_id for step_id, executor in executors.items() if executor.step.after]
        self._sender = ClaimSender(pool, worker_id, clock, leases, timeout=timeout, reading=reading, listener=listener)
        self._intake = LeaseIntake(executors, self.lanes, leases, settler, clock)
        self._task_order: TaskOrder | None = None
        if any(executor.step.order is not None for executor in executors.values()):
            self._task_order = TaskOrder(
                pool,
                {step_id: executor.step for step_id, executor in executors.items()},
                clock,
                timeout=timeout,
                on_ready=self._on_sorted,
                on_idle=self.on_capacity,
            )
        self.polling = LanePolling(
            pool,
            clock,
            self.lanes,
            settings.poll_s,
            on_ready=self._news.on_ready,
            on_ready_key=self._news.keys.set,
            task_order=self._task_order,
            is_listening=lambda: listener is not None and listener.is_listening,
            workers=lambda: self._peers.least,
        )
        self.waking = LaneWaking(self.lanes, self._news, scheduler, self.polling, self._task_order)
        self._busy = BusyLanes(pool, clock, self.polling.request, on_unmarked=self._on_unmarked)
        self.passing_on = PassingOn(pool)
        self.wake_ups = WakeUps(
            self._peers,
            wake=self.waking.wake,
            is_active=self.lanes.is_active,
            has_room=self.has_room,
            pass_on=self.passing_on.add,
            on_all_told=self._busy.note_all_full,
        )
        self._hold_until = 0.0
        self._idle = asyncio.Event()
        self._closed = False
        self._stopped = False

    # -- notifications --------------------------------------------------------------------------------------------

    def claim_with(self, claim: ClaimCall) -> None:
        """Claim with this function instead of the one of workers."""
        self._sender.claim = claim

    @property
    def has_keys(self) -> bool:
        """Whether a step has a limit with a key."""
        return bool(self.lanes.keys)

    def on_capacity(self) -> None:
        """Handle free capacity of a step."""
        self._news.on_change()

    def _on_sorted(self, step_id: int, lane_id: int, seq: int | None) -> None:
        self.waking.wake_sorted(step_id, lane_id, seq)

    def ended(self, step_id: int, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended. Lanes of keys get starts in turn, not time."""
        self.lanes.steps[step_id].ended(lane_id, count, seconds)

    def returned(self, step_id: int, lane_id: int, count: int) -> None:
        """Charge a lane nothing for tasks that did not run."""
        self.lanes.steps[step_id].returned(lane_id, count)

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

    def has_room(self, step_id: int) -> bool:
        """Whether a task of this step would start soon in this worker."""
        return self._picker.has_room(step_id)

    def _may_claim(self) -> bool:
        return not self._closed and not self._stopped and not self.is_held

    def _on_unmarked(self, step_id: int, lane_id: int) -> None:
        """Tell the workers what was submitted without a wake-up, unless this one has room for it."""
        if not self.has_room(step_id):
            self.passing_on.add(step_id, lane_id, 1, 0)

    def close(self) -> None:
        """Stop claiming until `open` is called."""
        self._closed = True
        if self._task_order is not None:
            self._task_order.close()

    def open(self) -> None:
        self._closed = False
        if self._task_order is not None:
            self._task_order.open()
        self._news.on_open()

    def stop(self) -> None:
        self._stopped = True
        self._intake.stop()
        self._news.on_change()

    async def wait_until_idle(self) -> None:
        """Wait until all lanes have been polled and there is nothing to do."""
        await self.polling.find_ready_lanes()
        self._idle.clear()
        self._news.on_open()
        await self._idle.wait()

    # -- claiming -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Claim whenever there is capacity and something is ready. Two of these loops run concurrently."""
        await self._run(self._news.regular, self._picker.pick)

    async def run_express(self) -> None:
        """Claim a few of the newly arrived tasks immediately: while a long backlog is processed, an owner with one task
        waits neither for capacity nor behind a large claim."""
        await self._run(self._news.express, self._pick_express, is_express=True)

    def _pick_express(self) -> list[Claim]:
        claims = self._picker.pick_waiting()
        # From the wake-up until the tasks start, the event loop runs several times.
        self._scheduler.shorten(is_short=bool(claims))
        return claims

    async def run_keys(self) -> None:
        """Claim tasks that wait for a key of a limit when the key admits them."""
        await self._run(self._news.keys, self._picker.pick_of_keys, self._keys_wait)

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
        is_express: bool = False,
    ) -> None:
        while not self._stopped:
            news.clear()
            claims = pick()
            if claims:
                await self._claim_isolated(claims, is_express=is_express)
            else:
                self._note_idle()
                await wait_for(news, (wait or self._picker.limits_wait)())

    async def _claim_isolated(self, claims: list[Claim], *, is_express: bool) -> None:
        """Claim; if the claim is rejected, halve it until the lane that causes this is alone, so that the tasks of all
        others start. That lane is tried again when the next poll finds it."""
        try:
            await self._claim(claims, is_express=is_express)
        except REJECTED as error:
            if len(claims) > 1:
                middle = len(claims) // 2
                await self._claim_isolated(claims[:middle], is_express=is_express)
                await self._claim_isolated(claims[middle:], is_express=is_express)
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

    async def _claim(self, claims: list[Claim], *, is_express: bool) -> None:
        by_lanes: dict[StepLanes, list[Claim]] = {}
        for claim in claims:
            by_lanes.setdefault(self.lanes.lanes_of(claim.step_id, claim.lane_id), []).append(claim)
        began = time.monotonic()
        conn, leases, arrival = await self._sender.send(claims, is_express=is_express)
        seconds = time.monotonic() - began
        try:
            await self._learn_about(leases)
            for lanes, mine in by_lanes.items():
                lanes.claimed(mine, [lease for lease in leases if lease.step_id == lanes.step_id], seconds)
                self._note_busy(lanes, mine)
            await self._intake.accept(leases)
            for step_id, some in groupby(claims, attrgetter("step_id")):
                is_long = self._executors[step_id].keeps_none_ahead
                self.wake_ups.claimed(step_id, [claim.lane_id for claim in some], is_long=is_long)
            if is_express:
                await asyncio.sleep(0)  # the slots have been scheduled: they start before the rest of this is done
            if self.lanes.keys:
                self._note_claimed_keys(claims)
        finally:
            self._leases.note_arrival(arrival)
            await self._sender.release(conn)  # takes several iterations of the event loop; the tasks start meanwhile

    def _note_busy(self, lanes: StepLanes, claims: list[Claim]) -> None:
        step_id = lanes.step_id
        is_long = self._executors[step_id].keeps_none_ahead and self._peers.count_of(step_id) > 1
        for claim in claims:
            self._busy.note(step_id, claim.lane_id, is_full=lanes.lanes[claim.lane_id].full, is_long=is_long)

    async def _learn_about(self, leases: list[Lease]) -> None:
        try:
            await self._names.learn(leases)
            await self._infos.learn(leases)
            if self._spans is not None:
                await self._spans.learn(leases)
        except BaseException:
            self._sender.note_lost()  # these leases will not be in the book
            raise

    def _note_claimed_keys(self, claims: list[Claim]) -> None:
        for claim in claims:
            keys = self.lanes.keys.get(claim.step_id)
            if keys is not None and keys.key_of(claim.lane_id) is not None:
                keys.claimed(claim.lane_id)

    def _note_idle(self) -> None:
        if (
            not self._leases
            and not self._settler.backlog
            and all(wait > 0 and self._is_controlled for wait in self._picker.held_back_s())
            and all(self._is_held_back(lanes) for lanes in self.lanes.keys.values())
            and (self._task_order is None or self._task_order.is_idle)
        ):
            self._idle.set()

    def _is_held_back(self, keys: KeyLanes) -> bool:
        """Whether no task waits for a key, or none could start before the clock of a test advances."""
        look = keys.next_look()
        return look is None or (self._is_controlled and look > self._limits.now() and not keys.is_asking)

    @property
    def _is_controlled(self) -> bool:
        """Whether a test controls the clock: what waits for a later time waits until the test advances it."""
        return self._clock.stamp() is not None

    def next_start(self) -> float | None:
        """After how many seconds the next task that waits for a limit may start; None if none waits."""
        of_keys = self.lanes.next_start()
        return min([*self._picker.held_back_s(), *([] if of_keys is None else [of_keys])], default=None)

    def rewind(self) -> None:
        """Forget the watermarks of all lanes: the next claims read everything."""
        self.lanes.rewind()
        self.polling.request()

    async def mark_busy(self) -> None:
        """Record which lanes need no wake-ups from submitters, because their backlog is being processed."""
        await self._busy.write()
