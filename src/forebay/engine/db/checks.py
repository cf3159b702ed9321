"""The database queries of `forebay doctor`."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from forebay.db.migrate import parts_in
from forebay.db.pool import as_forebay_errors, connected
from forebay.db.routines import differing_routines
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class Server:
    """The settings of a server; `connections` is the number available to ordinary users."""

    version: str
    major: int
    connections: int
    read_only: bool
    now: datetime


async def server(conn: Connection) -> Server:
    async with as_forebay_errors():
        row = await conn.fetchrow(load("check_server"))
    assert row is not None  # noqa: S101 - always one row
    return Server(**dict(row))


@dataclass(frozen=True, slots=True)
class Replication:
    """The standbys that follow the server, and whether a commit waits until one of them has it."""

    standbys: int
    is_confirmed: bool


async def replication(conn: Connection) -> Replication:
    async with as_forebay_errors():
        row = await conn.fetchrow(load("check_replication"))
    assert row is not None  # noqa: S101 - always one row
    return Replication(**dict(row))


async def extensions(conn: Connection, names: Sequence[str]) -> dict[str, str | None]:
    """The extensions among these that the server offers, with the version installed in this database."""
    async with as_forebay_errors():
        rows = await conn.fetch(load("check_extensions"), list(names))
    return {row["name"]: row["installed_version"] for row in rows}


async def missing_partitions(conn: Connection) -> list[date] | None:
    """The days, of today and tomorrow, without a partition; None if no worker has ever created one."""
    async with as_forebay_errors():
        row = await conn.fetchrow(load("check_partitions"))
    assert row is not None  # noqa: S101 - always one row
    return list(row["missing"]) if row["ever"] else None


async def outdated_routines(conn: Connection) -> list[str]:
    """The schema parts whose functions and views are not those of this release."""
    async with as_forebay_errors():
        return await differing_routines(conn, await parts_in(conn))


async def receives_notifications(dsn: str, sent_by: str, timeout: float = 3.0) -> bool:
    """Whether a notification arrives. Behind a pooler that shares connections, it does not."""
    channel, word = f"forebay_doctor_{secrets.token_hex(4)}", secrets.token_hex(8)
    heard = asyncio.Event()

    def on_message(_conn: Any, _pid: int, _channel: str, payload: object) -> None:
        if payload == word:
            heard.set()

    async with connected(dsn, "forebay doctor") as receiver, connected(sent_by, "forebay doctor") as sender:
        await receiver.add_listener(channel, on_message)
        await sender.execute("select pg_notify($1, $2)", channel, word)
        try:
            async with asyncio.timeout(timeout):
                await heard.wait()
        except TimeoutError:
            return False
    return True
