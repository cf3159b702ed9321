"""Reports of attempts: which module settles an attempt that has ended, and who is told when it is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engine.work import job_log
from forebay.engine.work.attempt import HELD_BACK
from forebay.log import is_debug_enabled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Settled, Woken
    from forebay.engine.maintenance.sweeper import Sweeper
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.failure_log import FailureLog
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.limited_tasks import LimitedTasks
    from forebay.engine.work.parking import QueueParking
    from forebay.engine.work.recent_work import RecentWork
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.slices import AwaitedJobs
    from forebay.engine.work.transactions import StepTransactions


class AttemptReports:
    """The way of reports between the modules of one worker."""

    def __init__(
        self, executors: Mapping[int, StepExecutor], recent: RecentWork, awaited: AwaitedJobs, clock: Clock
    ) -> None:
        self._executors = executors
        self._recent = recent
        self._awaited = awaited
        self._clock = clock

    def connect(
        self,
        *,
        settler: Settler,
        transactions: StepTransactions,
        limited: LimitedTasks,
        leases: LeaseBook,
        claimer: Claimer,
        parking: QueueParking,
        failures: FailureLog,
        sweeper: Sweeper,
    ) -> None:
        """Set the modules that are made with this one, before any of them runs."""
        self._settler = settler
        self._transactions = transactions
        self._limited = limited
        self._leases = leases
        self._claimer = claimer
        self._parking = parking
        self._failures = failures
        self._sweeper = sweeper

    def add(self, attempt: Attempt) -> None:
        """Pass an attempt that has ended on to the module that settles it."""
        if attempt.outcome == HELD_BACK:
            self._limited.add(attempt)
            return
        self._parking.note(attempt)
        if attempt.own_transaction is None:
            self._settler.add(attempt)
        else:
            self._transactions.settle(attempt)

    def on_returned(self, batch: Sequence[Attempt], woken: Sequence[Woken]) -> None:
        """Handle attempts whose tasks a limit held back, and the lanes in which they wait now."""
        self._leases.settled(batch)
        for lane in woken:
            if lane.key[0]:
                self._claimer.waking.wake_key(lane.step_id, lane.lane_id, lane.seq, lane.key)
            else:
                self._claimer.waking.wake(lane.step_id, lane.lane_id, lane.seq)
        if not self._leases:
            self._claimer.on_capacity()

    def on_saved(self, batch: Sequence[Attempt]) -> None:
        """Handle attempts whose outcome is stored."""
        self._leases.settled(batch)
        self._recent.add(batch)

    def on_settled(self, batch: Sequence[Attempt], settled: Settled) -> None:
        """Handle what followed from attempts: ended jobs, and lanes that have new tasks."""
        if settled.finished_jobs:
            job_log.log_finished(settled.finished_jobs)
            self._awaited.remove(settled.finished_jobs)
        self._plan_retries(batch)
        self._failures.add(batch, set(settled.stale))
        if is_debug_enabled():
            job_log.log_attempts(batch, self._executors, self._clock.mark())
        for step_id, lane_id, seq in settled.woken:
            self._claimer.waking.wake(step_id, lane_id, seq)
        if not self._leases:
            self._claimer.on_capacity()

    def _plan_retries(self, batch: Sequence[Attempt]) -> None:
        pauses = [attempt.retry_in for attempt in batch if attempt.outcome is not None and attempt.retry_in]
        if pauses:
            self._sweeper.promote_in(min(pauses))
