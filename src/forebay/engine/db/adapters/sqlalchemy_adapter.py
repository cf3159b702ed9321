"""Adapters for SQLAlchemy: connections and sessions, async and sync. COPY uses the driver, if it supports it."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from forebay.engine.db.adapters.drivers import ASYNC_DRIVERS, SYNC_DRIVERS, find
from forebay.engine.db.adapters.parameters import for_style
from forebay.engine.db.adapters.rejections import rejections
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Hashable, Sequence

    from sqlalchemy import Connection, CursorResult
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
    from sqlalchemy.orm import Session

    from forebay.engine.db.adapters.protocol import AsyncAdapter, Row, SyncAdapter
    from forebay.engine.db.loads import Args, ItemLoad


class AsyncSqlalchemyAdapter:
    """A SQLAlchemy AsyncConnection, with any of its async drivers."""

    def __init__(self, conn: AsyncConnection) -> None:
        self._conn = conn

    async def connection(self) -> AsyncConnection:
        return self._conn

    async def database(self) -> Hashable | None:
        driver = await self._driver()
        return None if driver is None else await driver.database()

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        conn = await self.connection()
        text, values = for_style(conn.dialect.paramstyle, sql, args)
        with rejections:
            return _rows(await conn.exec_driver_sql(text, values))

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(await self.fetch_all(sql, args)), None)

    async def copy_items(self, items: ItemLoad) -> None:
        driver = await self._driver()
        if driver is not None:
            await driver.copy_items(items)
            return
        for values in items.columns():
            await self.fetch_all(load("insert_items"), values)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with (await self.connection()).begin_nested():
            yield self

    async def _driver(self) -> AsyncAdapter | None:
        """The adapter of the driver's connection; None for drivers without one."""
        raw = await (await self.connection()).get_raw_connection()
        make = find(raw.driver_connection, ASYNC_DRIVERS)
        return None if make is None else make(raw.driver_connection)


class AsyncSessionAdapter(AsyncSqlalchemyAdapter):
    """A SQLAlchemy AsyncSession: uses the session's connection and transaction."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def connection(self) -> AsyncConnection:
        return await self._session.connection()


class SqlalchemyAdapter:
    """A SQLAlchemy Connection; COPY with psycopg, arrays with other drivers."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def connection(self) -> Connection:
        return self._conn

    def database(self) -> Hashable | None:
        driver = self._driver()
        return None if driver is None else driver.database()

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        conn = self.connection()
        text, values = for_style(conn.dialect.paramstyle, sql, args)
        with rejections:
            return _rows(conn.exec_driver_sql(text, values))

    def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(self.fetch_all(sql, args)), None)

    def copy_items(self, items: ItemLoad) -> None:
        driver = self._driver()
        if driver is not None:
            driver.copy_items(items)
            return
        for values in items.columns():
            self.fetch_all(load("insert_items"), values)

    @contextmanager
    def atomic(self) -> Generator[SyncAdapter, None, None]:
        with self.connection().begin_nested():
            yield self

    def _driver(self) -> SyncAdapter | None:
        connection = self.connection().connection.driver_connection
        make = find(connection, SYNC_DRIVERS)
        return None if make is None else make(connection)


class SessionAdapter(SqlalchemyAdapter):
    """A SQLAlchemy Session: uses the session's connection and transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def connection(self) -> Connection:
        return self._session.connection()


def _rows(result: CursorResult[Any]) -> Sequence[Row]:
    return result.all() if result.returns_rows else []
