"""Runs the tasks of one step: slots take tasks from the queue, one after another.

A slot is a coroutine that lives while there is work, so a task does not need an asyncio.Task.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.engine.work.attempt import Attempt
from forebay.engine.work.batch_filling import BatchFilling
from forebay.engine.work.ended_attempts import EndedAttempts
from forebay.engine.work.slot_scheduler import SLICE_S
from forebay.engine.work.step_attempts import StepAttempts
from forebay.engine.work.task_queue import TaskQueue
from forebay.tuning import Concurrency

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.context import StepServices
    from forebay.engine.declare.limit import Limit
    from forebay.engine.declare.step import Step
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.arguments import StepArguments
    from forebay.engine.work.claim_size import ClaimSize
    from forebay.engine.work.maps import Maps
    from forebay.engine.work.slot_scheduler import SlotScheduler

_MAX_SLOT_WAIT = 0.1  # seconds that an owner who runs nothing waits for a slot that several other owners hold


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
        scheduler: SlotScheduler,
        reserve: int = 0,
        concurrency: Concurrency | None = None,
    ) -> None:
        """`on_ended` is told the slot time of tasks that ended (lane, number, seconds), `on_dropped` which tasks will
        not run (lane, number). `reserve`: slots beyond the step's concurrency, one for each owner who would wait while
        others hold all regular slots. `concurrency`: None: adaptive, within the bounds of the step."""
        self.step = step
        self.step_id = step_id
        self.queue = TaskQueue()
        self.concurrency = concurrency or Concurrency(*step.concurrency)
        self.size = size
        self.arriving = 0  # claimed tasks that are not in the queue yet
        self.slots: set[asyncio.Task[None]] = set()
        self.is_shared = step.concurrency[1] > 1  # with a concurrency of 1, tasks never run at the same time
        self._reserve = reserve if self.is_shared else 0
        self._newcomers: dict[asyncio.Task[None], int] = {}  # slots beyond the concurrency, and their owners
        self._report = report
        self._on_capacity = on_capacity
        self._on_ended = on_ended
        self.ends = EndedAttempts(clock, self.concurrency, size, self._charge)
        self._attempts = StepAttempts(
            step,
            self.queue,
            self.ends,
            call=call,
            arguments=arguments,
            report=report,
            services=services,
            limits=limits,
            maps=maps,
            clock=clock,
        )
        self.running = self._attempts.running
        self._held = self._attempts.held
        self._run_task, self._run_batch = self._attempts.run_task, self._attempts.run_batch
        self._on_dropped = on_dropped
        self._refill_at = 0  # queue length at which to claim more
        self._clock = clock
        self._scheduler = scheduler
        self._last_owner = 0  # of the task that a slot took last
        self._is_continuous = False  # the tasks of the step do not suspend, as far as is known
        self._filling = BatchFilling(step, self.queue, on_capacity)

    def capacity(self, share: float = 1.0) -> int:
        """How many more tasks this step wants locally: `share` of the usual number while the machine is overloaded, but
        at least as many as the step may run concurrently."""
        more = self._wanted(share) - self.waiting - len(self.running)
        return max(more, self._filling.missing) if self._filling.is_due else more

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
    def keeps_none_ahead(self) -> bool:
        """Whether its tasks take so long, as far as is known, that none are claimed before a slot is free."""
        return self.step.batch_size is None and self.size.value(self.concurrency.value) <= self.concurrency.value

    def startable(self, share: float, *, extra: bool = True) -> int:
        """How many more tasks could start now. `extra`: also in slots beyond the concurrency, for owners who run
        nothing."""
        regular = max(0, self.slots_at(share) - len(self.running) + len(self._newcomers))
        more = max(0, self._reserve - len(self._newcomers)) if extra else 0
        return max(0, regular + more - self.waiting)

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
        self._filling.note_tasks()
        if self.is_shared and self.queue.size:
            self._admit_newcomers()
        free = self.concurrency.value - len(self.slots)
        per_slot = 1 if self.size.item_s.mean is None else max(1, int(SLICE_S / max(self.size.item_s.mean, 1e-7)))
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
        if not is_filled and time.monotonic() - self._attempts.last_end < _MAX_SLOT_WAIT:
            return
        while len(self._newcomers) < self._reserve and (task := self.queue.pop_of_others(busy)) is not None:
            busy.add(task[0].owner_id)
            self._newcomers[self._start(self._slot_of_newcomer(task))] = task[0].owner_id

    async def _slot_of_newcomer(self, task: tuple[Lease, int]) -> None:
        """Run one task, or one batch call, and end: the next task is selected anew."""
        me = asyncio.current_task()
        assert me is not None  # noqa: S101 - a coroutine always runs in a task here
        if self.step.batch_size is None:
            await self._run_task(me, *task, time.monotonic())
        else:
            await self._run_batch(me, [task], time.monotonic())
        self._learn()
        self._forget_slot(me)
        self.start_slots()
        self._on_capacity()

    def _next(self, *, is_first: bool, outranked: bool) -> tuple[Lease, int] | None:
        """`is_first`: prefer an owner who runs nothing. `outranked`: also one whose tasks wait behind higher
        priorities."""
        if not self.is_shared or self.queue.owners < 2:
            return self.queue.pop()
        if outranked and (task := self.queue.pop_outranked(self._held)) is not None:
            return task
        if is_first and (task := self.queue.pop_waiting(self._held, self._last_owner)) is not None:
            return task
        return self.queue.pop_shared(self._held, self.concurrency.value - 1)

    async def _slot_in_turn(self) -> None:
        await self._wait_for_turn()
        if self.queue.size:
            await self._slot()

    async def _wait_for_turn(self) -> None:
        await self._scheduler.wait(self.step_id)
        if self.running:  # a task of another slot, which has suspended
            self._is_continuous = False
            self.start_slots()

    async def _slot(self) -> None:
        me = asyncio.current_task()
        assert me is not None  # noqa: S101 - a coroutine always runs in a task here
        if self._filling.is_due and not await self._filling.wait():
            return
        began = now = time.monotonic()
        size = self.step.batch_size
        yields = 0
        while (task := self._next(is_first=now == began, outranked=now == began and yields % 2 == 1)) is not None:
            self._last_owner = task[0].owner_id
            if self.queue.size <= self._refill_at:
                self._refill_at = -1  # report only once
                self._on_capacity()
            self._scheduler.last = me
            if size is None:
                now = await self._run_task(me, *task, now)
            else:
                now = await self._run_batch(me, self._more(task, size), now)
                if self._filling.is_due:
                    self._learn()
                    if not await self._filling.wait():
                        break
                    began = now = time.monotonic()  # exclude the time spent waiting
            if now - began > self._scheduler.slice_s:
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
        self._is_continuous = self._scheduler.last is slot
        if self._is_continuous:
            await self._wait_for_turn()
        else:
            await asyncio.sleep(0)

    def _more(self, first: tuple[Lease, int], size: int) -> list[tuple[Lease, int]]:
        tasks = [first]
        while len(tasks) < size and (task := self.queue.pop()) is not None:
            tasks.append(task)
        return tasks

    def _charge(self, lane_id: int, count: int, seconds: float) -> None:
        """Charge a lane for the slot time of tasks that have ended."""
        self.queue.ended(lane_id, count, seconds)
        self._on_ended(lane_id, count, seconds)

    def _learn(self) -> None:
        self.ends.learn(len(self.slots))

    def stop_overdue(self, now: float) -> None:
        """Stop attempts that are past their deadline."""
        self._attempts.stop_overdue(now)

    def stop_all(self, why: str) -> None:
        """Stop all running attempts."""
        self._attempts.stop_all(why)

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
        return {
            "running": len(self.running),
            "limited": bool(self.step.limits),
            "limits": [_describe_limit(limit) for limit in self.step.limits],
            "lingers": self._filling.describe(),
            "queued": self.queue.size,
            "ended": self.ends.total,
            "claim": self.size.describe(self.concurrency.value),
            "concurrency": self.concurrency.describe(),
            "failures": self.ends.spike.describe(),
        }


def _describe_limit(limit: Limit) -> dict[str, Any]:
    terms = {"name": limit.name, "rate": limit.rate, "per": limit.per, "concurrency": limit.concurrency}
    return terms | {"keyed": limit.key is not None}
