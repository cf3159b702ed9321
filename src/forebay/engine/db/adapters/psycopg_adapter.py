"""Adapters for psycopg: AsyncConnection and Connection."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from forebay.engine.db.adapters.parameters import named, names
from forebay.engine.db.adapters.rejections import rejections
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Hashable, Sequence

    import psycopg

    from forebay.engine.db.adapters.protocol import AsyncAdapter, Row, SyncAdapter
    from forebay.engine.db.loads import Args, ItemLoad


def database_of(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> Hashable:
    """The server's address and the name of the database."""
    return (conn.info.host, conn.info.port, conn.info.dbname)


def _begins_by_itself(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether transaction() would begin, and therefore also commit, the caller's transaction."""
    return not conn.autocommit and conn.info.transaction_status.name == "IDLE"


class AsyncPsycopgAdapter:
    """A psycopg AsyncConnection."""

    def __init__(self, conn: psycopg.AsyncConnection[Any]) -> None:
        self._conn = conn

    async def database(self) -> Hashable | None:
        return database_of(self._conn)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        from psycopg.rows import tuple_row  # noqa: PLC0415 - optional

        async with self._conn.cursor(row_factory=tuple_row) as cursor:
            with rejections:
                await cursor.execute(named(sql).encode(), names(args))
            return await cursor.fetchall() if cursor.description else []

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(await self.fetch_all(sql, args)), None)

    async def copy_items(self, items: ItemLoad) -> None:
        if self._conn.info.encoding != "utf-8":
            for values in items.columns():
                await self.fetch_all(load("insert_items"), values)
            return
        async with self._conn.cursor() as cursor:
            with rejections:
                async with cursor.copy(load("copy_items").encode()) as copy:
                    for block in items.blocks():
                        await copy.write(block)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        if _begins_by_itself(self._conn):
            await self._conn.execute("select 1")
        async with self._conn.transaction():
            yield self


class PsycopgAdapter:
    """A psycopg Connection."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn

    def database(self) -> Hashable | None:
        return database_of(self._conn)

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        from psycopg.rows import tuple_row  # noqa: PLC0415 - optional

        with self._conn.cursor(row_factory=tuple_row) as cursor:
            with rejections:
                cursor.execute(named(sql).encode(), names(args))
            return cursor.fetchall() if cursor.description else []

    def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(self.fetch_all(sql, args)), None)

    def copy_items(self, items: ItemLoad) -> None:
        if self._conn.info.encoding != "utf-8":
            for values in items.columns():
                self.fetch_all(load("insert_items"), values)
            return
        with self._conn.cursor() as cursor, rejections, cursor.copy(load("copy_items").encode()) as copy:
            for block in items.blocks():
                copy.write(block)

    @contextmanager
    def atomic(self) -> Generator[SyncAdapter, None, None]:
        if _begins_by_itself(self._conn):
            self._conn.execute("select 1")
        with self._conn.transaction():
            yield self
