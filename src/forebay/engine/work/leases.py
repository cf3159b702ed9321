"""The leases of a worker: renewed by its heartbeat, dropped when lost, released at shutdown."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from forebay.engine.db import tasks
from forebay.engine.work.claim_size import LeaseTime
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor
    from forebay.settings import Settings

log = get_logger("leases")


class LeaseBook:
    """The leases that one worker holds."""

    def __init__(
        self, pool: Pool, worker_id: int, settings: Settings, clock: Clock, executors: Mapping[int, StepExecutor]
    ) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._clock = clock
        self._executors = executors
        self._floor = settings.lease_floor_s
        self.length = LeaseTime(settings.lease_floor_s, settings.lease_cap_s)
        self.loop_seen = time.monotonic()  # when the worker's event loop was last seen running
        self._held: dict[int, Lease] = {}
        self._arrivals: set[asyncio.Event] = set()  # of claims in progress
        self._tasks: dict[int, dict[int, int]] = {step_id: {} for step_id in executors}  # tasks by step and lane
        self._owners: dict[int, dict[int, int]] = {step_id: {} for step_id in executors}  # tasks by step and owner

    def __len__(self) -> int:
        return len(self._held)

    def add(self, lease: Lease) -> None:
        lease.open = size = lease.size
        lease.held_since = time.monotonic()
        self._held[lease.token] = lease
        tasks, owners = self._tasks[lease.step_id], self._owners[lease.step_id]
        tasks[lease.lane_id] = tasks.get(lease.lane_id, 0) + size
        owners[lease.owner_id] = owners.get(lease.owner_id, 0) + size

    def _forget(self, lease: Lease) -> None:
        if self._held.pop(lease.token, None) is None:
            return
        size = lease.size
        _subtract(self._tasks[lease.step_id], lease.lane_id, size)
        _subtract(self._owners[lease.step_id], lease.owner_id, size)

    def served(self, step_id: int) -> set[int]:
        """The lanes that have more tasks of this step here, settled or not, than can run concurrently."""
        few = self._executors[step_id].concurrency.value
        return {lane_id for lane_id, count in self._tasks[step_id].items() if count > few}

    def filled_by(self, step_id: int, slots: int) -> set[int]:
        """The owners who have at least as many tasks of this step here as it has slots."""
        return {owner_id for owner_id, count in self._owners[step_id].items() if count >= slots}

    def lanes(self, step_id: int) -> Collection[int]:
        """The lanes that have any task of this step here."""
        return self._tasks[step_id].keys()

    def holders(self, step_id: int) -> Collection[int]:
        """The owners who have any task of this step here."""
        return self._owners[step_id].keys()

    def settled(self, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            lease = attempt.lease
            lease.open -= 1
            if lease.open <= 0:
                self._forget(lease)

    def due(self) -> list[Lease]:
        """The leases that have been held for a while without a renewal. The heartbeat calls this on its own thread;
        the copy of the dict is one step of the interpreter."""
        before = time.monotonic() - self._floor / 4
        return [lease for lease in list(self._held.values()) if lease.held_since < before]

    def loop_blocked_s(self) -> float:
        """For how many seconds the worker's event loop has been blocked; 0 if not longer than the cap of leases."""
        seconds = time.monotonic() - self.loop_seen
        return seconds if seconds > self.length.cap else 0.0

    def note_renewal(self, tokens: Sequence[int], held: Mapping[int, bool]) -> None:
        """Handle the response to a renewal of `tokens`: stop tasks that are cancelled or whose lease is lost."""
        # A lease that was settled while the heartbeat was in progress is not lost.
        self._drop({token for token in tokens if token not in held and token in self._held}, "lost")
        self._drop({token for token, cancelled in held.items() if cancelled}, "cancelled")

    def _drop(self, tokens: set[int], why: str) -> None:
        if not tokens:
            return
        dropped = sum(executor.drop_leases(tokens, why) for executor in self._executors.values())
        if why == "lost":
            for token in tokens:
                self._forget(self._held[token])
            if dropped:  # otherwise the response to their settle is on its way
                log.warning("leases_lost", count=len(tokens), tasks=dropped, worker=self._worker_id)

    def expect_claim(self) -> asyncio.Event:
        """Record that a claim was sent; its leases are in the book when `note_arrival` is called with the result."""
        arrival = asyncio.Event()
        self._arrivals.add(arrival)
        return arrival

    def note_arrival(self, arrival: asyncio.Event) -> None:
        self._arrivals.discard(arrival)
        arrival.set()

    async def release_unknown(self) -> None:
        """Release the leases of claims whose response was lost: this worker has them but does not know them. Claims in
        progress are waited for, because their leases are not in the book yet."""
        tokens = await tasks.held_tokens(self._pool, self._worker_id)
        for arrival in list(self._arrivals):
            await arrival.wait()
        unknown = [token for token in tokens if token not in self._held]
        if unknown:
            released = await tasks.release(self._pool, self._worker_id, unknown, self._clock.stamp())
            log.warning("unknown_leases_released", leases=len(unknown), tasks=released, worker=self._worker_id)

    async def release_all(self) -> None:
        """Release all leases of this worker, as if they had not been claimed, including those that it does not know
        about because the response to a claim was lost."""
        await tasks.release_all(self._pool, self._worker_id, self._clock.stamp())
        for lease in list(self._held.values()):
            self._forget(lease)


def _subtract(counts: dict[int, int], key: int, count: int) -> None:
    """Change a count; a count of zero is removed."""
    left = counts[key] - count
    if left:
        counts[key] = left
    else:
        del counts[key]
