"""The keys of limits in use, and the hosts among them, as rows of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.engine.db.sql import load
from forebay.engine.declare.limit import HOST_LIMIT

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection


async def keys(conn: Connection, after: tuple[str, str], size: int) -> list[asyncpg.Record]:
    """The keys of all limits but those of hosts, by name and key."""
    return await fetch(conn, load("list_limits"), *after, HOST_LIMIT, size, False)


async def hosts(conn: Connection, after: str, size: int) -> list[asyncpg.Record]:
    """The hosts that workers fetch from, or fetched from of late."""
    return await fetch(conn, load("list_limits"), HOST_LIMIT, after, HOST_LIMIT, size, True)
