"""The runner: runs the steps that dispatchers offer. It has no database."""

from __future__ import annotations

import asyncio
import secrets
import socket
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from forebay.engine.clock import Clock
from forebay.engine.db.tasks import Lease
from forebay.engine.declare.resources import Resources
from forebay.engine.loops import every
from forebay.engine.processes.pool import ProcessPool
from forebay.engine.work.claim_size import ClaimSize
from forebay.engine.work.executor import StepExecutor
from forebay.engine.work.hook_calls import HookCalls
from forebay.engine.work.machine import Machine
from forebay.engine.work.slot_scheduler import SlotScheduler
from forebay.engine.work.step_calls import call_of
from forebay.engine.work.threads import Threads, threads_needed
from forebay.errors import DataError
from forebay.fleet.beats import beats_of
from forebay.fleet.offerable import why_not_offered
from forebay.fleet.outbox import Outbox
from forebay.fleet.outcomes import RELEASED, encode_outcome, encode_refused
from forebay.fleet.port import Beat, BrokerUnavailable, HeldOffer, Report, TaskEnd
from forebay.fleet.step_calls import (
    NoDatabase,
    NoLimits,
    OfferArguments,
    RunnerProgress,
    RunnerServices,
    remembering,
)
from forebay.log import get_logger
from forebay.settings import Settings
from forebay.types import Cancel, Done, NotFound, Skip, Snooze, Wait
from forebay.waits import Backoff, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.fleet.port import Offer, OfferedTask, RunnerPort

log = get_logger("runner")

_OUTCOMES = (Done, NotFound, Skip, Snooze, Cancel, Wait)


@dataclass(slots=True, eq=False)
class HeldWork:
    """An offer that this runner has, and how its tasks have ended so far."""

    offer: Offer
    step_id: int
    ends: list[TaskEnd] = field(default_factory=list[TaskEnd])


