"""The status of a worker's steps, as its row in the database and `forebay top` show it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from forebay.engine.work.executor import StepExecutor


def describe_steps(executors: Collection[StepExecutor]) -> dict[str, Any]:
    """The status of each step, and the totals."""
    last = max((executor.ends.last_ended for executor in executors), default=0.0)
    return {
        "steps": {executor.step.label: executor.describe() for executor in executors},
        "succeeded": sum(executor.ends.succeeded for executor in executors),
        "failed": sum(executor.ends.failed for executor in executors),
        "by_step": {
            executor.step.label: {
                "succeeded": executor.ends.succeeded,
                "failed": executor.ends.failed,
                "busy_s": round(executor.ends.busy_s, 3),
            }
            for executor in executors
        },
        "busy_s": round(sum(executor.ends.busy_s for executor in executors), 3),
        "last_processed": datetime.fromtimestamp(last, UTC).isoformat() if last else None,
        "has_failed": any(executor.ends.last_error for executor in executors),
    }


def last_error(executors: Collection[StepExecutor]) -> str | None:
    """The reason of the last failed attempt. It may concern any owner's item, so it is not shown to everyone."""
    errors = sorted((executor.ends.last_error for executor in executors if executor.ends.last_error), reverse=True)
    return errors[0][1] if errors else None
