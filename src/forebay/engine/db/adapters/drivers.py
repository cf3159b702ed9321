"""Selects the adapter of a driver's connection.

The adapter is selected by the names of the connection's classes, so that no library needs to be imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from forebay.engine.db.adapters.asyncpg_adapter import AsyncpgAdapter, AsyncpgPoolAdapter
from forebay.engine.db.adapters.psycopg_adapter import AsyncPsycopgAdapter, PsycopgAdapter

if TYPE_CHECKING:
    from forebay.engine.db.adapters.protocol import AsyncAdapter, SyncAdapter

_Adapter = TypeVar("_Adapter", "AsyncAdapter", "SyncAdapter")
Table: TypeAlias = dict[tuple[str, str], Callable[[Any], _Adapter]]

ASYNC_DRIVERS: Table[AsyncAdapter] = {
    ("asyncpg", "Connection"): AsyncpgAdapter,
    ("asyncpg", "PoolConnectionProxy"): AsyncpgAdapter,
    ("asyncpg", "Pool"): AsyncpgPoolAdapter,
    ("psycopg", "AsyncConnection"): AsyncPsycopgAdapter,
}
SYNC_DRIVERS: Table[SyncAdapter] = {("psycopg", "Connection"): PsycopgAdapter}


def find(conn: object, adapters: Table[_Adapter]) -> Callable[[Any], _Adapter] | None:
    """The constructor of the adapter of a connection; None if there is no adapter for it."""
    for kind in type(conn).__mro__:
        if found := adapters.get((kind.__module__.partition(".")[0], kind.__name__)):
            return found
    return None
