"""Adapters: how a submit uses the caller's connection. There is one for each kind of connection; all use the same SQL.

Statements have $1-style parameters. Values are text, numbers, booleans, datetimes and lists of these, cast in the SQL,
so that codecs or type maps of the caller's connection have no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, UNAVAILABLE
from forebay.engine.db.adapters.drivers import ASYNC_DRIVERS, SYNC_DRIVERS, find
from forebay.engine.db.adapters.protocol import AsyncAdapter, Row, SyncAdapter
from forebay.engine.db.adapters.sqlalchemy_adapter import (
    AsyncSessionAdapter,
    AsyncSqlalchemyAdapter,
    SessionAdapter,
    SqlalchemyAdapter,
)

if TYPE_CHECKING:
    from forebay.engine.db.adapters.drivers import Table
    from forebay.engine.db.adapters.protocol import AsyncConn, SyncConn

__all__ = [
    "RETRYABLE",
    "AsyncAdapter",
    "AsyncConn",
    "Row",
    "SyncAdapter",
    "SyncConn",
    "adapter_for",
    "sync_adapter_for",
]

# Errors after which a statement can be retried.
RETRYABLE = (*CONFLICT, *UNAVAILABLE)

_ASYNC: Table[AsyncAdapter] = {
    **ASYNC_DRIVERS,
    ("sqlalchemy", "AsyncConnection"): AsyncSqlalchemyAdapter,
    ("sqlalchemy", "AsyncSession"): AsyncSessionAdapter,
    ("sqlalchemy", "async_scoped_session"): AsyncSessionAdapter,
}
_SYNC: Table[SyncAdapter] = {
    **SYNC_DRIVERS,
    ("sqlalchemy", "Connection"): SqlalchemyAdapter,
    ("sqlalchemy", "Session"): SessionAdapter,
    ("sqlalchemy", "scoped_session"): SessionAdapter,
}


def adapter_for(conn: AsyncConn) -> AsyncAdapter:
    """The adapter of an async connection.

    Raises:
        TypeError: the kind of connection is not supported, or it is synchronous.
    """
    make = find(conn, _ASYNC)
    if make is None:
        raise _unknown(
            conn,
            "asyncpg Connection or Pool",
            "psycopg AsyncConnection",
            "SQLAlchemy AsyncConnection or AsyncSession",
        )
    return make(conn)


def sync_adapter_for(conn: SyncConn) -> SyncAdapter:
    """The adapter of a synchronous connection.

    Raises:
        TypeError: the kind of connection is not supported, or it is async.
    """
    make = find(conn, _SYNC)
    if make is None:
        raise _unknown(conn, "psycopg Connection", "SQLAlchemy Connection or Session")
    return make(conn)


def _unknown(conn: object, *accepted: str) -> TypeError:
    given = f"{type(conn).__module__}.{type(conn).__qualname__}"
    return TypeError(f"a connection must be one of: {'; '.join(accepted)}. This is a {given}.")
