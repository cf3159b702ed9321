"""What a worker did lately: attempts per second of each owner, and the outcomes of each step."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from forebay.engine.work.recent_counts import RecentCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor

_OWNERS = 64  # owners in a report; the others are summed
_RATE_S = 10.0
_OUTCOME_S = 60.0


class RecentWork:
    """Counted in memory and reported with the status of the worker, so that nobody has to count attempts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._owners: RecentCounts[int] = RecentCounts(_RATE_S, clock)
        self._outcomes: RecentCounts[tuple[str, bool]] = RecentCounts(_OUTCOME_S, clock)
        self._counted: dict[str, tuple[int, int]] = {}  # by step: successes and failures at the last report

    def add(self, batch: Sequence[Attempt]) -> None:
        """Count settled attempts: for each run of attempts of one lease, because this is done for every task."""
        lease, count = None, 0
        for attempt in batch:
            if attempt.lease is lease:
                count += 1
                continue
            if lease is not None:
                self._owners.add(lease.owner_id, count)
            lease, count = attempt.lease, 1
        if lease is not None:
            self._owners.add(lease.owner_id, count)

    def describe(self, executors: Collection[StepExecutor]) -> dict[str, Any]:
        for executor in executors:
            self._count(executor.step.label, executor.succeeded, executor.failed)
        outcomes, seconds = self._outcomes.totals()
        steps = sorted({label for label, _ in outcomes})
        return {
            "attempts_per_s": self._rates(),
            "seconds": round(seconds, 1),
            "steps": {
                label: {"succeeded": outcomes.get((label, True), 0), "failed": outcomes.get((label, False), 0)}
                for label in steps
            },
        }

    def _count(self, label: str, succeeded: int, failed: int) -> None:
        before = self._counted.get(label, (0, 0))
        for is_success, count in ((True, succeeded - before[0]), (False, failed - before[1])):
            if count:
                self._outcomes.add((label, is_success), count)
        self._counted[label] = (succeeded, failed)

    def _rates(self) -> dict[str, Any]:
        """Attempts per second by owner id: those of the busiest owners, and those of all others together."""
        totals, seconds = self._owners.totals()
        busiest = sorted(totals, key=lambda owner: (-totals[owner], owner))[:_OWNERS]
        others = sum(totals.values()) - sum(totals[owner] for owner in busiest)
        per = max(seconds, 0.001)
        return {
            "owners": {str(owner): round(totals[owner] / per, 3) for owner in busiest},
            "others": round(others / per, 3),
        }
