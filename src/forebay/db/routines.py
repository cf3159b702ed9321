"""Replacing the routines of a schema part: its functions, views and triggers, and the rights that it grants.

What each part has made is recorded, so that what a later release has no more is dropped, and nothing of others is. A
name belongs to one part. A routine may move to another part: that part takes it over when its former one declares it no
more.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from forebay.db.schema_parts import ENGINE, all_parts
from forebay.db.sql_files import run_files
from forebay.db.statements import statements
from forebay.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Connection
    from forebay.db.schema_parts import SchemaPart

load = statements("forebay.db")

# Another return type, other columns of a view, or a call that fits an old function and its new form.
_NOT_REPLACEABLE = (
    asyncpg.InvalidFunctionDefinitionError,
    asyncpg.InvalidTableDefinitionError,
    asyncpg.AmbiguousFunctionError,
)
_DEPENDED_UPON = (asyncpg.DependentObjectsStillExistError,)


async def replace_routines(conn: Connection, part: SchemaPart) -> None:
    """Make the routines of a part those of this release.

    Raises: SchemaError when something that users have built upon one of them would be lost, or one of them belongs to
    another part.
    """
    if await are_current(conn, part):
        return
    try:
        async with conn.transaction():
            await _take_over_moved(conn, part)
            async with keeping_others(conn, part.name):
                await _make_or_remake(conn, part)
    except _DEPENDED_UPON as error:
        raise SchemaError(
            f"{error.args[0]}: {(error.detail or '').partition(chr(10))[0]}; drop that, migrate, and make it anew"
        ) from error


async def are_current(conn: Connection, part: SchemaPart) -> bool:
    """Whether the routines of a part are those of this release, with the rights that it grants."""
    stored = await conn.fetchval("select routines from forebay.part where name = $1", part.name)
    return stored is not None and stored == await _fingerprint(conn, part)


async def _fingerprint(conn: Connection, part: SchemaPart) -> str:
    """Roles count: when an administrator has created those that we could not create, they are to be granted rights."""
    if part == ENGINE:
        return part.digest
    return f"{part.digest} for {await conn.fetchval(load('count_roles'))} roles"


async def _take_over_moved(conn: Connection, part: SchemaPart) -> None:
    """Release the routines that have moved here from other parts.

    Raises: SchemaError for one that another part still has.
    """
    installed = {each.name: each for each in all_parts()}
    for row in await conn.fetch(load("list_claimed_routines"), part.name, list(part.routine_keys)):
        what = f"the {row['type']} {row['identity']} belongs to the schema part {row['part']}"
        owner = installed.get(row["part"])
        if owner is None:
            raise SchemaError(
                f"{what}, which is not installed, and {part.name} declares one of that name: install {row['part']} "
                f"again, or run `forebay migrate --remove {row['part']}`"
            )
        if row["key"] in owner.routine_keys:
            raise SchemaError(
                f"{what} ({owner.package}), and {part.name} ({part.package}) declares one of that name, too: rename it "
                "in one of them, or uninstall one of them"
            )
        await conn.execute(load("release_routine"), row["type"], row["identity"])


@asynccontextmanager
async def keeping_others(conn: Connection, part: str) -> AsyncGenerator[None]:
    """Run statements of a part, in a transaction.

    Raises: SchemaError when they replace or drop a routine of another part.
    """
    others = load("list_routines_of_others")
    before = await conn.fetch(others, part)
    yield
    after = {(row["type"], row["identity"]): row["digest"] for row in await conn.fetch(others, part)}
    for row in before:
        if after.get((row["type"], row["identity"])) != row["digest"]:
            raise SchemaError(
                f"{part} changes the {row['type']} {row['identity']}, which belongs to the schema part {row['part']}: "
                "a part may replace and drop its own routines only"
            )


async def _make_or_remake(conn: Connection, part: SchemaPart) -> None:
    try:
        await _make(conn, part, unchanged=_NOT_REPLACEABLE)
    except _NOT_REPLACEABLE:
        # Only made anew. What others were granted on them is granted again.
        async with conn.transaction():
            grants = await conn.fetch(load("list_routine_grants"))
            for row in await conn.fetch(load("drop_routines"), part.name, list(part.routine_names)):
                await conn.execute(row["statement"])
            await _make(conn, part)
            there = {(row["type"], row["identity"]) for row in await conn.fetch(load("list_routines"))}
            for row in grants:
                if (row["type"], row["identity"]) in there:
                    await conn.execute(row["statement"])


async def _make(conn: Connection, part: SchemaPart, *, unchanged: tuple[type[asyncpg.PostgresError], ...] = ()) -> None:
    async with conn.transaction():
        before = [row["version"] for row in await conn.fetch(load("list_routines"))]
        # Files are in no order that their calls would need.
        await conn.execute("set local check_function_bodies = off")
        await run_files(conn, part.name, part.routine_files, unchanged=(*unchanged, *_DEPENDED_UPON))
        for row in await conn.fetch(load("note_routines"), part.name, before, list(part.routine_names)):
            await conn.execute(row["statement"])
        await conn.execute(
            "insert into forebay.part (name, routines) values ($1, $2)"
            " on conflict (name) do update set routines = excluded.routines",
            part.name,
            await _fingerprint(conn, part),
        )
