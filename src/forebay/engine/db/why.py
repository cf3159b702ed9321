"""What the database knows about why tasks wait: the facts from which `forebay.engine.why` finds the reasons.

Every read is bounded: at most `MOST_RUNS` runs of the queue are read, however large the backlog is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection

MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A job, with the version of its pipeline."""

    id: int
    owner_id: int
    pipeline_id: int
    pipeline: str
    state: str
    sealed: bool
    priority: int
    total: int
    open_items: int
    is_over: bool
    version_id: int
    is_present: bool  # the version is the one of new jobs
    unserved_since: datetime | None
    version: int  # counted from 1
    weight: float  # of the owner


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step, with the state of its queue."""

    bit: int
    step_id: int
    name: str
    pipeline: str
    pipeline_id: int
    needs: int
    optional: bool
    after_all: bool
    max_attempts: int
    queue: str
    paused: bool
    parked: str | None
    probe_at: datetime | None
    updated_at: datetime

    @property
    def label(self) -> str:
        return f"{self.pipeline}.{self.name}"


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """Where a task of an item is; `place` None: it was not found."""

    bit: int
    place: str | None
    at: datetime | None
    until: datetime | None
    attempt: int | None
    worker_id: int | None
    is_cancelled: bool | None
    ahead: int | None
    is_cut: bool
    priority: int | None
    limit_name: str | None  # empty: it is not in the lane of a key
    limit_key: str | None


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """The open tasks of one step of a job in one place."""

    bit: int
    place: str
    tasks: int
    first_n: int
    last_n: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker, with what it last reported about its steps and its machine."""

    id: int
    name: str
    seen_at: datetime
    steps: Sequence[int]
    stuck: bool
    alive: bool
    held_s: float
    stats: Mapping[str, Any] = field(default_factory=dict[str, Any])  # by pipeline.step
    machine: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    outcome: str
    error_class: str | None
    reason: str | None
    attempt: int
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class WaitFacts:
    signal: str
    key: str
    until: datetime | None  # None: without a limit


@dataclass(frozen=True, slots=True)
class Contention:
    """The other owners who wait, as numbers."""

    owners: int
    weights: float
    higher: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class LimitUse:
    in_use: int
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Paused:
    actor: str
    at: datetime


async def clock(conn: Connection) -> datetime:
    """The time of the database."""
    at: datetime = await fetch_value(conn, "select clock_timestamp()")
    return at


async def job(conn: Connection, job_id: int) -> JobFacts:
    """Raises: NotFoundError."""
    row = await fetch_row(conn, load("why_job"), job_id)
    if row is None:
        raise NotFoundError("job", f"there is no job {job_id}")
    return JobFacts(**dict(row))


async def item(conn: Connection, job_id: int, n: int) -> tuple[str, dict[str, Any] | None] | None:
    """The status of an item, and the progress that its step has reported."""
    row = await fetch_row(conn, load("why_item"), job_id, n)
    if row is None:
        return None
    return row["status"], None if row["progress"] is None else json.loads(row["progress"])


async def steps_of_version(conn: Connection, version_id: int) -> list[StepFacts]:
    return [StepFacts(**dict(row)) for row in await fetch(conn, load("why_steps"), version_id, None)]


async def steps_of_queue(conn: Connection, queue: str) -> list[StepFacts]:
    """Raises: NotFoundError."""
    rows = await fetch(conn, load("why_steps"), None, queue)
    if not rows:
        raise NotFoundError("queue", f"there is no queue {queue!r}")
    return [StepFacts(**dict(row)) for row in rows]


async def tasks(conn: Connection, job_id: int, n: int) -> list[TaskFacts]:
    """The tasks of an item that have not ended."""
    return [TaskFacts(**dict(row)) for row in await fetch(conn, load("why_tasks"), job_id, n, MOST_RUNS)]


async def groups(conn: Connection, job_id: int) -> list[GroupFacts]:
    """The open tasks of a job."""
    return [GroupFacts(**dict(row)) for row in await fetch(conn, load("why_groups"), job_id, MOST_RUNS)]


async def workers(conn: Connection, now: datetime | None) -> list[WorkerFacts]:
    """The workers that have not stopped."""
    return [_worker(row) for row in await fetch(conn, load("why_workers"), now)]


def _worker(row: asyncpg.Record) -> WorkerFacts:
    told: dict[str, Any] = {name: json.loads(row[name] or "{}") for name in ("stats", "machine")}
    return WorkerFacts(**(dict(row) | told))


async def has_leader(conn: Connection) -> bool:
    """Whether a worker runs the maintenance, which makes due tasks ready."""
    return bool(await fetch_value(conn, load("why_leader")))


async def last_attempt(conn: Connection, job_id: int, n: int, bit: int) -> AttemptFacts | None:
    row = await fetch_row(conn, load("why_attempt"), job_id, n, bit)
    return None if row is None else AttemptFacts(**dict(row))


async def wait(conn: Connection, job_id: int, n: int, bit: int, now: datetime | None) -> WaitFacts | None:
    """The signal for which a task waits."""
    row = await fetch_row(conn, load("why_wait"), job_id, n, bit, now)
    return None if row is None else WaitFacts(**dict(row))


async def paused(conn: Connection, job_id: int, n: int | None = None) -> Paused | None:
    """Who paused a job or an item."""
    row = await fetch_row(conn, load("why_paused"), job_id, n)
    return None if row is None else Paused(**dict(row))


async def queue_paused(conn: Connection, queue: str) -> Paused | None:
    """Who paused a queue; None if the caller may not see it."""
    row = await fetch_row(conn, load("why_queue_paused"), queue)
    return None if row is None else Paused(**dict(row))


async def contention(conn: Connection, step: StepFacts, job: JobFacts, task: TaskFacts) -> Contention:
    """Who else waits for the same step, or for the same key of a limit."""
    (row,) = await fetch(
        conn,
        load("why_contention"),
        step.bit,
        step.pipeline_id,
        job.owner_id,
        task.priority if task.priority is not None else job.priority,
        task.limit_name or "",
        task.limit_key or "",
        MOST_RUNS,
    )
    return Contention(**dict(row))


async def limit_use(conn: Connection, name: str, key: str, now: datetime | None) -> LimitUse:
    """How much of a limit is in use."""
    (row,) = await fetch(conn, load("why_limit"), name, key, now)
    return LimitUse(**dict(row))
