"""The stored responses to requests with an Idempotency-Key, and the preferences of users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch_row
from forebay.db.pool import translating_errors
from forebay.db.statements import statements

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection, Pool

load = statements("forebay.api")


async def claim(conn: Connection, owner_id: int, key: str) -> bool:
    """Try to lock the key until the transaction ends. It does not wait, as that would hold a connection."""
    async with translating_errors():
        mine: bool = await conn.fetchval(
            "select pg_try_advisory_xact_lock(hashtextextended($1, 4663))", f"{owner_id} {key}"
        )
    return mine


async def find(conn: Connection, owner_id: int, key: str) -> asyncpg.Record | None:
    """The stored response, if any. Call it after `claim`: a new statement sees what the last holder committed."""
    async with translating_errors():
        return await conn.fetchrow(
            "select request, status, answer::text as answer from forebay.idempotency where owner_id = $1 and key = $2",
            owner_id,
            key,
        )


async def keep(conn: Connection, owner_id: int, key: str, request: bytes, status: int, answer: str) -> None:
    async with translating_errors():
        await conn.execute(
            "insert into forebay.idempotency (owner_id, key, request, status, answer) values ($1, $2, $3, $4, $5)",
            owner_id,
            key,
            request,
            status,
            answer,
        )


async def tidy(pool: Pool) -> int:
    """Delete some of the responses that are a day old; return how many."""
    async with translating_errors(), pool.acquire() as conn:
        return int(await conn.fetchval("select forebay.tidy_answers()"))


async def preferences(conn: Connection, owner_id: int) -> asyncpg.Record | None:
    """The preferences of an owner: value, as JSON, and updated_at."""
    return await fetch_row(conn, load("get_preferences"), owner_id)


async def put_preferences(conn: Connection, owner_id: int, value: str) -> asyncpg.Record | None:
    """Replace the preferences of an owner; return them."""
    return await fetch_row(conn, load("put_preferences"), owner_id, value)
