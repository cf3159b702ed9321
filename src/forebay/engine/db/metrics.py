"""The data of the metrics: counted by index and by minute, never over all items or attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from forebay.db.pool import as_forebay_errors
from forebay.engine.db import overview, samples, versions
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.engine.db.overview import Depth, WorkerRow
    from forebay.engine.db.versions import VersionRow

_MOST_LETTERS = 100_000


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """The unfinished jobs of one pipeline in one state, with the counts of their items."""

    pipeline: str
    state: str
    jobs: int
    pending: int
    done: int
    skipped: int
    not_found: int
    error: int


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """The items of all retained jobs of one pipeline, by status."""

    pipeline: str
    pending: int
    processing: int
    done: int
    skipped: int
    not_found: int
    error: int


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The dead letters of one step."""

    pipeline: str
    step: str
    kept: int
    fresh: int


@dataclass(frozen=True, slots=True)
class AttemptCount:
    """Attempts of one step that ended in one minute with one outcome, in one duration bucket, with one class of
    error."""

    minute: datetime
    pipeline: str
    step: str
    outcome: str
    bucket: int
    attempts: int
    seconds: float
    error_class: str | None = None  # of failed attempts


@dataclass(frozen=True, slots=True)
class EngineCounts:
    """All counts at one moment of the database's clock."""

    at: datetime
    depth: list[Depth]
    workers: list[WorkerRow]
    jobs: list[OpenJobs]
    items: list[ItemCounts]
    dead_letters: list[DeadLetters]
    versions: list[VersionRow]
    task_times: dict[str, float]  # seconds, by pipeline.step

    @property
    def pending(self) -> int:
        """The number of tasks that wait or run."""
        return sum(depth.waiting + depth.leased for depth in self.depth)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Every step, as pipeline name and step name."""
        return [(depth.pipeline, depth.step) for depth in self.depth]


async def now(conn: Connection) -> datetime:
    """The database's clock."""
    async with as_forebay_errors():
        at: datetime = await conn.fetchval("select clock_timestamp()")
    return at


async def read_counts(conn: Connection, at: datetime) -> EngineCounts:
    """All counts except attempts. They are read one after another, so a moving task may be counted twice."""
    async with as_forebay_errors():
        jobs = await conn.fetch(load("count_open_jobs"))
        letters = await conn.fetch(load("count_dead_letters"), _MOST_LETTERS, at - timedelta(hours=1))
        return EngineCounts(
            at,
            await overview.depth(conn),
            await overview.workers(conn),
            [OpenJobs(*row.values()) for row in jobs],
            await count_items(conn),
            [DeadLetters(*row.values()) for row in letters],
            await versions.versions(conn),
            await samples.task_times(conn, at - timedelta(hours=1)),
        )


async def count_items(conn: Connection) -> list[ItemCounts]:
    """Exact counts of all items that the caller may see, at one moment."""
    async with as_forebay_errors():
        return [ItemCounts(*row.values()) for row in await conn.fetch(load("count_items"))]


async def count_attempts(
    conn: Connection, since: datetime, until: datetime | None, bounds: Sequence[float]
) -> list[AttemptCount]:
    """Attempts that ended in this period; `bucket` is the index of their duration among the bounds."""
    async with as_forebay_errors():
        rows = await conn.fetch(load("count_attempts"), since, until, list(bounds))
    return [AttemptCount(*row.values()) for row in rows]
