"""The overview: read at most every two seconds for all who ask for the same owner."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.api.models import dead_letter_of, job_of
from forebay.api.operations.models import (
    Overview,
    WorkerCounts,
    health_of,
    lane_of,
    step_depth,
    worker_summary,
)
from forebay.api.operations.shared_reading import OwnerReadings, SharedReading
from forebay.engine.db import lists, metrics, overview
from forebay.engine.db.lanes import attempt_rates, lanes
from forebay.engine.supervise.controllers import step_control
from forebay.engine.supervise.health import MOST_FAILED, Signs, verdict
from forebay.engine.supervise.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from forebay.api.models import Job
    from forebay.db.pool import Connection

    Connect = Callable[[], AbstractAsyncContextManager[Connection]]

_JOBS, _LANES, _LETTERS = 10, 12, 5


class _Reading(SharedReading[Overview]):
    def __init__(self) -> None:
        super().__init__()
        self.rates = Rates()


class Overviews:
    """The overviews by owner; None: of all owners. It has the shape of a topic of the event stream."""

    name = "overview"
    interval_s = 2.0

    def __init__(self) -> None:
        self._readings = OwnerReadings(_Reading)

    async def read(self, conn: Connection, owner_id: int | None, /) -> Overview:
        """The overview that `conn` may see: of an owner, or (None) of all."""
        return await self.get(owner_id, lambda: nullcontext(conn))

    async def get(self, owner_id: int | None, connect: Connect) -> Overview:
        """The same for a caller that has no connection yet: one is opened only if the last reading is too old."""
        reading = self._readings.of(owner_id)

        async def read() -> Overview:
            async with connect() as conn:
                return await _read(conn, owner_id, reading.rates)

        return await reading.get(read, others=len(self._readings) - 1)


async def _read(conn: Connection, owner_id: int | None, rates: Rates) -> Overview:
    is_all = owner_id is None
    at = await metrics.now(conn)
    depth, workers = await overview.depth(conn), await overview.workers(conn)
    failed = await overview.count_recent_dead_letters(conn, at - timedelta(hours=1), MOST_FAILED)
    jobs = [job_of(row) for row in await lists.current_jobs(conn, owner_id, _JOBS)]
    letters, _ = await lists.dead_letters(conn, lists.DeadLetterFilter(owner_id=owner_id), None, _LETTERS)
    served = attempt_rates(workers)
    rates.add(at, {}, {job.id: _ended(job) for job in jobs})
    return Overview(
        at=at,
        health=health_of(verdict(Signs(at, depth, workers, failed, outcomes=is_all))),
        tasks_per_s=served.total if owner_id is None else served.by_owner.get(owner_id, 0.0),
        items_per_s=rates.items,
        steps=[
            step_depth(one, step_control(f"{one.pipeline}.{one.step}", workers) if is_all else None) for one in depth
        ],
        workers=WorkerCounts(
            alive=sum(row.alive for row in workers), stuck=sum(row.stuck for row in workers), total=len(workers)
        ),
        worker_list=[worker_summary(row) for row in workers] if is_all else [],
        lanes=[lane_of(row, served, None) for row in await lanes(conn, _LANES)],
        jobs=jobs,
        dead_letters=[dead_letter_of(row) for row in letters],
        failed_last_hour=failed,
    )


def _ended(job: Job) -> int:
    return job.counters.total - job.counters.pending
