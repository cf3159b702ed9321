"""Owners: found by name, with what they have open and how much of it they may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.pool import translated
from forebay.db.sql import load

if TYPE_CHECKING:
    from forebay.db.pool import Connection, Pool


@dataclass(frozen=True, slots=True)
class Usage:
    """What an owner has open, and its own limits (None: the settings' decide)."""

    open_jobs: int
    open_items: int
    max_open_jobs: int | None
    max_open_items: int | None
    submits_per_minute: int | None


async def find(pool: Pool | Connection, name: str) -> int | None:
    async with translated():
        found: int | None = await pool.fetchval("select id from forebay.owner where name = $1", name)
    return found


async def usage(conn: Pool | Connection, owner_id: int) -> Usage:
    async with translated():
        row = await conn.fetchrow(load("get_usage"), owner_id)
    assert row is not None  # noqa: S101 - the owner is the caller
    return Usage(*row.values())
