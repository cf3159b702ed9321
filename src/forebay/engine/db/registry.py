"""Registers pipelines and workers, and parks queues."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.db.pool import Connection, Pool


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """A version of a pipeline: its steps, by name."""

    id: int
    steps: dict[str, int]
    is_present: bool  # new jobs get it


@dataclass(frozen=True, slots=True)
class WorkersOfSteps:
    """The workers that run exactly these steps."""

    steps: list[int]
    workers: list[int]


@dataclass(frozen=True, slots=True)
class WorkerNews:
    """What a worker is told when it reports."""

    parked: set[str] = field(default_factory=set[str])  # queues
    workers: list[WorkersOfSteps] = field(default_factory=list[WorkersOfSteps])  # alive, of some of the same steps
    at: datetime | None = None  # by the database's clock


async def register(
    conn: Connection, definition: dict[str, Any], now: datetime | None = None, *, apply: bool = False
) -> RegisteredVersion:
    """Register a definition of a pipeline as a version of it; with `apply`, it becomes the present version."""
    async with translating_errors():
        rows = await conn.fetch(load("register_version"), json.dumps(definition), apply, now)
    return RegisteredVersion(
        rows[0]["version_id"], {row["name"]: row["step_id"] for row in rows}, rows[0]["is_present"]
    )


async def register_unknown(conn: Connection, definitions: Sequence[dict[str, Any]]) -> None:
    """Register those of these pipelines that are not known, all or none; the others stay as they are."""
    async with conn.transaction():
        for definition in definitions:
            await execute(conn, load("register_pipeline"), json.dumps(definition))


async def count_open_jobs(conn: Connection, pipelines: Sequence[str]) -> dict[str, int]:
    """How many jobs of these pipelines have not finished, by pipeline."""
    return {row["name"]: row["jobs"] for row in await fetch(conn, load("count_open_jobs_of"), list(pipelines))}


async def list_schedules(conn: Connection, pipelines: Sequence[str], names: Sequence[str]) -> list[str]:
    """The schedules of these pipelines, and those of these names that are there."""
    return [row["name"] for row in await fetch(conn, load("list_schedules_of"), list(pipelines), list(names))]


async def register_worker(
    conn: Connection,
    name: str,
    now: datetime | None,
    *,
    versions: Sequence[int] = (),
    steps: Sequence[int] = (),
    schedules: Sequence[str] | None = None,
) -> int:
    """Insert the row of a worker that starts, with the versions of pipelines that it has, the steps that it runs, and
    the schedules that it declares (None: unknown)."""
    declared = None if schedules is None else list(schedules)
    return int(await fetch_value(conn, load("register_worker"), name, now, list(versions), list(steps), declared))


async def restore_worker(
    conn: Connection,
    worker_id: int,
    name: str,
    now: datetime | None,
    *,
    started_at: datetime,
    versions: Sequence[int],
    steps: Sequence[int],
    schedules: Sequence[str] | None,
) -> bool:
    """Make the row of a worker again if it is lost; return whether it is the row of this worker."""
    declared = None if schedules is None else list(schedules)
    args = (worker_id, name, now, list(versions), list(steps), declared, started_at)
    return bool(await fetch_value(conn, load("restore_worker"), *args))


async def list_renamed_steps(pool: Pool, versions: Sequence[int], known: Sequence[int]) -> list[tuple[int, str, str]]:
    """The steps of `versions` that have another name in the `known` versions: (version, name, known name)."""
    rows = await fetch(pool, load("list_renamed_steps"), list(versions), list(known))
    return [(row["version_id"], row["name"], row["known_name"]) for row in rows]


async def report_status(
    pool: Pool,
    worker_id: int,
    stats: dict[str, Any],
    stale: int,
    now: datetime | None,
    *,
    last_error: str | None = None,
    stopped: bool = False,
) -> WorkerNews:
    """Write a worker's status and the time of its last sign of life; return what it must know."""
    row = await fetch_row(pool, load("report_worker"), worker_id, json.dumps(stats), stale, now, stopped, last_error)
    if row is None:
        return WorkerNews()
    return WorkerNews(set(row[0]), [WorkersOfSteps(*group) for group in json.loads(row[1])], row[2])


async def park(pool: Pool, queue: str, reason: str, seconds: float, now: datetime | None) -> None:
    """Park a queue whose configuration is wrong; it is probed after `seconds`."""
    await execute(
        pool,
        "select forebay.park_queue("
        "$1, $2, coalesce($4::timestamptz, clock_timestamp()) + make_interval(secs => $3), now => $4)",
        queue,
        reason,
        seconds,
        now,
    )


async def unpark(pool: Pool, queue: str) -> None:
    await execute(pool, "select forebay.unpark_queue($1)", queue)
