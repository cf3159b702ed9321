"""Runs the tasks of one step: slots take tasks from the queue, one after another.

A slot is a coroutine that lives while there is work, so a task does not need an asyncio.Task. Deadlines and
cancellations are checked from outside (`stop_overdue`), so a task does not need a timer either.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.engine.declare.map import Map
from forebay.engine.declare.step import StepKind
from forebay.engine.limits.client import LimitReached
from forebay.engine.work.attempt import HELD_BACK, Attempt, begin_wait, end_wait, report_error, report_outcome
from forebay.engine.work.ended_attempts import EndedAttempts
from forebay.engine.work.task_queue import TaskQueue
from forebay.errors import TransientError
from forebay.tuning import Concurrency
from forebay.types import Wait

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.context import Context, StepServices
    from forebay.engine.declare.limit import Limit
    from forebay.engine.declare.step import Step
    from forebay.engine.limits.client import LimitClient, Permits
    from forebay.engine.work.arguments import StepArguments
    from forebay.engine.work.claim_size import ClaimSize
    from forebay.engine.work.maps import Maps
    from forebay.engine.work.turns import Turns

_WAITING = (Wait, Map)
_NEVER = float("inf")
_YIELD_AFTER = 0.002  # seconds after which a slot waits for its next turn
_PATIENCE = 0.1  # seconds that an owner who runs nothing waits for a slot that several other owners hold


class StepExecutor:
    """The slots of one step in one worker."""

    def __init__(  # noqa: PLR0913 - one executor is wired once
        self,
        step: Step[Any, Any],
        step_id: int,
        *,
        call: Callable[..., Awaitable[Any]],
        arguments: StepArguments,
        report: Callable[[Attempt], None],
        on_capacity: Callable[[], None],
        on_ended: Callable[[int, int, float], None],
        on_dropped: Callable[[int, int], None],
        services: StepServices,
        limits: LimitClient,
        maps: Maps,
        clock: Clock,
        size: ClaimSize,
        turns: Turns,
        reserve: int = 0,
    ) -> None:
        """`on_ended` is told the slot time of tasks that ended (lane, number, seconds), `on_dropped` which tasks will
        not run (lane, number). `reserve`: slots beyond the step's concurrency, one for each owner who would wait while
        others hold all regular slots."""
        self.step = step
        self.step_id = step_id
        self.queue = TaskQueue()
        self.concurrency = Concurrency(*step.concurrency)
        self.size = size
        self.running: set[Attempt] = set()
        self.arriving = 0  # claimed tasks that are not in the queue yet
        self.slots: set[asyncio.Task[None]] = set()
        self.is_shared = step.concurrency[1] > 1  # with a concurrency of 1, tasks never run at the same time
        self._reserve = reserve if self.is_shared else 0
        self._held: dict[int, int] = {}  # slots in use, by owner
        self._newcomers: dict[asyncio.Task[None], int] = {}  # slots beyond the concurrency, and their owners
        self._call = call
        self._arguments = arguments
        self._report = report
        self._on_capacity = on_capacity
        self._on_ended = on_ended
        self.ends = EndedAttempts(clock, self.concurrency, size, self._charge)
        self._on_dropped = on_dropped
        self._last_end = 0.0  # of an attempt, monotonic
        self._refill_at = 0  # queue length at which to claim more
        self._services = services
        self._limits = limits
        self._maps = maps
        self._may_have_waited = step.waits or step.maps
        self._clock = clock
        self._turns = turns
        self._is_continuous = False  # the tasks of the step do not suspend, as far as is known
        self._timeout = _NEVER if step.timeout is None else step.timeout
        self._is_on_thread = step.kind is StepKind.THREAD
        self._filling: asyncio.Event | None = None  # set when tasks come, while a slot waits for a fuller batch

    def capacity(self, share: float = 1.0) -> int:
        """How many more tasks this step wants locally: `share` of the usual number while the machine is overloaded, but
        at least as many as the step may run concurrently."""
        more = self._wanted(share) - self.waiting - len(self.running)
        return max(more, (self.step.batch_size or 1) - self.queue.size) if self._lingers else more

    def _wanted(self, share: float) -> int:
        wanted = self.size.value(self.concurrency.value)
        return max(min(wanted, self.concurrency.least), int(wanted * share))

    def slots_at(self, share: float) -> int:
        """How many tasks this step runs at once: fewer than its concurrency while the machine is overloaded."""
        return min(self.concurrency.value, self._wanted(share))

    @property
    def waiting(self) -> int:
        """The number of claimed tasks that have not started."""
        return self.queue.size + self.arriving

    def needs_tasks(self, capacity: int) -> bool:
        """Whether it is time to claim so many more tasks. Tasks that do not suspend run one after another, so their
        next claim can wait until few are left, and is larger."""
        return capacity > 0 and capacity >= self.waiting * (3 if self._is_continuous else 1)

    @property
    def is_idle(self) -> bool:
        """Whether the step has no task in this worker."""
        return not self.running and not self.waiting

    def spare_reserve(self, share: float) -> int:
        """How many tasks of owners who run nothing could use extra slots, while all regular slots are in use."""
        is_full = len(self.running) >= self.slots_at(share)
        return self._reserve - len(self._newcomers) - self.queue.size if is_full else 0

    def start_slots(self) -> None:
        """Start as many slots as the queue needs."""
        if self._filling is not None:
            self._filling.set()
        if self.is_shared and self.queue.size:
            self._admit_newcomers()
        free = self.concurrency.value - len(self.slots)
        per_slot = 1 if self.size.item_s.mean is None else max(1, int(_YIELD_AFTER / max(self.size.item_s.mean, 1e-7)))
        batch = self.step.batch_size or 1
        wanted = min(free, -(-self.queue.size // (per_slot * batch)))
        if self._is_continuous:  # one slot is enough; the second finds out when tasks begin to suspend
            wanted = min(wanted, 2 - len(self.slots))
        for _ in range(wanted):
            self._start(self._slot_in_turn() if self._is_continuous and self.slots else self._slot())
        self._refill_at = self.queue.size // (5 if self._is_continuous else 2)

    def _start(self, slot: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        started = asyncio.create_task(slot, name=f"slot {self.step.pipeline.name}.{self.step.name}")
        self.slots.add(started)
        started.add_done_callback(self._forget_slot)
        return started

    def _forget_slot(self, slot: asyncio.Task[None]) -> None:
        self.slots.discard(slot)
        self._newcomers.pop(slot, None)

    def _admit_newcomers(self) -> None:
        """Start tasks of owners who run nothing here. While a slot is free, they do not wait behind the higher priority
        of others; while others hold all slots, they do not wait for their long tasks but get one extra slot each: at
        once if one owner holds all slots, else when no slot has become free for a while. A single owner may use all
        slots."""
        busy = {*self._held, *self._newcomers.values()}
        free = self.concurrency.value - len(self.slots)
        spare = free if self.queue.is_next_of(busy) else free - 1  # otherwise one is kept for the next task
        while spare > 0 and (task := self.queue.pop_outranked(busy)) is not None:
            busy.add(task[0].owner_id)
            self._start(self._slot_of_newcomer(task))
            spare -= 1
        if free > 0 or len(self.running) < self.concurrency.value:  # a slot that has not begun takes the next task
            return
        is_filled = max(self._held.values(), default=0) >= self.concurrency.value
        if not is_filled and time.monotonic() - self._last_end < _PATIENCE:
            return
        while len(self._newcomers) < self._reserve and (task := self.queue.pop_of_others(busy)) is not None:
            busy.add(task[0].owner_id)
            self._newcomers[self._start(self._slot_of_newcomer(task))] = task[0].owner_id

    async def _slot_of_newcomer(self, task: tuple[Lease, int]) -> None:
        """Run one task, or one batch call, and end: the next task is selected anew."""
        me = asyncio.current_task()
        assert me is not None  # noqa: S101 - a coroutine always runs in a task here
        if self.step.batch_size is None:
            await self._attempt(me, *task, time.monotonic())
        else:
            await self._attempt_batch(me, [task], time.monotonic())
        self._learn()
        self._forget_slot(me)
        self.start_slots()
        self._on_capacity()

    def _next(self, *, outranked: bool) -> tuple[Lease, int] | None:
        """`outranked`: prefer an owner who runs nothing and whose tasks wait behind higher priorities."""
        if outranked and (task := self.queue.pop_outranked(self._held)) is not None:
            return task
        return self.queue.pop_shared(self._held, self.concurrency.value - 1) if self.is_shared else self.queue.pop()

    async def _slot_in_turn(self) -> None:
        await self._wait_for_turn()
        if self.queue.size:
            await self._slot()

    async def _wait_for_turn(self) -> None:
        await self._turns.wait(self.step_id)
        if self.running:  # a task of another slot, which has suspended
            self._is_continuous = False
            self.start_slots()

    async def _slot(self) -> None:
        me = asyncio.current_task()
        assert me is not None  # noqa: S101 - a coroutine always runs in a task here
        if self._lingers and not await self._wait_for_batch():
            return
        began = now = time.monotonic()
        size = self.step.batch_size
        yields = 0
        while (task := self._next(outranked=self.is_shared and now == began and yields % 2 == 1)) is not None:
            if self.queue.size <= self._refill_at:
                self._refill_at = -1  # report only once
                self._on_capacity()
            self._turns.last = me
            if size is None:
                now = await self._attempt(me, *task, now)
            else:
                now = await self._attempt_batch(me, self._more(task, size), now)
                if self._lingers:
                    self._learn()
                    if not await self._wait_for_batch():
                        break
                    began = now = time.monotonic()  # exclude the time spent waiting
            if now - began > _YIELD_AFTER:
                self._learn()
                if len(self.slots) > self.concurrency.value:
                    break
                await self._yield(me)
                yields += 1  # at every second yield: short tasks of a high priority neither starve others nor starve
                began = now = time.monotonic()
        self._learn()
        self._on_capacity()

    async def _yield(self, slot: asyncio.Task[Any]) -> None:
        """Let the event loop run. A slot that has run without a break waits for its turn, because several of them would
        hold the event loop one after another. Otherwise its tasks wait for something, and others have run meanwhile."""
        self._is_continuous = self._turns.last is slot
        if self._is_continuous:
            await self._wait_for_turn()
        else:
            await asyncio.sleep(0)

    @property
    def _lingers(self) -> bool:
        """Whether the tasks in the queue wait for a fuller batch."""
        return self.step.linger > 0 and 0 < self.queue.size < (self.step.batch_size or 1)

    async def _wait_for_batch(self) -> bool:
        """Wait until the queue has a full batch, or has waited long enough; False if another slot waits already. The
        tasks stay in the queue meanwhile, where they can be dropped."""
        if self._filling is not None:
            return False
        self._filling = asyncio.Event()
        self._on_capacity()
        try:
            async with asyncio.timeout(self.step.linger):
                while self._lingers:
                    self._filling.clear()
                    await self._filling.wait()
        except TimeoutError:
            pass
        finally:
            self._filling = None
        return True

    def _more(self, first: tuple[Lease, int], size: int) -> list[tuple[Lease, int]]:
        tasks = [first]
        while len(tasks) < size and (task := self.queue.pop()) is not None:
            tasks.append(task)
        return tasks

    def _begin(self, slot: asyncio.Task[Any], lease: Lease, index: int, now: float) -> Attempt:
        attempt = Attempt(lease, lease.ns[index], self._clock.mark(now))
        attempt.runs(self.step.name, slot, self._deadline(now), self._services)
        self.running.add(attempt)
        return attempt

    def _deadline(self, now: float) -> float:
        """The deadline of a call that begins now. A call on a thread begins when a thread is free."""
        return _NEVER if self._is_on_thread else now + self._timeout

    async def _attempt(self, slot: asyncio.Task[Any], lease: Lease, index: int, began: float) -> float:
        """Run one task; return the time at which it ended."""
        attempt = self._begin(slot, lease, index, began)
        if self._is_on_thread:
            attempt.batch = (attempt,)
        self._hold(lease.owner_id)
        waited = None
        try:
            args = self._arguments.at_hand(lease, index) or await self._arguments.read(attempt)
            waited = await self._arguments.read_wait(attempt, self._clock.stamp()) if self._may_have_waited else None
            if waited is not None and waited.children is not None:
                self._maps.resume(attempt, self.step, waited, waited.children)
            else:
                if self.step.limits:
                    permits = await self._permits([attempt], args[0])
                    began = time.monotonic()  # exclude the time spent waiting
                    attempt.deadline = self._deadline(began)
                    value = await self._call_limited(permits, attempt, *args)
                else:
                    value = await self._call(attempt, *args)
                if value.__class__ in _WAITING:
                    await self._begin_wait(attempt, value)
                else:
                    report_outcome(attempt, self.step, value)
        except asyncio.CancelledError:
            self._stopped(slot, [attempt])
        except (Exception, SystemExit) as error:
            self._fail(attempt, error)
        finally:
            self.running.discard(attempt)
            self._let_go(lease.owner_id)
            if attempt.stop is not None:
                _forget_cancellation(slot)
        if waited is not None and waited.children is None:
            end_wait(attempt)
        ended = self._last_end = time.monotonic()
        self.ends.add(attempt, ended - began)
        self._report(attempt)
        return ended

    async def _begin_wait(self, attempt: Attempt, value: Any) -> None:
        """Let a task wait for a signal, or for its children."""
        if value.__class__ is Map and self.step.can_wait:
            await self._maps.begin(attempt, self.step, value)
            return
        report_outcome(attempt, self.step, value)
        begin_wait(attempt, value, self._clock.stamp())

    def _fail(self, attempt: Attempt, error: BaseException) -> None:
        if attempt.outcome != HELD_BACK:  # otherwise it has not begun
            report_error(attempt, self.step, error)

    async def _permits(self, attempts: list[Attempt], value: Any) -> Permits:
        """Raises: LimitReached, after the attempts were held back."""
        try:
            lease = attempts[0].lease
            return await self._limits.acquire(
                self.step.limits, value, busy=self.queue.size > 0, lane=lease.key, task=lease.task
            )
        except LimitReached as reached:
            for attempt in attempts:
                attempt.hold_back(reached)
            raise

    async def _call_limited(self, permits: Permits, ctx: Context, *args: Any) -> Any:
        try:
            return await self._call(ctx, *args)
        finally:
            self._limits.release(permits)

    async def _attempt_batch(self, slot: asyncio.Task[Any], tasks: list[tuple[Lease, int]], began: float) -> float:
        """Run one call for many tasks; the step sees the context of the first task."""
        attempts = [self._begin(slot, lease, index, began) for lease, index in tasks]
        attempts[0].batch = attempts
        owners = {lease.owner_id for lease, _ in tasks}
        for owner_id in owners:
            self._hold(owner_id)
        try:
            await self._call_batch(attempts, tasks)
        except asyncio.CancelledError:
            self._stopped(slot, attempts)
        finally:
            self.running.difference_update(attempts)
            for owner_id in owners:
                self._let_go(owner_id)
            if any(attempt.stop for attempt in attempts):
                _forget_cancellation(slot)
        ended = self._last_end = time.monotonic()
        for attempt in attempts:
            self.ends.add(attempt, (ended - began) / len(tasks))
            self._report(attempt)
        return ended

    async def _call_batch(self, attempts: list[Attempt], tasks: list[tuple[Lease, int]]) -> None:
        inputs: list[Any] = []
        good: list[Attempt] = []
        for attempt, (lease, index) in zip(attempts, tasks, strict=True):
            try:
                args = self._arguments.at_hand(lease, index) or await self._arguments.read(attempt)
                inputs.append(args if self.step.after else args[0])
                good.append(attempt)
            except Exception as error:  # one invalid input must not fail the batch
                report_error(attempt, self.step, error)
        if not good:
            return
        try:
            first = inputs[0][0] if self.step.after else inputs[0]
            permits = await self._permits(good, first)
            values = _checked(list(await self._call_limited(permits, attempts[0], inputs)), len(good))
        except (Exception, SystemExit) as error:
            for attempt in good:
                self._fail(attempt, error)
            return
        for attempt, value in zip(good, values, strict=True):
            try:
                report_outcome(attempt, self.step, value)
            except Exception as error:
                report_error(attempt, self.step, error)

    def _stopped(self, slot: asyncio.Task[Any], attempts: list[Attempt]) -> None:
        """Handle the cancellation of attempts: by the worker (for one attempt, or for another of its batch), by the
        step itself, or with the whole worker; in the last case the slot ends as well."""
        stopped = any(attempt.stop for attempt in attempts)
        if not stopped and slot.cancelling():
            raise asyncio.CancelledError
        for attempt in attempts:
            if attempt.stop == "timeout":
                report_error(attempt, self.step, TransientError(f"timed out after {self.step.timeout:g} s"))
            elif attempt.stop == "cancelled":
                attempt.fail("CANCELLED", reason="cancelled while running", ends_item=True)
            elif stopped:  # the worker stops, the lease is lost, or another attempt of the batch was stopped
                why = attempt.stop or "another task of its batch was stopped"
                attempt.fail(
                    "RELEASED", reason=f"released by the worker ({why})", retry_in=0.0, counts_as_attempt=False
                )
            else:
                report_error(attempt, self.step, TransientError("the step cancelled itself"))

    def _hold(self, owner_id: int) -> None:
        self._held[owner_id] = self._held.get(owner_id, 0) + 1

    def _let_go(self, owner_id: int) -> None:
        if self._held[owner_id] == 1:
            del self._held[owner_id]
        else:
            self._held[owner_id] -= 1

    def _charge(self, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended."""
        self.queue.ended(lane_id, count, seconds)
        self._on_ended(lane_id, count, seconds)

    def _learn(self) -> None:
        self.ends.learn(len(self.slots))

    def stop_overdue(self, now: float) -> None:
        """Stop attempts that are past their deadline."""
        # The process pool enforces the timeout of process steps.
        if self.step.timeout is None or self.step.kind is StepKind.PROCESS:
            return
        for attempt in list(self.running):
            if attempt.deadline < now:
                attempt.end("timeout")

    def stop_all(self, why: str) -> None:
        for attempt in list(self.running):
            attempt.end(why)

    def cancel_job(self, job_id: int) -> None:
        self._drop(lambda lease: lease.job_id == job_id, "cancelled")

    def drop_leases(self, tokens: set[int], why: str) -> int:
        """Drop queued tasks and stop running attempts of these leases; return how many."""
        return self._drop(lambda lease: lease.token in tokens, why)

    def _drop(self, is_meant: Callable[[Lease], bool], why: str) -> int:
        queued = self.queue.drop(is_meant)
        for lease, n in queued:
            self._on_dropped(lease.lane_id, 1)
            if why == "cancelled":
                attempt = Attempt(lease, n, self._clock.mark())
                attempt.fail("CANCELLED", reason="cancelled before it started", ends_item=True)
                self._report(attempt)
        running = [attempt for attempt in self.running if is_meant(attempt.lease)]
        for attempt in running:
            attempt.end(why)
        return len(queued) + len(running)

    def describe(self) -> dict[str, Any]:
        """The status of this step for `forebay top` and the worker's row."""
        lingers = {"size": self.step.batch_size, "seconds": self.step.linger} if self._filling is not None else None
        return {
            "running": len(self.running),
            "limited": bool(self.step.limits),
            "limits": [_describe_limit(limit) for limit in self.step.limits],
            "lingers": lingers,
            "queued": self.queue.size,
            "ended": self.ends.total,
            "claim": self.size.describe(self.concurrency.value),
            "concurrency": self.concurrency.describe(),
            "failures": self.ends.spike.describe(),
        }


def _describe_limit(limit: Limit) -> dict[str, Any]:
    terms = {"name": limit.name, "rate": limit.rate, "per": limit.per, "concurrency": limit.concurrency}
    return terms | {"keyed": limit.key is not None}


def _forget_cancellation(slot: asyncio.Task[Any]) -> None:
    """A cancellation of attempts that have ended must not affect the slot's next tasks."""
    while slot.uncancel():
        pass


def _checked(values: list[Any], size: int) -> list[Any]:
    if len(values) != size:
        raise TransientError(
            f"the batch step returned {len(values)} values for {size} items: it must return one for each"
        )
    return values
