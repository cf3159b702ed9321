"""Log lines about jobs and items: the end of each job; at debug level, every attempt and its next retry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor

log = get_logger("worker")

_ONE_BY_ONE = 5  # maximum jobs of one batch that are logged separately


def log_finished(jobs: Sequence[int]) -> None:
    """Log the end of jobs; many jobs that end together share one line."""
    if len(jobs) > _ONE_BY_ONE:
        log.info("jobs_finished", count=len(jobs), first=min(jobs), last=max(jobs))
        return
    for job_id in jobs:
        log.info("job_finished", job=job_id)


def log_attempts(batch: Sequence[Attempt], executors: Mapping[int, StepExecutor], now: float) -> None:
    """Log how attempts ended, and when failed attempts are retried; `now` is the mark of the settle."""
    for attempt in batch:
        lease = attempt.lease
        step = executors[lease.step_id].step
        said = log.bind(
            job=lease.job_id,
            item=attempt.n,
            step=step.label,
            attempt=lease.attempt,
            duration_s=round(max(0.0, now - attempt.started), 3),
        )
        if attempt.outcome is None:
            said.debug("attempt_settled", outcome="DONE")
        elif attempt.retry_in is None:
            said.debug(
                "attempt_settled", outcome=attempt.outcome, error_class=attempt.error_class, reason=attempt.reason
            )
        else:
            said.debug(
                "retry_planned",
                outcome=attempt.outcome,
                error_class=attempt.error_class,
                reason=attempt.reason,
                retry_in=round(attempt.retry_in, 3),
                counts_as_attempt=attempt.counts_as_attempt,
            )
