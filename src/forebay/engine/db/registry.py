"""Registers pipelines and workers, and parks queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from forebay.db.calls import execute, fetch_value
from forebay.db.pool import translating_errors
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Connection, Pool


async def register(conn: Connection, definition: dict[str, Any]) -> dict[str, int]:
    """Register the steps of a pipeline; return their ids."""
    async with translating_errors():
        pipeline_id = await conn.fetchval("select forebay.register($1::jsonb)", json.dumps(definition))
        rows = await conn.fetch("select name, id from forebay.step where pipeline_id = $1 and active", pipeline_id)
    return {row["name"]: row["id"] for row in rows}


async def register_worker(conn: Connection, name: str, now: datetime | None) -> int:
    """Insert the row of a worker that starts."""
    return int(
        await fetch_value(
            conn,
            "insert into forebay.worker (name, started_at, seen_at)"
            " values ($1, coalesce($2, clock_timestamp()), coalesce($2, clock_timestamp())) returning id",
            name,
            now,
        )
    )


async def report_status(
    pool: Pool,
    worker_id: int,
    stats: dict[str, Any],
    stale: int,
    now: datetime | None,
    *,
    last_error: str | None = None,
    stopped: bool = False,
) -> set[str]:
    """Write a worker's status and the time of its last sign of life; return the parked queues."""
    parked = await fetch_value(
        pool, load("report_worker"), worker_id, json.dumps(stats), stale, now, stopped, last_error
    )
    return set(parked or ())


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
