"""Schedules as rows of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection


async def page(conn: Connection, after: str, owner_id: int | None, size: int) -> list[asyncpg.Record]:
    """Schedules by name, of an owner or (None) of all that the caller may see."""
    return await fetch(conn, load("list_schedules"), after, owner_id, size, None)


async def find(conn: Connection, name: str) -> asyncpg.Record | None:
    """One schedule, if the caller may see it."""
    rows = await fetch(conn, load("list_schedules"), "", None, 1, name)
    return rows[0] if rows else None
