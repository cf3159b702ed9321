"""The worker: connects the modules that claim, run and settle tasks, and runs their loops."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from forebay.db import migrate
from forebay.db.listen import Listener
from forebay.db.measured_pool import open_measured_pool
from forebay.db.pool import UNAVAILABLE, close_pool, retry_until_up
from forebay.engine.clock import Clock
from forebay.engine.db import registry
from forebay.engine.declare.loading import parts_needed
from forebay.engine.declare.resources import Resources
from forebay.engine.limits.client import LimitClient
from forebay.engine.loops import every
from forebay.engine.maintenance.leader import Leader
from forebay.engine.maintenance.sweeper import Sweeper
from forebay.engine.processes.pool import ProcessPool
from forebay.engine.work import job_log
from forebay.engine.work.arguments import StepArguments
from forebay.engine.work.attempt import HELD_BACK
from forebay.engine.work.claim_size import ClaimSize
from forebay.engine.work.claimer import Claimer
from forebay.engine.work.executor import StepExecutor
from forebay.engine.work.failure_log import FailureLog
from forebay.engine.work.heartbeat import Heartbeat
from forebay.engine.work.hook_calls import HookCalls
from forebay.engine.work.leases import LeaseBook
from forebay.engine.work.limited_tasks import LimitedTasks
from forebay.engine.work.machine import Machine
from forebay.engine.work.maps import Maps
from forebay.engine.work.parking import QueueParking
from forebay.engine.work.progress import ProgressBook
from forebay.engine.work.recent_work import RecentWork
from forebay.engine.work.registration import register
from forebay.engine.work.settler import Settler
from forebay.engine.work.slices import AwaitedJobs, wait_for_first
from forebay.engine.work.status import describe_steps, last_error
from forebay.engine.work.step_calls import WorkerServices, call_of
from forebay.engine.work.step_names import StepNames
from forebay.engine.work.task_infos import TaskInfos
from forebay.engine.work.threads import Threads, threads_needed
from forebay.engine.work.transactions import StepTransactions
from forebay.engine.work.turns import Turns
from forebay.engine.work.wake_ups import WakeUps
from forebay.errors import one_line
from forebay.log import get_logger, is_debug_enabled, use_level
from forebay.settings import Settings
from forebay.telemetry import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

    from forebay.db.measured_pool import MeasuredPool
    from forebay.db.pool import Pool
    from forebay.engine.db.registry import Version
    from forebay.engine.db.tasks import Settled, Woken
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.spans import Spans

log = get_logger("worker")

_IDLE_STATUS_EVERY = 10.0  # seconds between the status reports of an idle worker


class Worker:
    """Runs the steps of some pipelines on one database until it is stopped."""

    def __init__(
        self,
        dsn: str,
        pipelines: Sequence[Pipeline[Any]],
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        closed: bool = False,
        lanes: frozenset[int] | None = None,
        resources: Mapping[Resource[Any], Resource[Any]] | None = None,
    ) -> None:
        """`lanes`: restrict the worker to these lanes. For tests: with `closed` it claims only while `drain` runs;
        `resources` replaces resources."""
        self.settings = settings or Settings()
        use_level(self.settings.log_level, explicit="log_level" in self.settings.model_fields_set)
        self.clock = clock or Clock()
        self.worker_id = 0
        self._dsn = dsn
        self._pipelines = pipelines
        for pipeline in pipelines:
            pipeline.tune(self.settings)
        self._closed = closed
        self._lanes = lanes
        self._resource_overrides = resources
        self._awaited = AwaitedJobs()
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._executors: dict[int, StepExecutor] = {}
        self._machine = Machine()
        self._turns = Turns()
        self._reported_at = 0.0  # monotonic
        self._settled_at_report = 0
        self._recent = RecentWork()

    @property
    def stuck_threads(self) -> int:
        """Threads that still run abandoned steps."""
        return self._threads.stuck

    @property
    def settled(self) -> int:
        """The number of attempts that this worker has settled."""
        return self._settler.settled

    # -- lifecycle ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until `stop` is called; then finish or release the tasks in progress."""
        self._pool = await self._open_pool("forebay worker", self.settings.pool_size)
        self._step_pool = await self._open_pool("forebay step", self.settings.step_transactions)
        try:
            await retry_until_up(self._begin, self._log_retry)
            try:
                await self._work()
            finally:
                await self._resources.close()
                await self._processes.close()
                self._threads.close()
                if self._spans is not None:
                    self._spans.close()
        finally:
            await close_pool(self._step_pool)
            await close_pool(self._pool)
        log.info("worker_stopped", worker=self.worker_id, settled=self.settled)

    async def _open_pool(self, name: str, size: int) -> MeasuredPool:
        s = self.settings
        return await open_measured_pool(
            self._dsn, size=size, name=name, prepared=s.prepared_statements, timeout=s.command_timeout_s
        )

    def stop(self) -> None:
        """Stop claiming; running steps get the grace period to finish."""
        self._stopping.set()

    async def run_slice(self, seconds: float, jobs: Collection[int] = ()) -> int:
        """Work for a limited time, until nothing is left to do, or until these jobs have ended; return the number of
        settled attempts."""
        self._awaited = AwaitedJobs(jobs)
        running = asyncio.create_task(self.run())
        try:
            async with asyncio.timeout(seconds):
                await self.ready_or_failed(running)
                await wait_for_first(self.wait_until_idle(), self._awaited.wait())
        except TimeoutError:
            pass
        finally:
            self.stop()
        await running
        return self.settled

    async def ready_or_failed(self, running: asyncio.Task[None]) -> None:
        """Wait until the worker has started; raise the error if it failed to start."""
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if running.done():
            running.result()

    async def wait_until_idle(self) -> None:
        """Wait until the worker has polled all lanes and has nothing to do, including what its steps have submitted."""
        settled = -1
        while settled != self.settled:
            settled = self.settled
            await self.poll()
            await self._claimer.wait_until_idle()

    async def poll(self) -> None:
        """Poll for ready tasks now."""
        await self._claimer.polling.find_ready_lanes()

    async def drain(self) -> None:
        """Claim until nothing is left to do, then close again."""
        self._claimer.open()
        await self.wait_until_idle()
        self._claimer.close()

    def next_start(self) -> float | None:
        """After how many seconds the next task that waits for a key of a limit may start; None if none waits."""
        return self._claimer.lanes.next_start()

    async def sweep(self) -> None:
        """Run the periodic maintenance now."""
        await self._sweeper.sweep()

    async def adopt_jobs(self) -> None:
        """Move jobs of versions that no worker runs to the present version now."""
        await self._sweeper.adopt_jobs()

    async def _begin(self) -> None:
        async with self._pool.acquire() as conn:
            await migrate.check(conn, parts_needed(self._pipelines))
            # A slice of a few jobs has the settings of its caller, not those of workers: it declares no schedules.
            registered = await register(
                conn, self._pipelines, self._steps(), self.clock.stamp(), declares=self._lanes is None
            )
        self.worker_id = registered.worker_id
        self._assemble(registered.versions)
        try:
            await self._sweeper.make_partitions()
        except UNAVAILABLE as error:  # another worker is creating them; the sweep tries again
            log.info("partitions_not_made", error=one_line(error))
        steps = [f"{executor.step.pipeline.name}.{executor.step.name}" for executor in self._executors.values()]
        log.info("worker_started", worker=self.worker_id, steps=steps)

    def _steps(self) -> list[Step[Any, Any]]:
        """The steps of the queues that this worker serves."""
        queues = self.settings.queue_names
        steps = [step for pipeline in self._pipelines for step in pipeline.steps.values()]
        return [step for step in steps if not queues or step.queue in queues]

    def _log_retry(self, error: BaseException, pause: float) -> None:
        log.warning("begin_repeated", error=one_line(error), pause=pause)

    def _assemble(self, versions: dict[str, Version]) -> None:
        pool, me, s, clock = self._pool, self.worker_id, self.settings, self.clock
        self._threads = Threads(most=threads_needed(self._steps(), s.owner_reserve))
        self._processes = ProcessPool(sandbox=s.sandbox or "preferred")
        self._spans = _spans(pool, clock)
        self._limits = LimitClient(
            pool,
            me,
            clock,
            on_capacity=self._on_capacity,
            on_key=self._on_key,
            has_line=self._has_line,
        )
        self._limited = LimitedTasks(pool, me, clock, timeout=2 * s.command_timeout_s, on_returned=self._on_returned)
        self._progress = ProgressBook(pool, clock)
        self._resources = Resources(s, pool, self._limits, self._resource_overrides)
        solo = {
            step_id for version in versions.values() if len(version.steps) == 1 for step_id in version.steps.values()
        }
        on_settled = self._on_settled if self._spans is None else self._spans.settling(self._on_settled)
        self._settler = Settler(
            pool,
            me,
            clock,
            timeout=2 * s.command_timeout_s,
            throttled_for=s.throttled_for_s,
            on_saved=self._on_saved,
            on_settled=on_settled,
            solo_steps=solo,
        )
        self._transactions = StepTransactions(
            self._step_pool,
            self._settler,
            self._executors,
            longest=s.command_timeout_s,
        )
        self._services = WorkerServices(self._progress, self._resources, self._processes, self._transactions, pool)
        self._maps = Maps(pool, clock)
        for step in self._steps():
            self._add_step(step, versions[step.pipeline.name].steps[step.name])
        self._failures = FailureLog(self._executors)
        self._leases = LeaseBook(pool, me, s, clock, self._executors)
        self._heartbeat = Heartbeat(self._dsn, me, s, clock, self._leases)
        self._listener = Listener(self._dsn, self._on_message, self._on_listening)
        self._claimer = Claimer(
            pool,
            me,
            s,
            clock,
            executors=self._executors,
            leases=self._leases,
            limits=self._limits,
            settler=self._settler,
            machine=self._machine,
            names=StepNames(pool, [version.id for version in versions.values()], 2 * s.command_timeout_s),
            infos=TaskInfos(pool, {i: e.step for i, e in self._executors.items()}, 2 * s.command_timeout_s),
            # A pooler may give each statement of this connection to another session.
            listener=self._listener if s.listen and s.prepared_statements else None,
            spans=self._spans,
            only=self._lanes,
        )
        self._wake_ups = WakeUps(me, s.poll_s, wake=self._claimer.wake, is_active=self._claimer.lanes.is_active)
        if self._closed:
            self._claimer.close()
        self._parking = QueueParking(pool, clock, self._claimer, self._executors)
        self._leader = Leader(self._dsn, pool, s)
        self._sweeper = Sweeper(pool, s, clock, self._leader, wake=self._claimer.wake)

    def _add_step(self, step: Step[Any, Any], step_id: int) -> None:
        s = self.settings
        with_context = self._spans is not None or bool(step.pipeline.hooks)
        call = call_of(step, self._threads, self._processes, with_context=with_context)
        report: Callable[[Attempt], None] = self._on_report
        if step.pipeline.hooks:
            hooks = HookCalls(step)
            call, report = hooks.calling(call), hooks.reporting(report)
        if self._spans is not None:
            call = self._spans.calling(step, call, lambda: self._executors[step_id].running)
            report = self._spans.reporting(step, report)
        self._executors[step_id] = StepExecutor(
            step,
            step_id,
            call=call,
            arguments=StepArguments(step, self._pool),
            report=report,
            on_capacity=self._on_capacity,
            on_ended=lambda lane_id, count, seconds: self._claimer.ended(step_id, lane_id, count, seconds),
            on_dropped=lambda lane_id, count: self._claimer.gave_back(step_id, lane_id, count),
            services=self._services,
            limits=self._limits,
            maps=self._maps,
            clock=self.clock,
            size=ClaimSize(slice_s=s.slice_ms / 1000, safety=s.claim_safety, least=s.claim_min, most=s.claim_max),
            turns=self._turns,
            reserve=s.owner_reserve,
        )

    async def _work(self) -> None:
        self._heartbeat.start()
        try:
            await self._run_loops()
        finally:
            self._leader.step_down()
            await self._heartbeat.stop()

    async def _run_loops(self) -> None:
        async with asyncio.TaskGroup() as group:
            loops = [group.create_task(loop, name=name) for name, loop in self._loops()]
            self._claiming = [loop for loop in loops if loop.get_name() == "claim"]
            self._ready.set()
            await self._stopping.wait()
            await self._shut_down()
            for loop in loops:
                loop.cancel()
            _, stuck = await asyncio.wait(loops, timeout=2)
            if stuck:  # on a connection that does not respond
                self._pool.terminate()

    def _loops(self) -> list[tuple[str, Coroutine[Any, Any, None]]]:
        loops: list[tuple[str, Coroutine[Any, Any, None]]] = [
            ("claim", self._claimer.run()),
            ("claim", self._claimer.run()),
            ("claim", self._claimer.run_express()),
            ("poll", self._claimer.polling.run()),
            ("settle", self._settler.run()),
            ("limited", self._limited.run()),
            ("overdue", every(0.05, "overdue", self._stop_overdue)),
            ("limits", every(1.0, "limits", self._limits.renew)),
            ("mark busy", every(1.0, "mark busy", self._claimer.mark_busy)),
            ("status", every(2.0, "status", self._report_status_when_due)),
            ("progress", every(0.5, "progress", self._progress.flush)),
            ("failures", every(5.0, "failures", self._failures.end_windows)),
            ("sweep", self._sweeper.run()),
        ]
        if not self._closed:  # what a test claims does not depend on the load of the machine
            loops.append(("machine", self._machine.watch()))
        if self._claimer.has_keys:
            loops.append(("claim", self._claimer.run_keys()))
        if (order := self._claimer.order_loop) is not None:
            loops.append(("order", order()))
        if self.settings.listen:
            loops.append(("listen", self._listener.run()))
        return loops

    async def _shut_down(self) -> None:
        """Finish running tasks within the grace period, release the rest."""
        self._wake_ups.close()
        self._claimer.stop()
        await asyncio.wait(self._claiming, timeout=5)  # a claim in progress returns leases that must be released
        for executor in self._executors.values():
            executor.queue.clear()
        await self._wait_for_slots(self.settings.grace_s)
        for executor in self._executors.values():
            executor.stop_all("shutdown")
        await self._wait_for_slots(2.0)
        try:
            async with asyncio.timeout(10):
                await self._transactions.drained()
                await self._settler.drained()
                self._failures.close()
                await self._leases.release_all()
                await self._limits.close()
                await self.report_status(stopped=True)
        except UNAVAILABLE as error:  # leases that are not released expire
            log.warning("leases_not_released", leases=len(self._leases), error=one_line(error))

    async def _wait_for_slots(self, seconds: float) -> None:
        slots = {slot for executor in self._executors.values() for slot in executor.slots}
        if slots:
            await asyncio.wait(slots, timeout=seconds)

    # -- events ---------------------------------------------------------------------------------------------------

    def _on_listening(self) -> None:
        self._claimer.polling.request()

    def _on_message(self, payload: str) -> None:
        verb, *args = payload.split()
        if verb == "ready":
            step_id, lane_id, seq = (int(arg) for arg in args)
            self._wake_ups.add(step_id, lane_id, seq)
        elif verb == "key":
            step_id, lane_id, seq = (int(arg) for arg in args)
            self._claimer.wake_key(step_id, lane_id, seq)
        elif verb == "cancel":
            for executor in self._executors.values():
                executor.cancel_job(int(args[0]))
        elif verb == "queue":  # perhaps resumed or unparked
            self._claimer.polling.request()

    def _on_capacity(self) -> None:
        self._claimer.on_capacity()

    def _on_key(self, name: str, key: str) -> None:
        self._claimer.on_key(name, key)

    def _has_line(self, name: str, key: str) -> bool:
        return self._claimer.has_line(name, key)

    def _on_report(self, attempt: Attempt) -> None:
        if attempt.outcome == HELD_BACK:
            self._limited.add(attempt)
            return
        self._parking.note(attempt)
        if attempt.own_transaction is None:
            self._settler.add(attempt)
        else:
            self._transactions.settle(attempt)

    def _on_returned(self, batch: Sequence[Attempt], woken: Sequence[Woken]) -> None:
        self._leases.settled(batch)
        for lane in woken:
            if lane.key[0]:
                self._claimer.wake_key(lane.step_id, lane.lane_id, lane.seq, lane.key)
            else:
                self._claimer.wake(lane.step_id, lane.lane_id, lane.seq)
        if not self._leases:
            self._claimer.on_capacity()

    def _on_saved(self, batch: Sequence[Attempt]) -> None:
        self._leases.settled(batch)
        self._recent.add(batch)

    def _on_settled(self, batch: Sequence[Attempt], settled: Settled) -> None:
        if settled.finished_jobs:
            job_log.log_finished(settled.finished_jobs)
            self._awaited.remove(settled.finished_jobs)
        self._plan_retries(batch)
        self._failures.add(batch, set(settled.stale))
        if is_debug_enabled():
            job_log.log_attempts(batch, self._executors, self.clock.mark())
        for step_id, lane_id, seq in settled.woken:
            self._claimer.wake(step_id, lane_id, seq)
        if not self._leases:
            self._claimer.on_capacity()

    def _plan_retries(self, batch: Sequence[Attempt]) -> None:
        pauses = [attempt.retry_in for attempt in batch if attempt.outcome is not None and attempt.retry_in]
        if pauses:
            self._sweeper.promote_in(min(pauses))

    # -- periodic tasks -------------------------------------------------------------------------------------------

    async def _stop_overdue(self) -> None:
        now = self._leases.loop_seen = time.monotonic()
        for executor in self._executors.values():
            executor.stop_overdue(now)
            executor.queue.age(now)
            executor.start_slots()

    async def _report_status_when_due(self) -> None:
        """An idle worker has nothing new to say, except that it is alive."""
        is_idle = not self._leases and self.settled == self._settled_at_report
        if not is_idle or time.monotonic() - self._reported_at >= _IDLE_STATUS_EVERY:
            await self.report_status()

    async def report_status(self, *, stopped: bool = False) -> None:
        """Write the status of this worker, and read which queues are parked."""
        executors = self._executors.values()
        self._reported_at, self._settled_at_report = time.monotonic(), self.settled
        about = describe_steps(executors) | {"settled": self.settled, "leases": len(self._leases), "pid": os.getpid()}
        about["lane_waits"] = {e.step.label: round(self._claimer.longest_wait(e.step_id), 3) for e in executors}
        about |= {"limits": self._limits.describe(), "machine": self._machine.describe()}
        about["recent"] = self._recent.describe(executors)
        about["held_s"] = round(self._claimer.held_s, 1)
        about |= {"shared": self._resources.describe(), "pool_waits": self._pool.waits.describe()}
        # Another worker may have parked a queue: the worker whose next attempt succeeds unparks it.
        self._parking.parked, workers = await registry.report_status(
            self._pool,
            self.worker_id,
            about,
            self._settler.stale,
            self.clock.stamp(),
            last_error=last_error(executors),
            stopped=stopped,
        )
        self._wake_ups.set_workers(workers)


def _spans(pool: Pool, clock: Clock) -> Spans | None:
    tracer = tracing.tracer()
    if tracer is None:
        return None
    from forebay.engine.work.spans import Spans  # noqa: PLC0415 - needs an extra

    return Spans(tracer, pool, clock)
