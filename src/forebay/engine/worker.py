"""The worker: claim, run, settle, and stay alive while doing so."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from forebay.db import migrate, registry, tasks
from forebay.db.listen import listen
from forebay.db.pool import LOST, insist, open_pool
from forebay.engine import producer
from forebay.engine.attempt import Attempt
from forebay.engine.clock import Clock
from forebay.engine.controllers import Backoff, ClaimSize, LeaseTime
from forebay.engine.executor import StepExecutor
from forebay.engine.lanes import StepLanes
from forebay.engine.limits import Limits
from forebay.engine.loops import either, every
from forebay.engine.policy import Kind
from forebay.engine.process import ProcessPool
from forebay.engine.progress import ProgressBook
from forebay.engine.settler import Settler
from forebay.engine.sweeper import Sweeper
from forebay.log import get_logger
from forebay.settings import Settings
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Pool
    from forebay.db.tasks import Claim, Lease, Settled
    from forebay.engine.context import Context
    from forebay.engine.pipeline import Pipeline, Step

log = get_logger("worker")

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_FIRST_POLL = 0.01
_BUSY_FOR = 3.0  # seconds that a lane stays marked after a claim that it could fill


class Worker:
    """Runs the steps of some pipelines on one database until it is told to stop."""

    def __init__(
        self,
        dsn: str,
        pipelines: Sequence[Pipeline[Any]],
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.clock = clock or Clock()
        self.worker_id = 0
        self._dsn = dsn
        self._pipelines = pipelines
        self._stopping = asyncio.Event()
        self._news = asyncio.Event()
        self._ready = asyncio.Event()
        self._executors: dict[int, StepExecutor] = {}
        self._lanes: dict[int, StepLanes] = {}
        self._reading: list[int] = []
        self._leases: dict[int, Lease] = {}
        self._busy: dict[int, float] = {}  # lane → until when it is marked, monotonic
        self._hold_until = 0.0
        self._backoff = Backoff(1, 60)
        self._parked: set[str] = set()
        self._poll = _FIRST_POLL
        self._idle = asyncio.Event()

    # -- life -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until `stop`; then finish or hand back what is in flight."""
        async with await self._open() as self._pool:
            await self._enlist()
            threads = ThreadPoolExecutor(64, thread_name_prefix="step")
            self._threads, self._processes = threads, ProcessPool()
            try:
                async with asyncio.TaskGroup() as group:
                    loops = [group.create_task(loop, name=name) for name, loop in self._loops()]
                    self._ready.set()
                    await self._stopping.wait()
                    await self._shut_down()
                    for loop in loops:
                        loop.cancel()
            finally:
                await self._processes.close()
                threads.shutdown(wait=False, cancel_futures=True)
            log.info("worker_stopped", worker=self.worker_id, settled=self._settler.settled)

    def stop(self) -> None:
        """Stop claiming; running steps get the grace period to end."""
        self._stopping.set()
        self._news.set()

    async def run_slice(self, seconds: float) -> int:
        """Work for a bounded time, or until nothing is left to do; answers how many attempts were settled."""
        running = asyncio.create_task(self.run())
        try:
            async with asyncio.timeout(seconds):
                await self._ready_or(running)
                await self.idle()
        except TimeoutError:
            pass
        finally:
            self.stop()
        await running
        return self._settler.settled

    async def _ready_or(self, running: asyncio.Task[None]) -> None:
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if running.done():
            running.result()

    async def idle(self) -> None:
        """Waits until the worker has looked and found nothing to do."""
        self._idle.clear()
        self._news.set()
        await self._idle.wait()

    async def _open(self) -> Pool:
        s = self.settings
        return await open_pool(self._dsn, size=s.pool_size, name="forebay worker", prepared=s.prepared_statements)

    async def _enlist(self) -> None:
        async with self._pool.acquire() as conn:
            await migrate.check(conn)
            name = f"{socket.gethostname()}:{os.getpid()}"
            self.worker_id = await registry.enlist(conn, name, self.clock.stamp())
            self._limits = Limits(self._pool, self.worker_id, self.clock)
            solo: set[int] = set()
            for pipeline in self._pipelines:
                ids = await registry.register(conn, pipeline.definition())
                if len(ids) == 1:
                    solo.update(ids.values())
                for name, step in pipeline.steps.items():
                    if not self.settings.queue_names or step.queue in self.settings.queue_names:
                        self._add_step(step, ids[name])
        self._progress = ProgressBook(self._pool, self.clock)
        self._settler = Settler(
            self._pool, self.worker_id, self.clock, on_settled=self._on_settled, solo_steps=solo
        )
        self._sweeper = Sweeper(self._pool, self.settings, self.clock, wake=self._wake)
        steps = [f"{e.step.pipeline.name}.{e.step.name}" for e in self._executors.values()]
        log.info("worker_started", worker=self.worker_id, steps=steps)

    def _add_step(self, step: Step[Any, Any], step_id: int) -> None:
        s = self.settings
        self._lanes[step_id] = StepLanes(step_id)
        if step.after:
            self._reading.append(step_id)
        self._executors[step_id] = StepExecutor(
            step,
            step_id,
            call=self._caller(step),
            job_args=self._job_args,
            report=self._on_report,
            hungry=self._news.set,
            progress=lambda ctx, fraction, note: self._progress.note(ctx, fraction, note),
            limits=self._limits,
            clock=self.clock,
            size=ClaimSize(slice_s=s.slice_ms / 1000, most=s.claim_max),
        )

    def _caller(self, step: Step[Any, Any]) -> Any:
        """How a step is called, by its kind."""
        fn = step.fn
        if step.kind is Kind.ASYNC:
            return fn
        if step.kind is Kind.PROCESS:
            return lambda ctx, *args: self._processes.run(step, ctx, args)
        return lambda ctx, *args: asyncio.get_running_loop().run_in_executor(self._threads, fn, ctx, *args)

    async def _job_args(self, ctx: Context) -> tuple[Any, ...]:
        ctx.job = await producer.summary(self._pool, ctx.job_id)
        ctx._items = lambda: producer.items(self._pool, ctx.job_id)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        return (ctx.job,)

    def _loops(self) -> list[tuple[str, Any]]:
        loops = [
            ("claim", self._claim_loop()),
            ("claim more", self._claim_loop()),
            ("settle", self._settler.run()),
            ("discover", self._discover_loop()),
            ("reap", every(0.05, "reap", self._reap)),
            ("heartbeat", every(self.settings.lease_floor_s / 4, "heartbeat", self._heartbeat)),
            ("mark busy", every(1.0, "mark busy", self._mark_busy)),
            ("sign on", every(2.0, "sign on", self._sign_on)),
            ("progress", every(0.5, "progress", self._progress.flush)),
            ("sweep", self._sweeper.run()),
        ]
        if self.settings.listen:
            loops.append(("listen", listen(self._dsn, self._on_message, self._look_everywhere)))
        return loops

    async def _shut_down(self) -> None:
        """Finish what runs within the grace period, hand back the rest."""
        for executor in self._executors.values():
            executor.queue.drain()
        slots = {slot for executor in self._executors.values() for slot in executor.slots}
        if slots:
            await asyncio.wait(slots, timeout=self.settings.grace_s)
        for executor in self._executors.values():
            for running in list(executor.running):
                running.end("shutdown")
        slots = {slot for executor in self._executors.values() for slot in executor.slots}
        if slots:
            await asyncio.wait(slots, timeout=2)
        with suppress(*LOST, TimeoutError):
            async with asyncio.timeout(10):
                await self._settler.drained()
                await self._hand_back()
                await self._sign_on(stopped=True)

    async def _hand_back(self) -> None:
        if self._leases:
            await tasks.release(self._pool, self.worker_id, list(self._leases), self.clock.stamp())
            self._leases.clear()

    # -- claim ----------------------------------------------------------------------------------------------------

    async def _claim_loop(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            claims = self._pick()
            if claims:
                await self._claim(claims)
            else:
                self._tell_idle()
                await either(self._news, 1.0)

    def _pick(self) -> list[Claim]:
        """What to claim now: every step that has room, from the lanes whose turn it is."""
        if self._hold_until > time.monotonic() or self._settler.backlog > 10_000:
            return []
        claims: list[Claim] = []
        for step_id, executor in sorted(self._executors.items(), key=lambda e: -e[1].step.priority):
            room = executor.room
            if room > 0 and (room * 2 >= executor.queue.size or executor.queue.size == 0):
                claims += self._lanes[step_id].pick(room)
        return claims

    async def _claim(self, claims: list[Claim]) -> None:
        by_step: dict[int, list[Claim]] = {}
        for claim in claims:
            by_step.setdefault(claim.step_id, []).append(claim)
        try:
            leases = await insist(lambda: self._claim_once(claims), self._lost)
        except BaseException:
            for step_id, mine in by_step.items():
                self._lanes[step_id].failed(mine)
            raise
        for step_id, mine in by_step.items():
            lanes = self._lanes[step_id]
            lanes.claimed(mine, [lease for lease in leases if lease.step_id == step_id])
            self._note_busy(lanes, mine)
        self._take_on(leases)

    async def _claim_once(self, claims: list[Claim]) -> list[Lease]:
        longest = max(self._lease_s(self._executors[c.step_id]) for c in claims)
        return await tasks.claim(self._pool, self.worker_id, claims, self._reading, longest, self.clock.stamp())

    def _take_on(self, leases: list[Lease]) -> None:
        now = time.monotonic()
        for lease in leases:
            executor = self._executors[lease.step_id]
            lane = self._lanes[lease.step_id].lanes[lease.lane_id]
            lease.open = lease.last_n - lease.first_n + 1
            lease.held_since = now
            self._leases[lease.token] = lease
            for n in lease.missing():
                self._void(lease, n)
            executor.queue.push(lease, lane.priority, lane.weight)
        if leases and self._stopping.is_set():  # this claim came back too late: it is handed back with the others
            for executor in self._executors.values():
                executor.queue.drain()
            return
        for step_id in {lease.step_id for lease in leases}:
            self._executors[step_id].kick()

    def _void(self, lease: Lease, n: int) -> None:
        """A task whose item has ended, or is gone: the lease must not hold it."""
        report = Attempt(lease, n, self.clock.time())
        report.fail("CANCELLED", reason="the item had already ended", ends_item=True)
        self._settler.add(report)

    def _lease_s(self, executor: StepExecutor) -> float:
        s = self.settings
        return LeaseTime(s.lease_floor_s, s.lease_cap_s).value(executor.size.item_s.mean)

    def _tell_idle(self) -> None:
        if not self._leases and not any(lanes.active for lanes in self._lanes.values()) and not self._settler.backlog:
            self._idle.set()

    # -- wake-ups -------------------------------------------------------------------------------------------------

    def _wake(self, step_id: int, lane_id: int, seq: int | None = None) -> None:
        lanes = self._lanes.get(step_id)
        if lanes is not None and lanes.wake(lane_id, seq):
            self._news.set()
            self._poll = _FIRST_POLL

    def _on_message(self, payload: str) -> None:
        verb, *args = payload.split()
        if verb == "ready":
            step_id, lane_id, seq = (int(arg) for arg in args)
            self._wake(step_id, lane_id, seq)
        elif verb == "cancel":
            self._cancel_job(int(args[0]))

    def _cancel_job(self, job_id: int) -> None:
        for executor in self._executors.values():
            for running in list(executor.running):
                if running.lease.job_id == job_id:
                    running.end("cancelled")

    def _look_everywhere(self) -> None:
        self._poll = _FIRST_POLL
        self._look.set()

    async def _discover_loop(self) -> None:
        """Looks for ready lanes, in pauses that grow while nothing is found. A pause is never shorter than what the
        look itself costs many times over, and what commits late after the last task waits no longer than it took."""
        self._look = asyncio.Event()
        while True:
            began = time.monotonic()
            try:
                await self._discover()
            except LOST as error:
                self._lost(error, self._poll)
            cost = time.monotonic() - began
            await either(self._look, max(self._poll, 20 * cost))
            self._look.clear()
            self._poll = min(self._poll * 2, self.settings.poll_s)

    async def _discover(self) -> None:
        found = await tasks.discover(self._pool, list(self._executors))
        news = False
        for step_id, info in found:
            lanes = self._lanes[step_id]
            lanes.learn(info)
            lane = lanes.lanes[info.lane_id]
            if info.lane_id not in lanes.active and not lane.claiming:
                lane.head = 0  # dry for us, and yet not empty: something lies below the watermark
                news = lanes.wake(info.lane_id) or news
        for lanes in self._lanes.values():
            lanes.forget_idle()
        if news:
            self._news.set()
        await self._describe_unknown()

    async def _describe_unknown(self) -> None:
        unknown = {lane_id for lanes in self._lanes.values() for lane_id in lanes.unknown()}
        if unknown:
            for info in await tasks.describe_lanes(self._pool, sorted(unknown)):
                for lanes in self._lanes.values():
                    if info.lane_id in lanes.lanes:
                        lanes.learn(info)

    def _note_busy(self, lanes: StepLanes, claims: list[Claim]) -> None:
        for claim in claims:
            lane = lanes.lanes[claim.lane_id]
            if lane.full:
                self._busy.setdefault(claim.lane_id, 0.0)
            elif self._busy.pop(claim.lane_id, 0.0):
                self._look_everywhere()  # it was marked, so submits may have come without a wake-up

    async def _mark_busy(self) -> None:
        """Tells submitters which lanes need no wake-ups; and which need them again."""
        if self._busy:
            until = self.clock.now() + timedelta(seconds=_BUSY_FOR)
            await tasks.mark_busy(self._pool, list(self._busy), until)
            self._busy = dict.fromkeys(self._busy, time.monotonic() + _BUSY_FOR)

    # -- reports --------------------------------------------------------------------------------------------------

    def _on_report(self, report: Attempt) -> None:
        failure = report.failure
        if failure is ErrorClass.RESOURCE:
            pause = self._backoff.grow()
            self._hold_until = time.monotonic() + pause
            log.warning("worker_held", reason=report.reason, pause=pause)
        elif failure is ErrorClass.CONFIG:
            self._park(report)
        elif (self._backoff.pause or self._parked) and report.outcome is None:
            self._worked(report)
        self._settler.add(report)

    def _worked(self, report: Attempt) -> None:
        self._backoff.reset()
        queue = self._executors[report.lease.step_id].step.queue
        if queue in self._parked:
            self._parked.discard(queue)
            self._background(registry.unpark(self._pool, queue))
            log.info("queue_unparked", queue=queue)

    def _park(self, report: Attempt) -> None:
        executor = self._executors[report.lease.step_id]
        queue, first = executor.step.queue, executor.step.queue not in self._parked
        self._parked.add(queue)
        probe_at = self.clock.now() + timedelta(seconds=30)
        reason = report.reason or "configuration error"
        self._background(registry.park(self._pool, queue, reason, probe_at))
        if first:
            log.error("queue_parked", queue=queue, reason=reason)

    def _background(self, work: Any) -> None:
        self._odd_jobs: set[asyncio.Task[Any]] = getattr(self, "_odd_jobs", set())
        task = asyncio.create_task(work)
        self._odd_jobs.add(task)
        task.add_done_callback(self._odd_jobs.discard)

    def _on_settled(self, batch: Sequence[Attempt], settled: Settled) -> None:
        for report in batch:
            lease = report.lease
            lease.open -= 1
            if lease.open <= 0:
                self._leases.pop(lease.token, None)
        for step_id, lane_id, seq in settled.woken:
            self._wake(step_id, lane_id, seq)
        if not self._leases:
            self._news.set()

    # -- care -----------------------------------------------------------------------------------------------------

    async def _reap(self) -> None:
        now = time.monotonic()
        for executor in self._executors.values():
            executor.reap(now)
            executor.kick()

    async def _heartbeat(self) -> None:
        """Renews the leases that have been held for a while; stops what is no longer ours, or cancelled."""
        now = time.monotonic()
        old = [lease for lease in self._leases.values() if now - lease.held_since > self.settings.lease_floor_s / 4]
        if not old:
            return
        lengths = [self._lease_s(self._executors[lease.step_id]) for lease in old]
        held = await tasks.heartbeat(
            self._pool, self.worker_id, [lease.token for lease in old], lengths, self.clock.stamp()
        )
        for lease in old:
            lease.held_since = now
        lost = {lease.token for lease in old} - held.keys()
        cancelled = {token for token, is_cancelled in held.items() if is_cancelled}
        self._let_go(lost, "lost")
        self._let_go(cancelled, "cancelled")

    def _let_go(self, tokens: set[int], why: str) -> None:
        if not tokens:
            return
        for executor in self._executors.values():
            executor.queue.drop(tokens)
            for running in list(executor.running):
                if running.lease.token in tokens:
                    running.end(why)
        if why == "lost":
            for token in tokens:
                self._leases.pop(token, None)
            log.warning("leases_lost", count=len(tokens), worker=self.worker_id)

    async def _sign_on(self, *, stopped: bool = False) -> None:
        stats = {f"{e.step.pipeline.name}.{e.step.name}": e.describe() for e in self._executors.values()}
        about = {"steps": stats, "settled": self._settler.settled, "leases": len(self._leases), "pid": os.getpid()}
        await registry.sign_on(
            self._pool, self.worker_id, about, self._settler.stale, self.clock.stamp(), stopped=stopped
        )

    def _lost(self, error: BaseException, pause: float) -> None:
        log.warning("database_lost", error=str(error) or type(error).__name__, pause=pause)
