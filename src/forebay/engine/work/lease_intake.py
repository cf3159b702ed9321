"""Takes the leases of a claim in: records them and passes their tasks to the executors."""

from __future__ import annotations

import asyncio
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from forebay.engine.work.attempt import Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.lane_book import LaneBook
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.settler import Settler

_YIELD_EVERY = 250  # leases after which the event loop may do something else


class LeaseIntake:
    """Passes the tasks of new leases to the executors of one worker."""

    def __init__(
        self,
        executors: Mapping[int, StepExecutor],
        lanes: LaneBook,
        leases: LeaseBook,
        settler: Settler,
        clock: Clock,
    ) -> None:
        self._executors = executors
        self._lanes = lanes
        self._leases = leases
        self._settler = settler
        self._clock = clock
        self._stopped = False

    def stop(self) -> None:
        """Start no more tasks."""
        self._stopped = True

    async def accept(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._executors[lease.step_id].arriving += len(lease.ns)
        for start in range(0, len(leases), _YIELD_EVERY):
            if start:
                await asyncio.sleep(0)
            some = leases[start : start + _YIELD_EVERY]
            for lease in some:
                self._executors[lease.step_id].arriving -= len(lease.ns)
            self._accept_some(some)

    def _accept_some(self, leases: list[Lease]) -> None:
        for (step_id, lane_id), some in groupby(leases, attrgetter("step_id", "lane_id")):
            lane = self._lanes.lanes_of(step_id, lane_id).lanes[lane_id]
            keys = self._lanes.keys.get(step_id)
            key = None if keys is None else keys.key_of(lane_id)
            queue = self._executors[step_id].queue
            for lease in some:
                self._leases.add(lease)
                if len(lease.ns) < lease.open:
                    for n in lease.missing():
                        self._cancel_missing(lease, n)
                if not self._stopped:  # otherwise the claim returned too late: the lease is released with the others
                    lease.key = key
                    queue.push(lease, lane.priority, lane.weight)
        for step_id in {lease.step_id for lease in leases}:
            self._executors[step_id].start_slots()

    def _cancel_missing(self, lease: Lease, n: int) -> None:
        """Settle a task whose item has ended or was deleted, so that the lease does not hold it."""
        attempt = Attempt(lease, n, self._clock.mark())
        attempt.fail("CANCELLED", reason="the item had already ended", ends_item=True)
        self._lanes.steps[lease.step_id].returned(lease.lane_id, 1)
        self._settler.add(attempt)
