"""Which history of a database a server continues: each promotion of a standby begins a new timeline of its cluster."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import asyncpg

from forebay.db.statements import statements

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

load = statements("forebay.db")

_OLDEST = 14  # PostgreSQL


class History(NamedTuple):
    """The identifier of a cluster and its timeline. Two primaries with the same history are the same primary."""

    system: str
    timeline: int

    def __str__(self) -> str:
        return f"{self.system}/{self.timeline}"

    def is_before(self, other: History | None) -> bool:
        """Whether a standby has taken over since: a server with this history is a former primary."""
        return other is not None and self.system == other.system and self.timeline < other.timeline


async def read_history(conn: Connection, timeout: float) -> History | None:
    """The history that the server writes; None for a standby, and where the server does not tell.

    A connection without an answer within `timeout` is closed: that of a statement would not bound BEGIN and ROLLBACK.
    """
    timer = asyncio.get_running_loop().call_later(timeout, conn.terminate)
    try:
        return await _read_history(conn)
    finally:
        timer.cancel()


async def _read_history(conn: Connection) -> History | None:
    if conn.get_server_version().major < _OLDEST:  # whoever connects says that it is too old
        return None
    try:
        async with conn.transaction(readonly=True):  # a pooler might send two halves of a statement to two sessions
            row = await conn.fetchrow(load("server_history"))
    except (asyncpg.FeatureNotSupportedError, asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedFunctionError):
        return None  # not all managed services have these functions
    if row is None or row["timeline"] is None:
        return None
    return History(row["system"], row["timeline"])
