"""Owners, their open work and their limits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection, Pool
    from forebay.db.role_pool import RolePool

load = statements("forebay.identity")


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """The open work of an owner, and its limits (None: as in the settings)."""

    open_jobs: int
    open_items: int
    max_open_jobs: int | None
    max_open_items: int | None
    submits_per_minute: int | None


@dataclass(frozen=True, slots=True)
class Terms:
    """The weight of an owner, and its limits (None: as in the settings)."""

    weight: float = 1.0
    max_open_jobs: int | None = None
    max_open_items: int | None = None
    submits_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """An owner: weight, limits (None: as in the settings), and open work."""

    id: int
    name: str
    weight: float
    max_open_jobs: int | None
    max_open_items: int | None
    submits_per_minute: int | None
    created_at: datetime
    open_jobs: int
    open_items: int


async def find(pool: Pool | Connection, name: str) -> int | None:
    found: int | None = await fetch_value(pool, "select id from forebay.owner where name = $1", name)
    return found


async def find_all(pool: Pool | Connection, names: Sequence[str]) -> list[int | None]:
    """The same for several names, in their order."""
    possible = list({name for name in names if "\0" not in name})  # which would reject the others as well
    rows = await fetch(pool, "select name, id from forebay.owner where name = any($1)", possible)
    found = {row["name"]: row["id"] for row in rows}
    return [found.get(name) for name in names]


async def make(pool: Pool | Connection, name: str) -> int:
    """The id of the owner of that name, which is created if needed.

    Raises: InvalidField for a name that is too long.
    """
    made: int = await fetch_value(pool, "select forebay.owner_id($1)", name)
    return made


async def usage(conn: Pool | Connection, owner_id: int) -> QuotaUsage:
    row = await fetch_row(conn, "select * from forebay.usage($1)", owner_id)
    assert row is not None  # noqa: S101 - the owner is the caller
    return QuotaUsage(*row.values())


async def usage_for(pool: RolePool, owner_id: int) -> QuotaUsage:
    """The same with the owner's role, in one round trip."""
    async with translating_errors(), pool.without_role() as conn:
        row = await conn.fetchrow("select * from forebay.usage_for($1, $2)", pool.role, owner_id)
    assert row is not None  # noqa: S101 - the function returns one row
    return QuotaUsage(*row.values())


async def terms(conn: Pool | Connection) -> dict[int, Terms]:
    """The terms of all owners with accounts, by owner id."""
    rows = await fetch(conn, load("list_terms"))
    return {row["id"]: Terms(*list(row.values())[1:]) for row in rows}


async def page(conn: Connection, after: int, prefix: str, size: int) -> list[OwnerRow]:
    """Owners in the order of their creation, after `after`, whose names begin with `prefix`."""
    return [OwnerRow(*row.values()) for row in await fetch(conn, load("list_owners"), after, prefix, size, None)]


async def row_of(conn: Connection, owner_id: int) -> OwnerRow:
    """One owner, which exists."""
    (row,) = await fetch(conn, load("list_owners"), 0, "", 1, owner_id)
    return OwnerRow(*row.values())


async def set_weight(conn: Pool | Connection, name: str, weight: float, actor: str) -> bool:
    """Set the weight; returns whether that changed something."""
    return bool(await fetch_value(conn, "select forebay.set_owner_weight($1, $2, $3)", name, weight, actor))


async def set_limits(conn: Pool | Connection, owner_id: int, limits: Mapping[str, int | None], actor: str) -> bool:
    """Set the given limits, by their names in `Terms`; returns whether that changed something."""
    return bool(await fetch(conn, load("set_limits"), owner_id, json.dumps(dict(limits)), actor))
