"""The worker: connects the modules that claim, run and settle tasks, and runs their loops."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.db.fair_pool import open_fair_pool
from forebay.db.pool import UNAVAILABLE, close_pool, retry_until_up
from forebay.engine.clock import Clock
from forebay.engine.limits.client import LimitClient
from forebay.engine.loops import every
from forebay.engine.maintenance.leader import Leader
from forebay.engine.maintenance.sweeper import Sweeper
from forebay.engine.work.attempt_reports import AttemptReports
from forebay.engine.work.claimer import Claimer
from forebay.engine.work.failover import Failover
from forebay.engine.work.failure_log import FailureLog
from forebay.engine.work.heartbeat import Heartbeat
from forebay.engine.work.leases import LeaseBook
from forebay.engine.work.limited_tasks import LimitedTasks
from forebay.engine.work.machine import Machine
from forebay.engine.work.messages import Messages, make_listener
from forebay.engine.work.parking import QueueParking
from forebay.engine.work.peers import Peers
from forebay.engine.work.recent_work import RecentWork
from forebay.engine.work.registration import check_schema, register
from forebay.engine.work.settler import Settler
from forebay.engine.work.shutdown import settle_and_release, stop_tasks
from forebay.engine.work.slices import AwaitedJobs, wait_for_first
from forebay.engine.work.slot_scheduler import SlotScheduler
from forebay.engine.work.status import StatusReports
from forebay.engine.work.step_names import StepNames
from forebay.engine.work.step_runtime import StepRuntime, make_spans
from forebay.engine.work.task_infos import TaskInfos
from forebay.errors import one_line
from forebay.log import get_logger, use_level
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence

    from forebay.db.fair_pool import FairPool
    from forebay.engine.db.registry import RegisteredVersion
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource
    from forebay.engine.declare.step import Step
    from forebay.engine.work.executor import StepExecutor

log = get_logger("worker")


class Worker:
    """Runs the steps of some pipelines on one database until it is stopped."""

    _make_runtime: Callable[..., StepRuntime] = StepRuntime  # a dispatcher has another one

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
        self._scheduler = SlotScheduler()
        self._recent = RecentWork()

    @property
    def stuck_threads(self) -> int:
        """Threads that still run abandoned steps."""
        return self._runtime.threads.stuck

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
                await self._runtime.close()
        finally:
            await close_pool(self._step_pool)
            await close_pool(self._pool)
        log.info("worker_stopped", worker=self.worker_id, settled=self.settled)

    async def _open_pool(self, name: str, size: int) -> FairPool:
        s = self.settings
        return await open_fair_pool(
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
        """After how many seconds the next task that waits for a limit may start; None if none waits."""
        return self._claimer.next_start()

    async def report_status(self) -> None:
        """Write the status of this worker now, and read which queues are parked."""
        await self._status.write()

    async def sweep(self) -> None:
        """Run the periodic maintenance now."""
        await self._sweeper.sweep()

    async def adopt_jobs(self) -> None:
        """Move jobs of versions that no worker runs to the present version now."""
        await self._sweeper.adopt_jobs()

    async def _begin(self) -> None:
        async with self._pool.acquire() as conn:
            await check_schema(conn, self._pipelines)
            # A slice of a few jobs has the settings of its caller, not those of workers: it declares no schedules.
            registered = await register(
                conn, self._pipelines, self._steps(), self.clock.stamp(), declares=self._lanes is None
            )
        self.worker_id = registered.worker_id
        self.clock.follow(registered.at)
        self._assemble(registered.versions)
        self._failover = Failover(
            {self._dsn, self.settings.session_dsn(self._dsn)},
            self._pool,
            self.clock,
            self._claimer,
            registered=registered,
            pipelines=self._pipelines,
        )
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

    def _assemble(self, versions: dict[str, RegisteredVersion]) -> None:
        pool, me, s, clock = self._pool, self.worker_id, self.settings, self.clock
        steps, spans = self._steps(), make_spans(pool, clock)
        self._reports = AttemptReports(self._executors, self._recent, self._awaited, clock)
        self._limits = LimitClient(
            pool, me, clock, on_capacity=self._on_capacity, on_key=self._on_key, has_line=self._has_line
        )
        self._limited = LimitedTasks(
            pool, me, clock, timeout=2 * s.command_timeout_s, on_returned=self._reports.on_returned
        )
        solo = {
            step_id for version in versions.values() if len(version.steps) == 1 for step_id in version.steps.values()
        }
        on_settled = self._reports.on_settled if spans is None else spans.settling(self._reports.on_settled)
        self._settler = Settler(
            pool,
            me,
            clock,
            timeout=2 * s.command_timeout_s,
            throttled_for=s.throttled_for_s,
            on_saved=self._reports.on_saved,
            on_settled=on_settled,
            solo_steps=solo,
        )
        self._runtime = self._make_runtime(
            pool,
            self._step_pool,
            s,
            clock,
            steps=steps,
            executors=self._executors,
            limits=self._limits,
            settler=self._settler,
            spans=spans,
            replaced=self._resource_overrides,
        )
        for step in steps:
            self._add_step(step, versions[step.pipeline.name].steps[step.name])
        self._failures = FailureLog(self._executors)
        self._leases = LeaseBook(pool, me, s, clock, self._executors)
        self._heartbeat = Heartbeat(self._dsn, me, s, clock, self._leases)
        self._listener = make_listener(self._dsn, s, lambda: self._messages)
        self._peers = Peers(me)
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
            scheduler=self._scheduler,
            # A pooler may give each statement of this connection to another session.
            listener=self._listener if s.listen and s.prepared_statements else None,
            spans=spans,
            peers=self._peers,
            only=self._lanes,
        )
        if self._closed:
            self._claimer.close()
        self._parking = QueueParking(pool, clock, self._claimer, self._executors)
        self._leader = Leader(self._dsn, pool, s)
        self._sweeper = Sweeper(pool, s, clock, self._leader, self._peers, wake=self._claimer.waking.wake)
        self._messages = Messages(self._claimer, self._executors)
        self._reports.connect(
            settler=self._settler,
            transactions=self._runtime.transactions,
            limited=self._limited,
            leases=self._leases,
            claimer=self._claimer,
            parking=self._parking,
            failures=self._failures,
            sweeper=self._sweeper,
        )
        self._status = StatusReports(
            pool,
            me,
            clock,
            executors=self._executors,
            settler=self._settler,
            leases=self._leases,
            claimer=self._claimer,
            limits=self._limits,
            machine=self._machine,
            recent=self._recent,
            resources=self._runtime.resources,
            parking=self._parking,
            peers=self._peers,
        )

    def _add_step(self, step: Step[Any, Any], step_id: int) -> None:
        self._executors[step_id] = self._runtime.executor(
            step,
            step_id,
            report=self._reports.add,
            on_capacity=self._on_capacity,
            on_ended=lambda lane_id, count, seconds: self._claimer.ended(step_id, lane_id, count, seconds),
            on_dropped=lambda lane_id, count: self._claimer.returned(step_id, lane_id, count),
            scheduler=self._scheduler,
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
            claiming = [loop for loop in loops if loop.get_name() == "claim"]
            self._ready.set()
            await self._stopping.wait()
            self._status.is_draining = True
            await stop_tasks(self._claimer, claiming, self._executors.values(), self.settings.grace_s)
            await settle_and_release(
                self._runtime.transactions, self._settler, self._failures, self._leases, self._limits, self._status
            )
            self._claimer.wake_ups.close()
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
            ("status", every(2.0, "status", self._status.write_when_due)),
            ("progress", every(0.5, "progress", self._runtime.progress.flush)),
            ("failures", every(5.0, "failures", self._failures.end_windows)),
            ("pass on", self._claimer.passing_on.run()),
            ("sweep", self._sweeper.run()),
            ("failover", self._failover.run()),
        ]
        if not self._closed:  # what a test claims does not depend on the load
            loops.append(("machine", self._machine.watch()))
        if self._claimer.has_keys:
            loops.append(("claim", self._claimer.run_keys()))
        if (order := self._claimer.order_loop) is not None:
            loops.append(("order", order()))
        if self.settings.listen:
            loops.append(("listen", self._listener.run()))
        return loops

    def _on_capacity(self) -> None:
        self._claimer.on_capacity()

    def _on_key(self, name: str, key: str) -> None:
        self._claimer.waking.on_key(name, key)

    def _has_line(self, name: str, key: str) -> bool:
        return self._claimer.waking.has_line(name, key)

    # -- periodic tasks -------------------------------------------------------------------------------------------

    async def _stop_overdue(self) -> None:
        now = self._leases.loop_seen = time.monotonic()
        for executor in self._executors.values():
            executor.stop_overdue(now)
            executor.queue.age(now)
            executor.start_slots()
