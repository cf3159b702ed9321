"""The rows of `forebay top` and other views: depth, lanes, workers, jobs and dead letters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg

from forebay.db.pool import as_forebay_errors
from forebay.engine.db.lanes import LaneRow, lanes
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class Depth:
    """The tasks of one step: how many wait, run, or are held back."""

    pipeline: str
    step: str
    queue: str
    ready: int
    scheduled: int
    leased: int
    on_hold: int
    next_at: datetime | None
    paused: bool
    parked: str | None
    probe_at: datetime | None = None  # when a parked queue is tried again
    oldest_at: datetime | None = None  # when the oldest job with ready tasks was submitted

    @property
    def waiting(self) -> int:
        return self.ready + self.scheduled

    @property
    def open(self) -> int:
        return self.ready + self.scheduled + self.leased + self.on_hold


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker process, with its last status report."""

    id: int
    name: str
    alive: bool
    in_flight: int
    stuck: bool
    stale: int
    started_at: datetime
    seen_at: datetime
    stats: Mapping[str, Any]

    @property
    def settled(self) -> int:
        return int(self.stats.get("settled", 0))

    @property
    def shared(self) -> Mapping[str, Mapping[str, Any]]:
        """The descriptions of its shared resources, by name."""
        shared: Mapping[str, Mapping[str, Any]] = self.stats.get("shared", {})
        return shared

    @property
    def steps(self) -> Mapping[str, Any]:
        """The status of its steps, by pipeline.step."""
        steps: Mapping[str, Any] = self.stats.get("steps", {})
        return steps

    @property
    def recent(self) -> Mapping[str, Any]:
        """What it did lately: see `RecentWork`."""
        recent: Mapping[str, Any] = self.stats.get("recent", {})
        return recent


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job, with the columns of lists."""

    id: int
    pipeline: str
    owner: str
    state: str
    priority: int
    key: str | None
    total: int
    done: int
    skipped: int
    not_found: int
    error: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    eta: datetime | None = None  # estimated end; None if unknown
    heartbeat_at: datetime | None = None
    last_error: Mapping[str, Any] | None = None  # item, step, class, reason, attempt, at

    @property
    def ended(self) -> int:
        return self.done + self.skipped + self.not_found + self.error


@dataclass(frozen=True, slots=True)
class DeadLetterRow:
    """A task that failed permanently."""

    at: datetime
    job_id: int
    n: int
    pipeline: str
    step: str
    owner: str
    outcome: str
    error_class: str | None
    reason: str | None
    attempt: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All rows at one moment of the database's clock."""

    at: datetime
    depth: list[Depth]
    workers: list[WorkerRow]
    lanes: list[LaneRow]
    jobs: list[JobRow]
    dead_letters: list[DeadLetterRow]
    failed_last_hour: int = 0  # counted up to a limit

    @property
    def settled(self) -> dict[str, int]:
        """The number of attempts that each running worker has settled since its start."""
        return {worker.name: worker.settled for worker in self.workers if worker.alive}

    @property
    def ended(self) -> dict[str, int]:
        """The number of ended items of each listed job."""
        return {str(job.id): job.ended for job in self.jobs}


async def overview(conn: Connection, *, jobs: int = 6, most_lanes: int = 8, letters: int = 4) -> Overview:
    """The data of `forebay top`. The parts are read one after another, so a moving task may appear twice."""
    async with as_forebay_errors():
        at = await conn.fetchval("select clock_timestamp()")
        depth = [Depth(**dict(row)) for row in await conn.fetch(load("show_depth"))]
        workers = [_worker(row) for row in await conn.fetch(load("show_workers"))]
        busy = await lanes(conn, most_lanes)
        current = [_job(row) for row in await conn.fetch(load("show_current_jobs"), jobs)]
    failed = await count_recent_dead_letters(conn, at - timedelta(hours=1), 1000)
    return Overview(at, depth, workers, busy, current, await dead_letters(conn, limit=letters), failed)


