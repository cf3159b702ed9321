"""Adapters for asyncpg: a connection and a pool."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from forebay.engine.db.adapters.rejections import rejections
from forebay.engine.db.loads import COLUMNS, Args, BatchBuffer, ItemLoad
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Hashable, Iterator, Sequence

    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

    from forebay.engine.db.adapters.protocol import AsyncAdapter, Row


def database_of(conn: Any) -> Hashable | None:
    """The server's address and the name of the database. asyncpg has no public API for them."""
    address, asked = getattr(conn, "_addr", None), getattr(conn, "_params", None)
    name = getattr(asked, "database", None)
    return None if address is None or name is None else (address, name)


class AsyncpgAdapter:
    """An asyncpg connection, or one acquired from a pool."""

    def __init__(self, conn: asyncpg.Connection[Any] | PoolConnectionProxy[Any]) -> None:
        self._conn = conn

    async def database(self) -> Hashable | None:
        return database_of(self._conn)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        with rejections:
            return await self._conn.fetch(sql, *args)

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        with rejections:
            return await self._conn.fetchrow(sql, *args)

    async def copy_items(self, items: ItemLoad) -> None:
        with rejections:
            # PostgreSQL does not support COPY for roles that row-level security applies to.
            if await self._conn.fetchval("select row_security_active('forebay.item')"):
                await self._insert(items)
                return
            await self._conn.copy_to_table(
                "item",
                schema_name="forebay",
                columns=COLUMNS,
                format="binary",
                source=_yielding(items.blocks()),
            )

    async def _insert(self, items: ItemLoad) -> None:
        buffer = BatchBuffer()
        for batch in items.batches:
            if buffer.add(batch):
                await self._send(items, buffer)
            await asyncio.sleep(0)
        await self._send(items, buffer)

    async def _send(self, items: ItemLoad, buffer: BatchBuffer) -> None:
        if (batch := buffer.take()) is not None:
            await self._conn.execute(load("insert_items"), *items.arguments(batch))

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with self._conn.transaction():
            yield self


async def _yielding(blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The blocks; yields to the event loop after each."""
    for block in blocks:
        yield block
        await asyncio.sleep(0)


class AsyncpgPoolAdapter:
    """An asyncpg pool; acquires a connection for each transaction."""

    def __init__(self, pool: asyncpg.Pool[Any]) -> None:
        self._pool = pool

    async def database(self) -> Hashable | None:
        opened = (getattr(holder, "_con", None) for holder in reversed(getattr(self._pool, "_holders", ())))
        return next((database_of(conn) for conn in opened if conn is not None), None)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        with rejections:
            return await self._pool.fetch(sql, *args)

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        with rejections:
            return await self._pool.fetchrow(sql, *args)

    async def copy_items(self, items: ItemLoad) -> None:
        async with self._pool.acquire() as conn:
            await AsyncpgAdapter(conn).copy_items(items)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with self._pool.acquire() as conn, AsyncpgAdapter(conn).atomic() as adapter:
            yield adapter
