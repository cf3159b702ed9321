"""The adapters of the drivers' own connections.

The names of a connection's classes select its adapter, so that no library is imported to find it.
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
    """What makes the adapter of a connection; None when there is none for it."""
    for kind in type(conn).__mro__:
        if found := adapters.get((kind.__module__.partition(".")[0], kind.__name__)):
            return found
    return None