def _job(row: asyncpg.Record) -> JobRow:
    values: dict[str, Any] = dict(row)
    if values["last_error"] is not None:
        values["last_error"] = json.loads(values["last_error"])
    return JobRow(**values)


def _worker(row: asyncpg.Record) -> WorkerRow:
    return WorkerRow(**{**dict(row), "stats": json.loads(row["stats"])})


async def depth(conn: Connection) -> list[Depth]:
    """The waiting and running tasks of each step."""
    async with as_forebay_errors():
        return [Depth(**dict(row)) for row in await conn.fetch(load("show_depth"))]


async def workers(conn: Connection) -> list[WorkerRow]:
    """The workers that have not stopped."""
    async with as_forebay_errors():
        return [_worker(row) for row in await conn.fetch(load("show_workers"))]


async def last_errors(conn: Connection) -> dict[int, str]:
    """The last errors of workers, by id; only for users who may see the work of all owners."""
    async with as_forebay_errors():
        rows = await conn.fetch("select id, last_error from forebay.worker where last_error is not null")
    return {row["id"]: row["last_error"] for row in rows}


async def jobs(
    conn: Connection,
    *,
    state: str | None = None,
    pipeline: str | None = None,
    owner: str | None = None,
    limit: int = 20,
) -> list[JobRow]:
    """The newest jobs."""
    async with as_forebay_errors():
        rows = await conn.fetch(load("list_jobs"), state, pipeline, owner, None, limit)
    return [_job(row) for row in rows]


async def job(conn: Connection, job_id: int) -> JobRow:
    """One job.

    Raises: NotFoundError.
    """
    async with as_forebay_errors():
        row = await conn.fetchrow(load("list_jobs"), None, None, None, job_id, 1)
    if row is None:
        raise NotFoundError("job_id", f"there is no job {job_id}")
    return _job(row)


async def job_result(conn: Connection, job_id: int) -> dict[str, Any]:
    """The results of the job's `after_all` steps, by name."""
    async with as_forebay_errors():
        text = await conn.fetchval(load("get_job_result"), job_id)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


async def last_error(conn: Connection, job_id: int) -> str | None:
    """The reason of the latest failed attempt, unless the job is done."""
    async with as_forebay_errors():
        found: str | None = await conn.fetchval(load("get_last_error"), job_id)
    return found


async def dead_letters(conn: Connection, *, job_id: int | None = None, limit: int = 10) -> list[DeadLetterRow]:
    """The tasks that failed last."""
    async with as_forebay_errors():
        rows = await conn.fetch(load("list_dead_letters"), job_id, limit)
    return [DeadLetterRow(*row.values()) for row in rows]


async def count_recent_dead_letters(conn: Connection, since: datetime, most: int) -> int:
    """The dead letters since then, counted up to `most`."""
    async with as_forebay_errors():
        return int(await conn.fetchval(load("count_recent_dead_letters"), since, most))


async def lanes_of(conn: Connection, job_ids: Sequence[int]) -> frozenset[int]:
    """The lanes of the tasks of these jobs."""
    async with as_forebay_errors():
        found = await conn.fetch("select forebay.lanes_of(j) from forebay.job j where j.id = any($1)", list(job_ids))
    return frozenset(lane for (lanes,) in found for lane in lanes or ())


async def has_jobs(conn: Connection) -> bool:
    """Whether there is any job."""
    async with as_forebay_errors():
        return bool(await conn.fetchval(load("has_jobs")))


async def has_data(conn: Connection) -> bool:
    """Whether there is any job, user or other content."""
    async with as_forebay_errors():
        return bool(await conn.fetchval(load("has_data")))


async def mark_worker_dead(conn: Connection, worker_id: int) -> int:
    """Mark a worker process as dead and release its tasks; return how many.

    The tasks count as lost, not as returned: a task that kills its workers must not do so indefinitely.
    """
    async with as_forebay_errors():
        if not await conn.fetchval(load("close_worker"), worker_id):
            return 0
        return int(await conn.fetchval(load("expire_leases")))
