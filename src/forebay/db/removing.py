"""Removes the schema part of a package: its routines, its tables, and the records of the migrator.

Objects of others are not dropped: if one depends on the part, the removal fails and names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from forebay.db.migrate import versions_of
from forebay.db.schema_parts import all_parts
from forebay.db.statements import statements
from forebay.errors import InvalidField, SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection

load = statements("forebay.db")

_MIGRATOR = {"migration", "part", "part_routine"}


@dataclass(frozen=True, slots=True)
class Removal:
    """The objects that the removal of a part drops, each as `type name`."""

    part: str
    tables: Sequence[str]  # with sequences and types
    routines: Sequence[str]


async def plan_removal(conn: Connection, name: str, tables: Sequence[str] = ()) -> Removal:
    """The objects to drop: the tables that its migrations create, or the named ones.

    Raises: InvalidField if there is no such part, it comes with forebay, its tables are not known, or a table
    belongs to another part.
    """
    versions = await versions_of(conn)
    installed = {part.name: part for part in all_parts()}
    part = installed.get(name)
    if name not in versions:
        raise InvalidField("--remove", f"there is no schema part {name!r}: the database has {', '.join(versions)}")
    if part is not None and part.is_built_in:
        raise InvalidField("--remove", f"the schema part {name!r} comes with forebay and cannot be removed")
    if part is None and versions[name] > 0 and not tables:
        reason = f"{name} is not installed, so that its tables are not known: install it, or name them with --table"
        raise InvalidField("--remove", reason)
    _check_tables(name, tables)
    wanted = {*tables, *(part.table_names if part is not None else ())}
    objects = await conn.fetch(load("list_part_objects"), sorted(wanted))
    if missing := sorted(set(tables) - {row["name"] for row in objects}):
        raise InvalidField("--table", f"there is no table {missing[0]!r} in the schema forebay")
    routines = await conn.fetch(load("list_part_routines"), name)
    return Removal(name, [_named(row) for row in objects], [_named(row) for row in routines])


def _check_tables(name: str, tables: Sequence[str]) -> None:
    """Raises: InvalidField for a table of another part."""
    owners = dict.fromkeys(_MIGRATOR, "the migrator")
    for part in all_parts():
        if part.name != name:
            owners |= dict.fromkeys(part.table_names, f"the schema part {part.name}")
    for table in tables:
        if table in owners:
            raise InvalidField("--table", f"{table!r} belongs to {owners[table]}")


def _named(row: asyncpg.Record) -> str:
    return f"{row['type']} {row['identity']}"


async def remove_part(conn: Connection, removal: Removal) -> None:
    """Drop the objects, in the transaction of the caller.

    Raises: SchemaError if another object depends on one of them.
    """
    tables = [each.removeprefix("table ") for each in removal.tables if each.startswith("table ")]
    others = [each for each in removal.tables if not each.startswith("table ")]
    # All tables at once, as they may refer to each other.
    await _drop(conn, [*removal.routines, *([f"table {', '.join(tables)}"] if tables else []), *others])
    await conn.execute(load("delete_part"), removal.part)


async def _drop(conn: Connection, left: Sequence[str]) -> None:
    """Drop each object as soon as no other depends on it."""
    while left:
        stuck = [(each, error) for each in left if (error := await _try_drop(conn, each)) is not None]
        if len(stuck) == len(left):
            reasons = ", ".join(dict.fromkeys(line for _, error in stuck for line in (error.detail or "").splitlines()))
            raise SchemaError(f"something depends on what would be dropped: {reasons}; drop that first") from stuck[0][
                1
            ]
        left = [each for each, _ in stuck]


async def _try_drop(conn: Connection, each: str) -> asyncpg.PostgresError | None:
    """The error if it cannot be dropped yet."""
    try:
        async with conn.transaction():
            await conn.execute(f"drop {each}")
    except asyncpg.DependentObjectsStillExistError as error:
        return error
    return None
