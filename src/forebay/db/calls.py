"""Runs single statements and converts their errors into forebay's; on a connection, or on any connection of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.db.pool import translating_errors

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection, Pool


async def fetch(conn: Connection | Pool, sql: str, *args: object) -> list[asyncpg.Record]:
    """All rows."""
    async with translating_errors():
        return await conn.fetch(sql, *args)


async def fetch_row(conn: Connection | Pool, sql: str, *args: object) -> asyncpg.Record | None:
    """The first row."""
    async with translating_errors():
        return await conn.fetchrow(sql, *args)


async def fetch_value(conn: Connection | Pool, sql: str, *args: object) -> Any:
    """The first column of the first row."""
    async with translating_errors():
        return await conn.fetchval(sql, *args)


async def execute(conn: Connection | Pool, sql: str, *args: object) -> str:
    """The command tag, such as "UPDATE 1"."""
    async with translating_errors():
        return await conn.execute(sql, *args)
