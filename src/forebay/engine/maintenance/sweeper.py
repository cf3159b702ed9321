"""The sweep: promotes due tasks, recovers lost ones, deletes old data.

One worker, the leader, runs it for all. The others together promote and expire as well, at a tenth of the pace, in case
the leader hangs; and each promotes the retries of its own tasks when they are due. Where there can be no leader, the
workers that share steps run it together at the pace of one: those of other steps have a pace of their own.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import order, sweeps
from forebay.engine.loops import every
from forebay.engine.maintenance import sampling, schedules
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger
from forebay.setting_formats import days_by_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from forebay.db.pool import Connection, Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.sweeps import Due
    from forebay.engine.maintenance.leader import Leader
    from forebay.engine.work.peers import Peers
    from forebay.settings import Settings

log = get_logger("sweeper")

_LOOK_EVERY = 1.0  # seconds between looks for what is due
_FROM_START_EVERY = 10.0  # seconds between promotions that ignore the watermark
_ALL_LEASES_EVERY = 60.0  # seconds between looks at all leases, also below the watermark
_LEASES_SHARE = 50  # looks at leases may use 1/50 of the time: a long transaction keeps those that have ended
_LONGEST_PAUSE = 60.0  # seconds between two looks at leases, however slow they are
_OTHERS_SLOWER = 10  # how much slower workers are that are not the leader
_RARE_EVERY = 5.0  # seconds between looks for what there is rarely
_ORDER_EVERY = 10.0  # seconds between two parts of the sweep of the order
_ELECTION_TICKS = 3  # so often does a worker let others ask for a missing leader: most of them may have died
_PARTITION_TRIES = 5  # a second apart; then the next sweep


class Sweeper:
    """The periodic maintenance of one worker."""

    def __init__(
        self,
        pool: Pool,
        settings: Settings,
        clock: Clock,
        leader: Leader,
        peers: Peers,
        *,
        wake: Callable[[int, int, int | None], None],
    ) -> None:
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._leader = leader
        self._peers = peers
        self._wake = wake
        self._promoted_to: datetime | None = None
        self._from_start_at = 0.0
        self._next_promotion = 0.0
        self._lowest_token = 0
        self._all_leases_at = 0.0
        self._order_swept_to = (0, 0)
        self._order_at = 0.0
        self._expire_at = 0.0
        self._sampled_minute = 0
        self._left_elections = 0  # to others, since it asked itself
        self._one_at_a_time = asyncio.Lock()

    async def _elect(self) -> None:
        try:
            await self._leader.run_for_election()
        except (*UNAVAILABLE, DatabaseUnavailable) as error:
            log.warning("election_failed", error=one_line(error))

    async def _elect_in_turn(self) -> None:
        """All workers together ask at the pace of one, but each asks now and then: how many are alive is known late."""
        if self._leader.is_elected:
            return
        self._left_elections += 1
        if self._left_elections >= _ELECTION_TICKS or self._peers.is_my_turn(self._peers.count - 1):
            self._left_elections = 0
            await self._elect()

    async def run(self) -> None:
        s = self._settings
        others_every = _OTHERS_SLOWER * s.sweep_s
        await self._elect()
        async with asyncio.TaskGroup() as group:
            group.create_task(every(min(5.0, 5 * s.sweep_s), "election", self._elect_in_turn))
            group.create_task(every(min(_LOOK_EVERY, s.sweep_s), "look", self._if_leader(self.look)))
            group.create_task(every(0.05, "promote", self._promote_when_due))
            group.create_task(every(others_every, "expire", self._unless_leader(self.look_at_leases)))
            group.create_task(every(_OTHERS_SLOWER * _LOOK_EVERY, "promote others", self._unless_leader(self.promote)))
            group.create_task(every(_RARE_EVERY, "rare", self._seldom(self.sweep_rare)))
            group.create_task(every(10.0, "samples", self._seldom(self._sample_each_minute)))
            group.create_task(every(30.0, "tidy", self._seldom(self.tidy)))
            group.create_task(every(30.0, "versions", self._seldom(self.adopt_jobs)))
            group.create_task(every(300.0, "stranded", self._seldom(self.repair_stranded)))
            group.create_task(every(300.0, "retain", self._seldom(self.retain)))

    def _if_leader(self, task: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            leader, peers = self._leader, self._peers
            if leader.is_elected and (leader.elects or peers.is_my_turn(peers.count)):
                await task()

        return run

    def _seldom(self, task: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[None]]:
        """One at a time, so that together they use one connection of the pool."""

        async def run() -> None:
            async with self._one_at_a_time:
                await task()

        return self._if_leader(run)

    def _unless_leader(self, task: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            if not self._leader.is_elected and self._peers.is_my_turn(self._peers.count - 1):
                await task()

        return run

    async def sweep(self) -> None:
        """Run all frequent maintenance now."""
        await self.expire()
        await self.close_cancelled_items()
        await self.run_schedules()
        await self.sweep_signals()
        await self.sweep_order()
        await self.sweep_children()
        await self.promote(from_start=True)

    async def look(self) -> None:
        """Ask what is due, in one statement, and do it."""
        now = time.monotonic()
        if now >= self._from_start_at:
            self._promoted_to, self._from_start_at = None, now + _FROM_START_EVERY
        due = await self._find_due()
        self._plan_promotion(due.at, due.next_at)
        if due.has_expired:
            await self.expire()
        if due.has_cancelled:
            await self.close_cancelled_items()
        if due.has_schedule:
            await self.run_schedules()

    async def look_at_leases(self) -> None:
        """Expire leases if there are expired ones."""
        if (await self._find_due()).has_expired:
            await self.expire()

    async def _find_due(self) -> Due:
        """What is due. Leases are looked at from the lowest one on, periodically from the start; the longer that takes,
        the more seldom."""
        began = time.monotonic()
        is_whole = began >= self._all_leases_at
        looks = is_whole or began >= self._expire_at
        first = 0 if is_whole else self._lowest_token
        async with self._leader.connection() as conn:
            due = await sweeps.find_due(conn, self._clock.stamp(), self._promoted_to, first, leases=looks)
        self._lowest_token = due.lowest_token
        if looks:
            pause = _LEASES_SHARE * (time.monotonic() - began)
            self._expire_at = began + min(_LONGEST_PAUSE, max(0.9 * self._settings.sweep_s, pause))
            if is_whole:
                self._all_leases_at = began + max(_ALL_LEASES_EVERY, pause)
        return due

    # -- promotion ------------------------------------------------------------------------------------------------

    async def promote(self, *, from_start: bool = False) -> int:
        """Make due tasks ready, from the end of the last promotion on; periodically from the start."""
        moved = 0
        if from_start or time.monotonic() >= self._from_start_at:
            self._promoted_to, self._from_start_at = None, time.monotonic() + _FROM_START_EVERY
        self._next_promotion = float("inf")
        while True:
            async with self._leader.connection() as conn:
                done = await sweeps.promote(conn, self._clock.stamp(), self._promoted_to)
            moved += done.moved
            for step_id, lane_id, seq in done.woken:
                self._wake(step_id, lane_id, seq)
            if done.moved == 0:
                self._plan_promotion(done.at, done.next_at)
                return moved

    def promote_in(self, seconds: float) -> None:
        """Promote when a task of this worker is due."""
        self._next_promotion = min(self._next_promotion, time.monotonic() + seconds)

    def _plan_promotion(self, at: datetime, next_at: datetime | None) -> None:
        """The next scheduled run is due at next_at; a due run that is locked now is tried again soon."""
        if next_at is None:
            return
        due_in = (next_at - at).total_seconds()
        self._promoted_to = at - timedelta(seconds=1) if due_in > 0 else None
        self.promote_in(max(0.0, due_in))

    async def _promote_when_due(self) -> None:
        if self._next_promotion <= time.monotonic():
            await self.promote()

    # -- frequent -------------------------------------------------------------------------------------------------

    async def expire(self) -> int:
        """Expire the leases of dead workers."""
        total = 0
        while True:
            async with self._leader.connection() as conn:
                done = await sweeps.expire(conn, self._clock.stamp(), self._lowest_token)
            if done.leases == 0:
                return total
            total += done.leases
            log.warning("leases_expired", leases=done.leases, requeued=done.requeued, failed=done.failed)

    async def close_cancelled_items(self) -> None:
        while await self._with_connection(lambda conn: sweeps.close_cancelled_items(conn, self._clock.stamp())):
            pass

    async def run_schedules(self) -> None:
        await self._with_connection(lambda conn: schedules.run_due(conn, self._clock.stamp()))

    async def _with_connection(self, call: Callable[[Connection], Awaitable[int]]) -> int:
        async with self._leader.connection() as conn:
            return await call(conn)

    # -- seldom, and perhaps slow: on a connection of the pool ----------------------------------------------------

    async def sweep_rare(self) -> None:
        """Sweep signals, children and the order of tasks, as far as there are any."""
        found = await sweeps.find_rare(self._pool)
        if found.signals:
            await self.sweep_signals()
        if found.children:
            await self.sweep_children()
        if found.ordered and time.monotonic() >= self._order_at:
            self._order_at = time.monotonic() + _ORDER_EVERY
            await self.sweep_order()

    async def sweep_signals(self) -> None:
        """Give kept signals to tasks that began to wait at the same moment, and delete those that have expired."""
        await sweeps.sweep_signals(self._pool, self._clock.stamp())

    async def sweep_order(self) -> None:
        """Repair the order of tasks: some in each sweep, more while there is something to repair."""
        changed = 1
        while changed:
            changed, *reached = await order.sweep(self._pool, *self._order_swept_to, self._clock.stamp())
            self._order_swept_to = (reached[0], reached[1])
            if changed:
                log.warning("order_repaired", tasks=changed)

    async def sweep_children(self) -> None:
        """Pause, resume and cancel the children of jobs that were so, and delete those that will never start."""
        while await sweeps.sweep_children(self._pool, self._clock.stamp()):
            pass

    async def make_partitions(self) -> None:
        await sweeps.make_partitions(self._pool, self._clock.stamp())

    async def drop_partitions(self) -> None:
        """Drop old partitions. The lock is awaited only for a moment, because settles wait behind it."""
        for _ in range(_PARTITION_TRIES):
            if not await sweeps.drop_partitions(self._pool, self._clock.stamp(), self._settings.keep_attempts_days):
                return
            await asyncio.sleep(1)

    async def tidy(self) -> None:
        await sweeps.tidy(self._pool, self._clock.stamp())
        if removed := await sweeps.remove_undeclared(self._pool, self._clock.stamp()):
            log.warning("schedules_removed", schedules=removed)

    async def _sample_each_minute(self) -> None:
        minute = int(time.time() // 60)
        if minute != self._sampled_minute:
            await self.sample()
            self._sampled_minute = minute

    async def sample(self) -> None:
        """Add the samples of this minute, and delete those that are older than an hour."""
        await sampling.add_samples(self._pool, self._clock.stamp())

    async def adopt_jobs(self) -> None:
        """Move jobs of versions that no worker runs any more to the present versions of their pipelines."""
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
        await self.drop_partitions()
        own = days_by_name(s.keep_jobs_days_of)
        for name, days in own.items():
            while await sweeps.delete_finished(self._pool, now, days, only=[name]):
                pass
        while await sweeps.delete_finished(self._pool, now, s.keep_jobs_days, but=list(own)):
            pass
        while await sweeps.delete_audit(self._pool, now, s.keep_audit_days):
            pass
        while cancelled := await sweeps.cancel_idle_streams(self._pool, now, s.stream_idle_days):
            log.warning("streams_cancelled", jobs=cancelled)
