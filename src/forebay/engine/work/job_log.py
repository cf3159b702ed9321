"""What the logs tell of jobs and items: each job's end; and in detail, each item's every step and why it runs again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor

log = get_logger("worker")

_ONE_BY_ONE = 5  # jobs that end together


def tell_finished(jobs: Sequence[int]) -> None:
    """Jobs have ended; many small ones that end together share a line."""
    if len(jobs) > _ONE_BY_ONE:
        log.info("jobs_finished", count=len(jobs), first=min(jobs), last=max(jobs))
        return
    for job_id in jobs:
        log.info("job_finished", job=job_id)


def tell_attempts(batch: Sequence[Attempt], executors: Mapping[int, StepExecutor], now: float) -> None:
    """How attempts ended, and when those that failed are tried again; they have been settled `now`."""
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
