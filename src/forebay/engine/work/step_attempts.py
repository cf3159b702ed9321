"""The attempts of one step: each calls the step's function for a task, or for a batch of tasks, and is reported.

Deadlines and cancellations are checked from outside (`stop_overdue`), so a task does not need a timer.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.engine.declare.map import Map
from forebay.engine.declare.step import StepKind
from forebay.engine.limits.client import LimitReached
from forebay.engine.work.attempt import HELD_BACK, Attempt, begin_wait, end_wait, report_error, report_outcome
from forebay.errors import TransientError
from forebay.owner_turns import acting_for
from forebay.types import Wait

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.context import Context, StepServices
    from forebay.engine.declare.step import Step
    from forebay.engine.limits.client import LimitClient, Permits
    from forebay.engine.work.arguments import StepArguments
    from forebay.engine.work.ended_attempts import EndedAttempts
    from forebay.engine.work.maps import Maps
    from forebay.engine.work.task_queue import TaskQueue

_WAITING = (Wait, Map)
_NEVER = float("inf")


class StepAttempts:
    """Runs the tasks of one step that its slots take from the queue."""

    def __init__(  # noqa: PLR0913 - the attempts of a step are wired once
        self,
        step: Step[Any, Any],
        queue: TaskQueue,
        ends: EndedAttempts,
        *,
        call: Callable[..., Awaitable[Any]],
        arguments: StepArguments,
        report: Callable[[Attempt], None],
        services: StepServices,
        limits: LimitClient,
        maps: Maps,
        clock: Clock,
    ) -> None:
        self.running: set[Attempt] = set()
        self.held: dict[int, int] = {}  # slots in use, by owner
        self.last_end = 0.0  # of an attempt, monotonic
        self._step = step
        self._queue = queue
        self._ends = ends
        self._call = call
        self._arguments = arguments
        self._report = report
        self._services = services
        self._limits = limits
        self._maps = maps
        self._clock = clock
        self._may_have_waited = step.waits or step.maps
        self._timeout = _NEVER if step.timeout is None else step.timeout
        self._is_on_thread = step.kind is StepKind.THREAD

    async def run_task(self, slot: asyncio.Task[Any], lease: Lease, index: int, began: float) -> float:
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
                self._maps.resume(attempt, self._step, waited, waited.children)
            else:
                if self._step.limits:
                    permits = await self._permits([attempt], args[0])
                    began = time.monotonic()  # exclude the time spent waiting
                    attempt.deadline = self._deadline(began)
                    value = await self._call_limited(permits, attempt, *args)
                else:
                    value = await self._call(attempt, *args)
                if value.__class__ in _WAITING:
                    await self._begin_wait(attempt, value)
                else:
                    report_outcome(attempt, self._step, value)
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
        ended = self.last_end = time.monotonic()
        self._ends.add(attempt, ended - began)
        self._report(attempt)
        return ended

    async def run_batch(self, slot: asyncio.Task[Any], tasks: list[tuple[Lease, int]], began: float) -> float:
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
        ended = self.last_end = time.monotonic()
        for attempt in attempts:
            self._ends.add(attempt, (ended - began) / len(tasks))
            self._report(attempt)
        return ended

    async def _call_batch(self, attempts: list[Attempt], tasks: list[tuple[Lease, int]]) -> None:
        inputs: list[Any] = []
        good: list[Attempt] = []
        for attempt, (lease, index) in zip(attempts, tasks, strict=True):
            try:
                args = self._arguments.at_hand(lease, index) or await self._arguments.read(attempt)
                inputs.append(args if self._step.after else args[0])
                good.append(attempt)
            except Exception as error:  # one invalid input must not fail the batch
                report_error(attempt, self._step, error)
        if not good:
            return
        try:
            first = inputs[0][0] if self._step.after else inputs[0]
            permits = await self._permits(good, first)
            values = _checked(list(await self._call_limited(permits, attempts[0], inputs)), len(good))
        except (Exception, SystemExit) as error:
            for attempt in good:
                self._fail(attempt, error)
            return
        for attempt, value in zip(good, values, strict=True):
            try:
                report_outcome(attempt, self._step, value)
            except Exception as error:
                report_error(attempt, self._step, error)

    def _begin(self, slot: asyncio.Task[Any], lease: Lease, index: int, now: float) -> Attempt:
        attempt = Attempt(lease, lease.ns[index], self._clock.mark(now))
        attempt.runs(self._step.name, slot, self._deadline(now), self._services)
        acting_for.set(lease.owner_id)
        self.running.add(attempt)
        return attempt

    def _deadline(self, now: float) -> float:
        """The deadline of a call that begins now. A call on a thread begins when a thread is free."""
        return _NEVER if self._is_on_thread else now + self._timeout

    async def _permits(self, attempts: list[Attempt], value: Any) -> Permits:
        """Raises: LimitReached, after the attempts were held back."""
        try:
            lease = attempts[0].lease
            return await self._limits.acquire(
                self._step.limits, value, busy=self._queue.size > 0, lane=lease.key, task=lease.task
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

    async def _begin_wait(self, attempt: Attempt, value: Any) -> None:
        """Let a task wait for a signal, or for its children."""
        if value.__class__ is Map and self._step.can_wait:
            await self._maps.begin(attempt, self._step, value)
            return
        report_outcome(attempt, self._step, value)
        begin_wait(attempt, value, self._clock.stamp())

    def _fail(self, attempt: Attempt, error: BaseException) -> None:
        if attempt.outcome != HELD_BACK:  # otherwise it has not begun
            report_error(attempt, self._step, error)

    def _stopped(self, slot: asyncio.Task[Any], attempts: list[Attempt]) -> None:
        """Handle the cancellation of attempts: by the worker (for one attempt, or for another of its batch), by the
        step itself, or with the whole worker; in the last case the slot ends as well."""
        stopped = any(attempt.stop for attempt in attempts)
        if not stopped and slot.cancelling():
            raise asyncio.CancelledError
        for attempt in attempts:
            if attempt.stop == "timeout":
                report_error(attempt, self._step, TransientError(f"timed out after {self._step.timeout:g} s"))
            elif attempt.stop == "cancelled":
                attempt.fail("CANCELLED", reason="cancelled while running", ends_item=True)
            elif stopped:  # the worker stops, the lease is lost, or another attempt of the batch was stopped
                why = attempt.stop or "another task of its batch was stopped"
                attempt.fail(
                    "RELEASED", reason=f"released by the worker ({why})", retry_in=0.0, counts_as_attempt=False
                )
            else:
                report_error(attempt, self._step, TransientError("the step cancelled itself"))

    def _hold(self, owner_id: int) -> None:
        self.held[owner_id] = self.held.get(owner_id, 0) + 1

    def _let_go(self, owner_id: int) -> None:
        if self.held[owner_id] == 1:
            del self.held[owner_id]
        else:
            self.held[owner_id] -= 1

    def stop_overdue(self, now: float) -> None:
        """Stop attempts that are past their deadline."""
        # The process pool enforces the timeout of process steps.
        if self._step.timeout is None or self._step.kind is StepKind.PROCESS:
            return
        for attempt in list(self.running):
            if attempt.deadline < now:
                attempt.end("timeout")

    def stop_all(self, why: str) -> None:
        for attempt in list(self.running):
            attempt.end(why)


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
