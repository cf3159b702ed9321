"""Shares in the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection, Pool

load = statements("forebay.pipelines.media")


@dataclass(frozen=True, slots=True)
class ShareFilter:
    """Selects shares of the owner that the transaction acts for; empty lists select all."""

    states: Sequence[str] = ()
    kinds: Sequence[str] = ()
    playlist_id: int | None = None  # None: those that are not part of a playlist
    words: str | None = None


# Requests of users.


async def add(
    conn: Connection, owner_id: int, url: str, title: str | None, priority: int, trace: str | None = None
) -> tuple[int, int]:
    """Add a share and submit its job; returns both ids."""
    row = await fetch_row(conn, load("add_share"), owner_id, url, title, priority, trace)
    assert row is not None  # noqa: S101 - the function returns one row
    return row["id"], row["job_id"]


async def retry(conn: Connection, share_id: int) -> int | None:
    """Submit a new job for the share; returns the job, or None if there is no such share.

    Raises: ConflictError while a job works on it.
    """
    found: int | None = await fetch_value(conn, load("retry_share"), share_id)
    return found


async def show(conn: Connection, ids: Sequence[int]) -> list[asyncpg.Record]:
    """These shares with the columns of lists."""
    return await fetch(conn, load("show_shares"), list(ids)) if ids else []


async def find(conn: Connection, where: ShareFilter, before: int | None, size: int) -> list[int]:
    """The ids of shares, the newest first."""
    states, kinds = list(where.states) or None, list(where.kinds) or None
    given = (states, kinds, where.playlist_id, where.words, before, size)
    return list(await fetch_value(conn, load("find_shares"), *given))


async def delete(conn: Connection, share_id: int) -> asyncpg.Record | None:
    """Delete a share; returns its job, and whether that is open."""
    return await fetch_row(conn, load("delete_share"), share_id)


async def of_jobs(conn: Connection, job_ids: Sequence[int]) -> list[asyncpg.Record]:
    """The shares that these jobs are about: job_id, share_id, title, parent_id."""
    return await fetch(conn, load("list_shares_of_jobs"), list(job_ids))


async def export(conn: Connection, owner_id: int, after: int, size: int) -> list[int]:
    """The ids of the next shares of an owner."""
    return list(await fetch_value(conn, load("export_shares"), owner_id, after, size))


# What steps read, and write before they end.


async def read(pool: Pool, share_id: int | None, job_id: int, n: int, owner_id: int) -> asyncpg.Record | None:
    """What steps need of a share; one without a job becomes that of this item."""
    return await fetch_row(pool, load("read_share"), share_id, job_id, n, owner_id)


async def begin_download(pool: Pool, share_id: int, owner_id: int) -> None:
    """Note that an attempt begins."""
    await execute(pool, load("begin_download"), share_id, owner_id)


async def take_entries(pool: Pool, playlist_id: int, owner_id: int) -> list[asyncpg.Record]:
    """The entries of a playlist that are still to be downloaded, without a job from now on: id, url."""
    return await fetch(pool, load("take_entries"), playlist_id, owner_id)


async def expire(pool: Pool, older_than: datetime | None, quota: int | None, most: int) -> int:
    """Remove files that are too old or too much; returns how many."""
    async with translating_errors(), pool.acquire() as conn, conn.transaction():
        return int(await conn.fetchval(load("expire_media"), older_than, quota, most))


# Metrics.


async def metrics(conn: Connection) -> asyncpg.Record:
    """The numbers of the dashboard."""
    row = await fetch_row(conn, load("media_metrics"))
    assert row is not None  # noqa: S101 - the statement returns one row
    return row
