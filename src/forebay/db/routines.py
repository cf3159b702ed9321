"""Replaces the routines of a schema part: its functions, views and triggers, and the rights that it grants.

The routines of each part are recorded, so that those that a later release no longer has are dropped, and those of
others are not. A name belongs to one part. A routine can move to another part, once its former part no longer declares
it.
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
    from collections.abc import AsyncGenerator, Sequence

    from forebay.db.pool import Connection
    from forebay.db.schema_parts import SchemaPart

load = statements("forebay.db")

# A different return type, other columns of a view, or a call that matches an old function and its new form.
_NOT_REPLACEABLE = (
    asyncpg.InvalidFunctionDefinitionError,
    asyncpg.InvalidTableDefinitionError,
    asyncpg.AmbiguousFunctionError,
)
_DEPENDED_UPON = (asyncpg.DependentObjectsStillExistError,)


async def replace_routines(conn: Connection, part: SchemaPart) -> None:
    """Replace the routines of a part by those of this release.

    Raises: SchemaError if an object of a user depends on a routine that has to be dropped, or a routine belongs to
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
            f"{error.args[0]}: {(error.detail or '').partition(chr(10))[0]}; drop that, migrate, and create it again"
        ) from error


async def are_current(conn: Connection, part: SchemaPart) -> bool:
    """Whether the routines of a part are those of this release, with the rights that it grants."""
    stored = await conn.fetchval("select routines from forebay.part where name = $1", part.name)
    return stored is not None and stored == await _fingerprint(conn, part)


async def differing_routines(conn: Connection, parts: Sequence[SchemaPart]) -> list[str]:
    """Those of these parts whose routines are of another release; none if this account may not read that."""
    if not await conn.fetchval("select has_table_privilege('forebay.part', 'select')"):
        return []
    return [part.name for part in parts if not await are_current(conn, part)]


async def _fingerprint(conn: Connection, part: SchemaPart) -> str:
    """Includes the number of roles: roles that an administrator creates later must be granted their rights."""
    if part == ENGINE:
        return part.digest
    return f"{part.digest} for {await conn.fetchval(load('count_roles'))} roles"


async def _take_over_moved(conn: Connection, part: SchemaPart) -> None:
    """Take over the routines that have moved here from other parts.

    Raises: SchemaError for a routine that another part still declares.
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
        # They must be dropped and created. Rights that others were granted on them are granted again.
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
        # The order of the files does not follow their calls.
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
