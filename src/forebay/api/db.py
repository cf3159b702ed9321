"""Answers to requests that came with a key, kept for the case that they come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import translating_errors

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection, Pool


async def claim(conn: Connection, owner_id: int, key: str) -> bool:
    """Whether this transaction alone works on what the key stands for. Nobody waits: a connection would wait along."""
    async with translating_errors():
        mine: bool = await conn.fetchval(
            "select pg_try_advisory_xact_lock(hashtextextended($1, 4663))", f"{owner_id} {key}"
        )
    return mine


async def find(conn: Connection, owner_id: int, key: str) -> asyncpg.Record | None:
    """The answer kept under this key, if any. Asked after the claim, in a statement of its own: that one sees what
    the claim's last holder has left."""
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
    """Delete some of the answers that are a day old; answers how many went."""
    async with translating_errors(), pool.acquire() as conn:
        return int(await conn.fetchval("select forebay.tidy_answers()"))
