"""Reactions to failures that are not caused by the task: a queue is parked, or this worker pauses its claims.

A configuration error (`ConfigError`) parks the step's queue for all workers; the next success unparks it. A machine at
its limit (`ResourceError`) pauses this worker's claims, for increasing durations.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import registry
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.types import ErrorClass
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.executor import StepExecutor

log = get_logger("worker")

_PROBE_AFTER = 30.0  # seconds until a parked queue is tried again


class QueueParking:
    """The queues that are known to be parked, and the pauses of this worker's claims."""

    def __init__(self, pool: Pool, clock: Clock, claimer: Claimer, executors: Mapping[int, StepExecutor]) -> None:
        self._pool, self._clock, self._claimer, self._executors = pool, clock, claimer, executors
        self.parked: set[str] = set()  # by this or another worker
        self._backoff = Backoff(1, 60)
        self._background_tasks: set[asyncio.Task[None]] = set()

    def note(self, attempt: Attempt) -> None:
        """React to the end of an attempt."""
        if attempt.outcome is None:
            if self._backoff.pause or self.parked:
                self._succeeded(attempt)
        elif attempt.failure is ErrorClass.RESOURCE:
            self._hold(attempt)
        elif attempt.failure is ErrorClass.CONFIG:
            self._park(attempt)

    def _hold(self, attempt: Attempt) -> None:
        """Pause the claims. Tasks that fail together count once."""
        if not self._claimer.is_held:
            pause = self._backoff.grow()
            self._claimer.hold(pause)
            log.warning("worker_held", reason=attempt.reason, pause=pause)

    def _succeeded(self, attempt: Attempt) -> None:
        self._backoff.reset()
        queue = self._queue_of(attempt)
        if queue in self.parked:
            self.parked.discard(queue)
            self._in_background(self._unpark(queue))

    def _park(self, attempt: Attempt) -> None:
        queue, reason = self._queue_of(attempt), attempt.reason or "wrong configuration"
        if queue not in self.parked:
            log.error("queue_parked", queue=queue, reason=reason)
        self.parked.add(queue)
        self._in_background(registry.park(self._pool, queue, reason, _PROBE_AFTER, self._clock.stamp()))

    async def _unpark(self, queue: str) -> None:
        try:
            await registry.unpark(self._pool, queue)
        except UNAVAILABLE:
            self.parked.add(queue)  # the next success tries again
            raise
        log.info("queue_unparked", queue=queue)
        self._claimer.polling.request()

    def _queue_of(self, attempt: Attempt) -> str:
        return self._executors[attempt.lease.step_id].step.queue

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_task_ended)

    def _background_task_ended(self, task: asyncio.Task[None]) -> None:
        self._background_tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("queue_update_failed", error=one_line(error))
