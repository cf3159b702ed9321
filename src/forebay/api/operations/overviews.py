"""The overview: read at most once in two seconds for all who ask for the same owner."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass, field
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

_FRESH = 1.9  # seconds; less than the interval of the topic, which must not get the same answer twice
_MOST_REMEMBERED = 1000
_JOBS, _LANES, _LETTERS = 10, 12, 5


@dataclass(slots=True)
class _Reading:
    rates: Rates = field(default_factory=Rates)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: Overview | None = None
    read_at: float = 0.0


class Overviews:
    """The overviews by owner; None: of all owners. It has the shape of a topic of the event stream."""

    name = "overview"
    interval_s = 2.0

    def __init__(self) -> None:
        self._readings: OrderedDict[int | None, _Reading] = OrderedDict()

    async def read(self, conn: Connection, owner_id: int | None, /) -> Overview:
        """The overview that `conn` may see: of an owner, or (None) of all."""
        return await self.get(owner_id, lambda: nullcontext(conn))

    async def get(self, owner_id: int | None, connect: Connect) -> Overview:
        """The same for a caller that has no connection yet: one is opened only if the last reading is too old."""
        reading = self._reading(owner_id)
        async with reading.lock:  # concurrent callers share one reading
            if reading.answer is None or time.monotonic() - reading.read_at >= _FRESH:
                async with connect() as conn:
                    reading.answer = await _read(conn, owner_id, reading.rates)
                reading.read_at = time.monotonic()
            return reading.answer

    def _reading(self, owner_id: int | None) -> _Reading:
        reading = self._readings.setdefault(owner_id, _Reading())
        self._readings.move_to_end(owner_id)
        while len(self._readings) > _MOST_REMEMBERED:
            self._readings.popitem(last=False)
        return reading


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
