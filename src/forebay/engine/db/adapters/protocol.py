"""The protocol of all adapters, and the supported kinds of connections."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    import asyncpg
    import psycopg
    from asyncpg.pool import PoolConnectionProxy
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
    from sqlalchemy.orm import Session

    from forebay.engine.db.loads import Args, ItemLoad

    AsyncConn: TypeAlias = (
        asyncpg.Connection[Any]
        | PoolConnectionProxy[Any]
        | asyncpg.Pool[Any]
        | psycopg.AsyncConnection[Any]
        | AsyncConnection
        | AsyncSession
    )
    SyncConn: TypeAlias = psycopg.Connection[Any] | Connection | Session

Row: TypeAlias = Sequence[Any]


class AsyncAdapter(Protocol):
    """The operations of an async connection that a submit needs."""

    async def database(self) -> Hashable | None:
        """Identifies its database without a query; None if that is not possible."""
        ...

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        """Run one statement and return its rows."""
        ...

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        """Run one statement and return its first row."""
        ...

    async def copy_items(self, items: ItemLoad) -> None:
        """Store items in the fastest way that the driver supports."""
        ...

    def atomic(self) -> AbstractAsyncContextManager[AsyncAdapter]:
        """An atomic block: a savepoint in the caller's transaction, or a transaction if there is none."""
        ...


class SyncAdapter(Protocol):
    """The same operations for synchronous connections."""

    def database(self) -> Hashable | None: ...

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]: ...

    def fetch_row(self, sql: str, args: Args) -> Row | None: ...

    def copy_items(self, items: ItemLoad) -> None: ...

    def atomic(self) -> AbstractContextManager[SyncAdapter]: ...
