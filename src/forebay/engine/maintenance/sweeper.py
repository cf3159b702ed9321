"""The sweep: promotes due tasks, recovers lost ones, deletes old data. Any worker may run it."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.engine.db import sweeps
from forebay.engine.loops import every
from forebay.engine.maintenance import schedules
from forebay.log import get_logger
from forebay.settings import days_by_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.settings import Settings

log = get_logger("sweeper")

_PROMOTE_EVERY = 0.25  # seconds between checks for due tasks
_FROM_START_EVERY = 10.0  # seconds between promotions that ignore the watermark


class Sweeper:
    """The periodic maintenance of one worker. Several workers can run it concurrently."""

    def __init__(
        self, pool: Pool, settings: Settings, clock: Clock, *, wake: Callable[[int, int, int | None], None]
    ) -> None:
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._wake = wake
        self._promoted_to: datetime | None = None
        self._from_start_at = 0.0
        self._next_promotion = 0.0

    async def run(self) -> None:
        s = self._settings
        async with asyncio.TaskGroup() as group:
            group.create_task(every(0.05, "promote", self._promote_when_due))
            group.create_task(every(s.sweep_s, "expire", self.expire))
            group.create_task(every(s.sweep_s, "cancelled", self.close_cancelled_items))
            group.create_task(every(1.0, "schedules", self.run_schedules))
            group.create_task(every(5.0, "signals", self.sweep_signals))
            group.create_task(every(30.0, "tidy", self.tidy))
            group.create_task(every(30.0, "versions", self.adopt_jobs))
            group.create_task(every(300.0, "stranded", self.repair_stranded))
            group.create_task(every(300.0, "retain", self.retain))

    async def sweep(self) -> None:
        """Run all frequent maintenance now."""
        await self.expire()
        await self.close_cancelled_items()
        await self.run_schedules()
        await self.sweep_signals()
        await self.promote(from_start=True)

    async def promote(self, *, from_start: bool = False) -> int:
        """Make due tasks ready, from the end of the last promotion on; periodically from the start."""
        moved = 0
        if from_start or time.monotonic() >= self._from_start_at:
            self._promoted_to, self._from_start_at = None, time.monotonic() + _FROM_START_EVERY
        while True:
            now = self._clock.stamp()
            done = await sweeps.promote(self._pool, now, self._promoted_to)
            moved += done.moved
            for step_id, lane_id, seq in done.woken:
                self._wake(step_id, lane_id, seq)
            if done.moved == 0:
                due_in = _PROMOTE_EVERY
                if done.next_at is not None:
                    due_in = (done.next_at - done.at).total_seconds()
                    self._promoted_to = done.at - timedelta(seconds=1) if due_in > 0 else None
                self._next_promotion = time.monotonic() + min(_PROMOTE_EVERY, max(0.0, due_in))
                return moved

    async def _promote_when_due(self) -> None:
        """Promote when the next known task is due, and a few times a second for tasks that are not known."""
        if self._next_promotion <= time.monotonic():
            await self.promote()

    async def expire(self) -> int:
        """Expire the leases of dead workers."""
        total = 0
        while True:
            done = await sweeps.expire(self._pool, self._clock.stamp())
            if done.leases == 0:
                return total
            total += done.leases
            log.warning("leases_expired", leases=done.leases, requeued=done.requeued, failed=done.failed)

    async def close_cancelled_items(self) -> None:
        while await sweeps.close_cancelled_items(self._pool, self._clock.stamp()):
            pass

    async def run_schedules(self) -> None:
        async with self._pool.acquire() as conn:
            await schedules.run_due(conn, self._clock.stamp())

    async def sweep_signals(self) -> None:
        """Give kept signals to tasks that began to wait at the same moment, and delete those that have expired."""
        await sweeps.sweep_signals(self._pool, self._clock.stamp())

    async def make_partitions(self) -> None:
        await sweeps.make_partitions(self._pool, self._clock.stamp())

    async def tidy(self) -> None:
        await sweeps.tidy(self._pool, self._clock.stamp())

    async def adopt_jobs(self) -> None:
        """Jobs of versions of pipelines that no worker runs any more go on by the present ones."""
        while adopted := await sweeps.adopt_jobs(self._pool, self._clock.stamp(), self._settings.adopt_after_s):
            log.info("jobs_adopted", jobs=adopted)

    async def repair_stranded(self) -> None:
        """Items without a task get the tasks that they should have."""
        if added := await sweeps.repair_stranded(self._pool, self._clock.stamp()):
            log.warning("items_repaired", tasks=added)

    async def retain(self) -> None:
        """Delete what is older than the retention settings allow."""
        now, s = self._clock.stamp(), self._settings
        await self.make_partitions()
        await sweeps.drop_partitions(self._pool, now, s.keep_attempts_days)
        own = days_by_name(s.keep_jobs_days_of)
        for name, days in own.items():
            while await sweeps.delete_finished(self._pool, now, days, only=[name]):
                pass
        while await sweeps.delete_finished(self._pool, now, s.keep_jobs_days, but=list(own)):
            pass
        while await sweeps.delete_audit(self._pool, now, s.keep_audit_days):
            pass
