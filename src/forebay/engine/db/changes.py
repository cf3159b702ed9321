"""Recent changes: first the keys, which indexes find at any size; then the full rows of those that are new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from typing import TypeAlias

    import asyncpg

    from forebay.db.pool import Connection

    Position: TypeAlias = tuple[datetime, int]  # the time of a change, and the job

_DELETED_BATCHES = 100  # per query


@dataclass(frozen=True, slots=True)
class TransactionWindow:
    """The database's time, which rows contain; the oldest transaction that may still commit rows, and the next one."""

    at: datetime
    oldest: int
    coming: int


async def clock(conn: Connection) -> datetime:
    """The database's time."""
    (row,) = await fetch(conn, "select clock_timestamp()")
    at: datetime = row[0]
    return at


async def now(conn: Connection) -> TransactionWindow:
    (row,) = await fetch(conn, load("now"))
    return TransactionWindow(*row)


async def changed(
    conn: Connection, owner_ids: Sequence[int] | None, after: Position, size: int
) -> tuple[list[asyncpg.Record], Position | None]:
    """Jobs of these owners (None: of all) that changed after this position, oldest first: id, owner_id, at; and the
    position of the next page, or None at the end. A page may be short, even empty, before the end."""
    rows = await fetch(conn, load("changed_jobs"), list(owner_ids or ()), owner_ids is None, *after, size)
    keys = [row for row in rows if row["id"] is not None]
    if len(keys) == size:
        return keys, (keys[-1]["at"], keys[-1]["id"])
    looked_to = rows[0]["looked_to_at"], rows[0]["looked_to_id"]
    return keys, None if looked_to[0] is None else looked_to


async def jobs(conn: Connection, ids: Sequence[int]) -> list[asyncpg.Record]:
    """The existing jobs among these, as full rows with their owner_id."""
    return await fetch(conn, load("show_jobs"), list(ids))


async def deleted(conn: Connection, owner_ids: Sequence[int] | None, since: datetime) -> AsyncGenerator[asyncpg.Record]:
    """Jobs of these owners (None: of all) that were deleted after `since`, oldest first: id, owner_id, at."""
    while True:
        rows = await fetch(
            conn, load("list_deleted_jobs"), list(owner_ids or ()), owner_ids is None, since, _DELETED_BATCHES
        )
        for row in rows:
            yield row
        if not rows:
            return
        since = rows[-1]["at"]


async def attempted_spans(conn: Connection, job_ids: Sequence[int], since: datetime, most: int) -> list[asyncpg.Record]:
    """The existing jobs among these with their counters, and between which items attempts ended since then. Reads at
    most `most` attempts of all jobs; `is_cut` says that there were more."""
    return await fetch(conn, "select * from forebay.attempted_spans($1, $2, $3)", list(job_ids), since, most)


async def attempted_items(conn: Connection, job_ids: Sequence[int], since: datetime, most: int) -> list[asyncpg.Record]:
    """Attempts that ended since then: job_id, n, owner_id, token, at; newest first, at most `most` per job."""
    return await fetch(conn, load("list_attempted_items"), list(job_ids), since, most)


async def touched_items(
    conn: Connection, job_id: int, after: int, since: datetime, most: int
) -> tuple[list[int], int | None]:
    """The next items of a job that have changed since then, and the position of the next page; None at the end."""
    (row,) = await fetch(conn, load("list_touched_items"), job_id, after, since, most)
    return row["ns"], row["looked_to"]


async def items(conn: Connection, job_ids: Sequence[int], ns: Sequence[int]) -> list[asyncpg.Record]:
    """Items, with the columns of lists."""
    return await fetch(conn, load("show_items"), list(job_ids), list(ns))


async def progress(conn: Connection, job_ids: Sequence[int], most: int) -> list[asyncpg.Record]:
    """The progress of running items: job_id, n, owner_id, pipeline, progress as JSON; at most `most` per job."""
    return await fetch(conn, load("list_progress"), list(job_ids), most)
