"""Replacing the routines of a schema part: its functions, views and triggers, and the rights that it grants.

What each part has made is recorded, so that what a later release has no more is dropped, and nothing of others is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from forebay.db.logins import ROLES
from forebay.db.schema_parts import ENGINE
from forebay.db.statements import statements
from forebay.errors import SchemaError

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.db.schema_parts import Part

load = statements("forebay.db")


async def replace_routines(conn: Connection, part: Part) -> None:
    """Make the routines of a part those of this release.

    Raises: SchemaError when something that users have built upon one of them would be lost.
    """
    if await are_current(conn, part):
        return
    try:
        await _make_or_remake(conn, part)
    except asyncpg.DependentObjectsStillExistError as error:
        raise SchemaError(
            f"{error.args[0]}: {(error.detail or '').partition(chr(10))[0]}; drop that, migrate, and make it anew"
        ) from error


async def are_current(conn: Connection, part: Part) -> bool:
    """Whether the routines of a part are those of this release, with the rights that it grants."""
    stored = await conn.fetchval("select routines from forebay.part where name = $1", part.name)
    return stored is not None and stored == await _fingerprint(conn, part)


async def _fingerprint(conn: Connection, part: Part) -> str:
    """Roles count: when an administrator has created those that we could not create, they are to be granted rights."""
    if part == ENGINE:
        return part.digest
    roles = await conn.fetchval("select count(*) from pg_roles where rolname = any($1)", ROLES)
    return f"{part.digest} for {roles} roles"


async def _make_or_remake(conn: Connection, part: Part) -> None:
    try:
        await _make(conn, part)
    except (
        asyncpg.InvalidFunctionDefinitionError,
        asyncpg.InvalidTableDefinitionError,
        asyncpg.AmbiguousFunctionError,
    ):
        # Another return type, other columns of a view, or a call that fits an old function and its new form: those
        # cannot be replaced, only made anew. What others were granted on them is granted again.
        async with conn.transaction():
            grants = await conn.fetch(load("list_routine_grants"))
            for row in await conn.fetch(load("drop_routines"), part.name, list(part.routine_names)):
                await conn.execute(row["statement"])
            await _make(conn, part)
            there = {(row["type"], row["identity"]) for row in await conn.fetch(load("list_routines"))}
            for row in grants:
                if (row["type"], row["identity"]) in there:
                    await conn.execute(row["statement"])


async def _make(conn: Connection, part: Part) -> None:
    async with conn.transaction():
        before = [row["version"] for row in await conn.fetch(load("list_routines"))]
        # Files are in no order that their calls would need.
        await conn.execute("set local check_function_bodies = off")
        await conn.execute(part.routines)
        for row in await conn.fetch(load("note_routines"), part.name, before, list(part.routine_names)):
            await conn.execute(row["statement"])
        await conn.execute(
            "insert into forebay.part (name, routines) values ($1, $2)"
            " on conflict (name) do update set routines = excluded.routines",
            part.name,
            await _fingerprint(conn, part),
        )