class StepRunner:
    """Takes offers for as many tasks as its steps have slots, and reports how they end."""

    def __init__(
        self,
        port: RunnerPort,
        pipelines: Sequence[Pipeline[Any]],
        *,
        settings: Settings | None = None,
        resources: Mapping[Resource[Any], Resource[Any]] | None = None,
        name: str | None = None,
    ) -> None:
        """`resources` replaces resources, for tests."""
        self.settings = s = settings or Settings()
        self.name = name or f"{socket.gethostname()}-{secrets.token_hex(4)}"
        self.reported = 0
        for pipeline in pipelines:
            pipeline.tune(s)
        self._port = port
        self._clock = Clock()
        self._stopping = asyncio.Event()
        self._ready = asyncio.Event()
        self._held: dict[str, HeldWork] = {}
        self._tasks: dict[int, tuple[Offer, OfferedTask]] = {}  # by token
        self._returned: dict[Attempt, object] = {}
        self._outbox = Outbox()
        self._empty = asyncio.Event()  # set when the last offer was reported
        self._progress = RunnerProgress(self._clock)
        self._processes = ProcessPool(sandbox=s.sandbox or "preferred")
        self._no_limits, self._no_database = _stand_ins()
        self._resources = Resources(s, self._no_database, self._no_limits, resources)
        steps = [step for pipeline in pipelines for step in pipeline.steps.values()]
        steps = [step for step in steps if not s.queue_names or step.queue in s.queue_names]
        steps = [step for step in steps if why_not_offered(step) is None]
        self._threads = Threads(most=threads_needed(steps, s.owner_reserve))
        self._scheduler = SlotScheduler()
        self._machine = Machine()
        self._room = {step_id: asyncio.Event() for step_id in range(len(steps))}
        self._executors = {step_id: self._executor(step, step_id) for step_id, step in enumerate(steps)}

    def _executor(self, step: Step[Any, Any], step_id: int) -> StepExecutor:
        s = self.settings
        # The dispatcher has entered the limits, kept the order and filled the batch.
        offered = replace(step, limits=(), order=None, linger=0.0)
        call = call_of(step, self._threads, self._processes, with_context=bool(step.pipeline.hooks))
        report: Callable[[Attempt], None] = self._on_end
        if step.pipeline.hooks:
            hooks = HookCalls(step)
            call, report = hooks.calling(call), hooks.reporting(report)
        executor = StepExecutor(
            offered,
            step_id,
            call=remembering(call, step, self._remember),
            arguments=OfferArguments(offered, self._port, self._tasks),
            report=report,
            on_capacity=self._room[step_id].set,
            on_ended=lambda _lane, _count, _seconds: None,
            on_dropped=lambda _lane, _count: None,
            services=RunnerServices(self._progress, self._resources, self._processes),
            limits=self._no_limits,
            maps=self._no_database,
            clock=self._clock,
            size=ClaimSize(slice_s=s.slice_ms / 1000, safety=s.claim_safety, least=s.claim_min, most=s.claim_max),
            scheduler=self._scheduler,
        )
        executor.is_shared = False  # offers come in the order in which they are to run
        return executor

    # -- lifecycle -------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Take no more offers; running steps get the grace period to finish."""
        self._stopping.set()

    async def ready_or_failed(self, running: asyncio.Task[None]) -> None:
        """Wait until the runner takes offers; raise the error if it failed to start."""
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if running.done():
            running.result()

    async def run(self) -> None:
        """Run offered tasks until `stop` is called; then finish them, or hand them back."""
        try:
            if await self._open():
                await self._work()
        finally:
            await self._port.close()
            await self._resources.close()
            await self._processes.close()
            self._threads.close()
        log.info("runner_stopped", runner=self.name, reported=self.reported)

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as group:
            takes = [group.create_task(self._take(each), name="take") for each in self._executors.values()]
            loops = [
                group.create_task(self._send_reports(), name="reports"),
                group.create_task(self._read_tells(), name="tells"),
                group.create_task(every(self._beat_s, "beat", self._beat), name="beat"),
                group.create_task(every(0.05, "overdue", self._stop_overdue), name="overdue"),
                group.create_task(self._machine.watch(), name="machine"),
            ]
            self._ready.set()
            await self._stopping.wait()
            for take in takes:
                take.cancel()
            await self._end_tasks()
            await self._drain_reports()
            for loop in loops:
                loop.cancel()
        await self._send_beat(Beat(self.name, is_last=True))

    async def _open(self) -> bool:
        """Wait for the broker; return False if this runner is stopped before."""
        labels = [executor.step.label for executor in self._executors.values()]
        backoff = Backoff(0.2, 5)
        while not self._stopping.is_set():
            try:
                # Dispatchers release what no runner has taken for so long: it is, or will be, in another offer.
                await self._port.open(self.name, labels, fresh_s=self.settings.lease_floor_s)
            except BrokerUnavailable as error:
                pause = backoff.grow()
                log.warning("broker_awaited", reason=str(error), next_try_s=pause)
                await wait_for(self._stopping, pause)
            else:
                log.info("runner_started", runner=self.name, steps=labels)
                return True
        return False

    async def _end_tasks(self) -> None:
        for executor in self._executors.values():
            for lease, n in executor.queue.drop(lambda _: True):
                self._end(TaskEnd(lease.token, n, 0.0, {"kind": RELEASED, "reason": "the runner stops"}))
        await self._wait_for_slots(self.settings.grace_s)
        for executor in self._executors.values():
            executor.stop_all("shutdown")
        await self._wait_for_slots(2.0)

    async def _wait_for_slots(self, seconds: float) -> None:
        if slots := {slot for executor in self._executors.values() for slot in executor.slots}:
            await asyncio.wait(slots, timeout=seconds)

    # -- offers ----------------------------------------------------------------------------------------------------

    async def _take(self, executor: StepExecutor) -> None:
        room = self._room[executor.step_id]
        backoff = Backoff(0.1, 2)
        while True:
            room.clear()
            free = executor.slots_at(self._machine.share) - len(executor.running) - executor.queue.size
            if free <= 0:
                await wait_for(room, 1.0)
                continue
            try:
                offers = await self._port.take(executor.step.label, free)
                if offers:
                    await self._accept(executor, offers)
            except BrokerUnavailable as error:
                log.debug("offers_not_taken", step=executor.step.label, error=str(error))
                await asyncio.sleep(backoff.grow())
            else:
                backoff.reset()

    async def _accept(self, executor: StepExecutor, offers: Sequence[Offer]) -> None:
        new: list[Offer] = []
        for offer in offers:
            if offer.id in self._held:  # a broker may deliver twice, also at once
                continue
            new.append(offer)
            self._held[offer.id] = HeldWork(offer, executor.step_id)
            self._tasks.update((task.token, (offer, task)) for task in offer.tasks)
        if not new:
            return
        # First, so that a dispatcher knows who had the task if it kills this process.
        await self._send_beats([self._held_offer(offer, ()) for offer in new])
        for offer in new:
            for task in offer.tasks if offer.id in self._held else ():
                executor.queue.push(_lease(task, executor.step_id), 0, 1.0)
        executor.start_slots()

    # -- reports ---------------------------------------------------------------------------------------------------

    def _remember(self, attempt: Attempt, value: object) -> None:
        if isinstance(value, _OUTCOMES):
            self._returned[attempt] = value

    def _on_end(self, attempt: Attempt) -> None:
        returned = self._returned.pop(attempt, None)
        if attempt.token not in self._tasks:  # dropped
            return
        step = self._executors[attempt.lease.step_id].step
        seconds = self._clock.mark() - attempt.started
        try:
            outcome = encode_outcome(attempt, step, returned)
        except DataError as error:
            outcome = encode_refused(error)
        self._end(TaskEnd(attempt.token, attempt.n, seconds, outcome))

    def _end(self, end: TaskEnd) -> None:
        offer, _ = self._tasks[end.token]
        held = self._held[offer.id]
        held.ends.append(end)
        if len(held.ends) == len(offer.tasks):
            self._outbox.add(Report(offer.id, offer.dispatcher, self.name, tuple(held.ends)))

    async def _send_reports(self) -> None:
        backoff = Backoff(0.05, 2)
        while True:
            some = await self._outbox.next()
            try:
                await self._port.report(some)
            except BrokerUnavailable as error:
                log.warning("reports_delayed", reports=len(self._outbox), error=str(error), pause=backoff.grow())
                await asyncio.sleep(backoff.pause)
            else:
                backoff.reset()
                self._outbox.remove(some)
                self.reported += len(some)
                for report in some:
                    self._forget(report.offer)

    async def _drain_reports(self) -> None:
        self._empty.clear()
        if self._held and not await wait_for(self._empty, 10):  # their leases run out
            log.warning("reports_not_sent", offers=len(self._held))

    def _forget(self, offer_id: str) -> None:
        held = self._held.pop(offer_id, None)
        for task in () if held is None else held.offer.tasks:
            self._tasks.pop(task.token, None)
        if not self._held:
            self._empty.set()

    # -- signs of life ---------------------------------------------------------------------------------------------

    @property
    def _beat_s(self) -> float:
        return min(1.0, self.settings.lease_floor_s / 8)

    async def _beat(self) -> None:
        notes = self._progress.take()
        share = self._machine.share
        slots = {executor.step.label: executor.slots_at(share) for executor in self._executors.values()}
        running = {attempt.token for executor in self._executors.values() for attempt in executor.running}
        held = [self._held_offer(each.offer, running, notes) for each in self._held.values()]
        await self._send_beats(held, slots={} if self._stopping.is_set() else slots)

    async def _send_beats(self, held: Sequence[HeldOffer], slots: Mapping[str, int] | None = None) -> None:
        for beat in beats_of(self.name, held, slots=slots):
            await self._send_beat(beat)

    async def _send_beat(self, beat: Beat) -> None:
        try:
            await self._port.beat(beat)
        except BrokerUnavailable as error:
            log.debug("beat_not_sent", error=str(error))

    def _held_offer(
        self, offer: Offer, running: Collection[int], notes: Mapping[int, dict[str, Any]] | None = None
    ) -> HeldOffer:
        tokens = tuple(task.token for task in offer.tasks)
        is_running = any(token in running for token in tokens)
        return HeldOffer(offer.id, offer.dispatcher, tokens, (notes or {}).get(tokens[0]), is_running)

    async def _read_tells(self) -> None:
        async for drop in self._port.tells():
            for offer_id in drop.offers:
                self._drop(offer_id)

    def _drop(self, offer_id: str) -> None:
        held = self._held.get(offer_id)
        if held is None:
            return
        self._forget(offer_id)
        tokens = {task.token for task in held.offer.tasks}
        self._executors[held.step_id].drop_leases(tokens, "lost")

    async def _stop_overdue(self) -> None:
        now = asyncio.get_running_loop().time()
        for executor in self._executors.values():
            executor.stop_overdue(now)
            executor.start_slots()


def _stand_ins() -> tuple[Any, Any]:
    return NoLimits(), NoDatabase()


def _lease(task: OfferedTask, step_id: int) -> Lease:
    return Lease(
        token=task.token,
        step_id=step_id,
        lane_id=0,
        job_id=task.job_id,
        owner_id=task.owner_id,
        attempt=task.attempt,
        seq=0,
        rest=0,
        first_n=task.n,
        last_n=task.n,
        ns=[task.n],
        inputs=[task.input],
        results=[task.results],
        names=task.names,
        open=1,
    )
