"""The status of a worker's steps, as its row in the database and `forebay top` show it."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from forebay.engine.db import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from forebay.db.fair_pool import FairPool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.resources import Resources
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.machine import Machine
    from forebay.engine.work.parking import QueueParking
    from forebay.engine.work.peers import Peers
    from forebay.engine.work.recent_work import RecentWork
    from forebay.engine.work.settler import Settler

_IDLE_EVERY = 10.0  # seconds between the reports of an idle worker


class StatusReports:
    """Writes the status of one worker into its row, and reads what it must know about others."""

    def __init__(  # noqa: PLR0913 - it describes all modules
        self,
        pool: FairPool,
        worker_id: int,
        clock: Clock,
        *,
        executors: Mapping[int, StepExecutor],
        settler: Settler,
        leases: LeaseBook,
        claimer: Claimer,
        limits: LimitClient,
        machine: Machine,
        recent: RecentWork,
        resources: Resources,
        parking: QueueParking,
        peers: Peers,
    ) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._clock = clock
        self._executors = executors
        self._settler = settler
        self._leases = leases
        self._claimer = claimer
        self._limits = limits
        self._machine = machine
        self._recent = recent
        self._resources = resources
        self._parking = parking
        self._peers = peers
        self.is_draining = False  # it claims nothing more: others need not leave tasks to it
        self._written_at = 0.0  # monotonic
        self._settled = 0  # attempts at that time
        self.more: dict[str, Callable[[], Any]] = {}  # of workers that do more, by name

    async def write_when_due(self) -> None:
        """An idle worker has nothing new to say, except that it is alive."""
        is_idle = not self._leases and self._settler.settled == self._settled and not self.is_draining
        if not is_idle or time.monotonic() - self._written_at >= _IDLE_EVERY:
            await self.write()

    async def write(self, *, stopped: bool = False) -> None:
        """Write the status of this worker, and read which queues are parked."""
        self._written_at, self._settled = time.monotonic(), self._settler.settled
        # Another worker may have parked a queue: the worker whose next attempt succeeds unparks it.
        news = await registry.report_status(
            self._pool,
            self._worker_id,
            self._describe(),
            self._settler.stale,
            self._clock.stamp(),
            last_error=last_error(self._executors.values()),
            stopped=stopped,
        )
        self._parking.parked = news.parked
        self._peers.learn(news.workers)
        if news.at is not None:
            self._clock.follow(news.at)

    def _describe(self) -> dict[str, Any]:
        executors = self._executors.values()
        waits = {e.step.label: round(self._claimer.longest_wait(e.step_id), 3) for e in executors}
        return describe_steps(executors) | {
            "settled": self._settler.settled,
            "leases": len(self._leases),
            "pid": os.getpid(),
            "lane_waits": waits,
            "limits": self._limits.describe(),
            "machine": self._machine.describe(),
            "lease": self._leases.length.describe(),
            "recent": self._recent.describe(executors),
            "held_s": round(self._claimer.held_s, 1),
            "shared": self._resources.describe(),
            "pool_waits": self._pool.waits.describe(),
            "draining": self.is_draining,
            **{name: describe() for name, describe in self.more.items()},
        }


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
