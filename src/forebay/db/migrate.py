"""Brings the schema of a database up to date, part by part: each numbered migration once, then the part's routines.

A database has the engine alone, or the engine and the service. Parts that are not installed in this process, and
functions and views of users, are left unchanged.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from forebay.db.pool import Connection, connect
from forebay.db.routines import keeping_others, replace_routines
from forebay.db.schema_parts import ENGINE, all_parts, leave_out_part
from forebay.db.sql_files import run_files, run_repeatable
from forebay.db.statements import statements
from forebay.errors import DefinitionError, ForebayError, SchemaError, one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from forebay.db.schema_parts import Migration, SchemaPart

load = statements("forebay.db")
log = get_logger("migrate")

_NO_EXTENSION = (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError, asyncpg.InsufficientPrivilegeError)
_LOCK = 4662_0001  # one migration at a time, over all processes and machines
# The statements of a live system queue up behind a migration that waits for a lock: it waits briefly, and tries again.
_SHORT_LOCKS = "set lock_timeout = '500ms'"
_LOCK_TRIES = 60
_LOCK_PAUSE = 1.0  # seconds, for what has queued up

T = TypeVar("T")


async def migrate(
    dsn: str,
    *,
    service: bool = False,
    parts: Sequence[SchemaPart] | None = None,
    restoring: bool = False,
    leaving_out: bool = False,
) -> int:
    """Bring the schema up to date; return the number of applied migrations.

    Migrates the engine alone, unless the database already has the service or `service` is true; or only these `parts`.
    If a restore was killed, the schema that it had set aside is put back first; `restoring` is true for the restore
    itself. A part of another package that cannot be migrated does not stop the others: with `leaving_out` its package
    is omitted, otherwise the error is raised at the end.

    Raises: SchemaError if the database is newer than this forebay, or older than PostgreSQL 14, or has two schemas
    because a restore was killed.
    """
    conn = await connect(dsn, name="forebay migrate")
    try:
        if conn.get_server_version().major < 14:
            raise SchemaError(f"forebay needs PostgreSQL 14 or newer; this server is {conn.get_server_version().major}")
        await lock_schema(conn)
        if not restoring:
            await _recover_aside(conn)
        applied, failed = await _migrate(conn, all_parts() if service else parts)
    finally:
        await conn.close()
    for part, error in failed.items():
        if not leaving_out:
            raise error
        leave_out_part(part, error)
    return applied


async def lock_schema(conn: Connection) -> None:
    """Wait for the lock of the schema, and hold it until the connection closes."""
    # Polled: a session that waits inside the server would block indexes that are built concurrently.
    while not await conn.fetchval("select pg_try_advisory_lock($1)", _LOCK):  # noqa: ASYNC110 - in the server
        await asyncio.sleep(0.1)
    await conn.execute(_SHORT_LOCKS)


async def ensure_service(dsn: str) -> int:
    """Bring engine and service up to date, if this account owns the schema; returns how many migrations were applied.

    Packages whose part cannot be migrated are omitted.

    Raises: SchemaError that says which command to run, when something is missing and this account may not add it.
    """
    conn = await connect(dsn, name="forebay migrate")
    try:
        if not await conn.fetchval(load("may_migrate")):
            await leave_out_unusable(conn, all_parts())
            return 0
    finally:
        await conn.close()
    return await migrate(dsn, service=True, leaving_out=True)


async def _recover_aside(conn: Connection) -> None:
    """Put back the data that a killed restore had set aside: an empty schema must not replace it."""
    if await conn.fetchval("select to_regnamespace('forebay_aside') is null"):
        return
    if await conn.fetchval("select to_regnamespace('forebay') is not null"):
        raise SchemaError(
            "a restore was killed before its end: the schema forebay_aside has what was there before it, forebay what "
            "came since. To go back: drop schema forebay cascade; alter schema forebay_aside rename to forebay. "
            "To go on with what came since: drop schema forebay_aside cascade"
        )
    await conn.execute(load("put_schema_back"))


async def _migrate(conn: Connection, parts: Sequence[SchemaPart] | None) -> tuple[int, dict[SchemaPart, ForebayError]]:
    """The number of applied migrations, and the parts of other packages that failed."""
    if await conn.fetchval(load("has_single_numbering")):
        await _adopt_single_numbering(conn)
    await conn.execute(load("make_part_tables"))
    versions = await versions_of(conn)
    whole = await parts_in(conn)
    parts = whole if parts is None else parts
    for part in parts:
        if part.is_built_in:
            _refuse_newer(part, versions.get(part.name, 0))
    applied = 0
    failed: dict[SchemaPart, ForebayError] = {}
    for part in parts:
        try:
            _refuse_newer(part, versions.get(part.name, 0))
            applied += await _migrate_part(conn, part)
        except (SchemaError, DefinitionError) as error:
            if part.is_built_in:
                raise
            failed[part] = error
    if set(whole) <= set(parts) and not failed:
        for left in await conn.fetch(load("drop_former_routines")):
            await conn.execute(left["statement"])
        await conn.execute("delete from forebay.part_routine where part = ''")
    return applied, failed


async def _adopt_single_numbering(conn: Connection) -> None:
    """Convert the former single numbering of all parts: record which migrations of each part are applied."""
    built_in = [part for part in all_parts() if part.is_built_in]
    known = [m for part in built_in for m in part.migrations if m.former_version is not None]
    newest = max(m.former_version or 0 for m in known)
    version = await conn.fetchval("select max(version) from forebay.migration")
    if version is not None and version > newest:
        raise SchemaError(f"the schema has version {version}, this forebay knows {newest}: upgrade forebay")
    async with conn.transaction():
        await conn.execute(load("make_part_tables"))
        await conn.execute(load("adopt_single_numbering"))
        for m in known:
            await conn.execute(load("adopt_migration"), m.part, m.version, m.name, m.former_version)
        await conn.execute(load("drop_single_numbering"))


async def _migrate_part(conn: Connection, part: SchemaPart) -> int:
    rows = await conn.fetch("select version from forebay.migration where part = $1", part.name)
    applied = {row["version"] for row in rows}
    pending = [migration for migration in part.migrations if migration.version not in applied]
    pending = [migration for migration in pending if await _can_apply(conn, migration)]
    for migration in pending:
        if not migration.follows_routines:
            await _retry_while_locked(partial(_apply, conn, migration))
    await _retry_while_locked(partial(replace_routines, conn, part))
    for migration in pending:
        if migration.follows_routines:
            await _retry_while_locked(partial(_apply, conn, migration))
    if not part.migrations:
        await conn.execute(load("note_routines_only"), part.name)
    return len(pending)


async def _can_apply(conn: Connection, migration: Migration) -> bool:
    """Whether the server has the extension that a migration needs, and this account may create it."""
    if migration.extension is None or await conn.fetchval(load("may_have_extension"), migration.extension):
        return True
    log.info("migration_left_out", part=migration.part, version=migration.version, extension=migration.extension)
    return False


async def _retry_while_locked(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a transaction that did not get a lock in time."""
    for _ in range(_LOCK_TRIES - 1):
        try:
            return await call()
        except asyncpg.LockNotAvailableError as error:
            log.warning("migration_waits_for_lock", error=one_line(error), pause=_LOCK_PAUSE)
            await asyncio.sleep(_LOCK_PAUSE)
    return await call()


async def _apply(conn: Connection, migration: Migration) -> None:
    if migration.runs_outside_transaction:
        await _apply_outside(conn, migration)
        return
    try:
        async with conn.transaction(), keeping_others(conn, migration.part):
            await run_files(conn, migration.part, [migration.file])
            await _note(conn, migration)
    except SchemaError as error:
        wanted = re.search(r"create extension (?:if not exists )?(\w+)", migration.sql)
        if wanted is None or not isinstance(error.__cause__, _NO_EXTENSION) or "extension" not in str(error.__cause__):
            raise
        raise SchemaError(
            f"migration {migration.version} of {migration.part} needs an extension that comes with PostgreSQL, and "
            f"{error.__cause__.args[0]}: install postgresql-contrib there, or let an administrator run "
            f"CREATE EXTENSION {wanted[1]} in this database"
        ) from error


async def _apply_outside(conn: Connection, migration: Migration) -> None:
    """Run each statement by itself, as a transaction would hold its locks for too long; each can be repeated."""
    await conn.execute("set lock_timeout = 0")  # these wait for old transactions, but block nobody
    try:
        await run_repeatable(conn, migration.part, migration.file)
    finally:
        await conn.execute(_SHORT_LOCKS)
    await _note(conn, migration)


async def _note(conn: Connection, migration: Migration) -> None:
    await conn.execute(
        "insert into forebay.migration (part, version, name, contracts) values ($1, $2, $3, $4)",
        migration.part,
        migration.version,
        migration.name,
        migration.contracts,
    )


async def versions_of(conn: Connection) -> dict[str, int]:
    """The version of each part in the database; empty if its schema is missing, or older than schema parts."""
    if not await conn.fetchval(load("has_parts")):
        return {}
    rows = await conn.fetch("select part, max(version) as version from forebay.migration group by part order by part")
    return {row["part"]: row["version"] for row in rows}


async def has_service(conn: Connection) -> bool:
    """Whether the database has more than the engine."""
    return bool((await versions_of(conn)).keys() - {ENGINE.name})


async def parts_in(conn: Connection) -> tuple[SchemaPart, ...]:
    """The installed parts that the database should have: the engine, or all parts if it has the service."""
    return all_parts() if await has_service(conn) else (ENGINE,)


async def check(conn: Connection, parts: Sequence[SchemaPart] = (ENGINE,)) -> None:
    """A schema that is newer only by additions is accepted, so that workers of the previous release can restart.

    Raises: SchemaError if one of the parts is missing, or older than this forebay, or too new for it.
    """
    versions = await versions_of(conn)
    if not versions:
        raise SchemaError("the database has no forebay schema yet: run `forebay migrate`")
    for part in parts:
        version, command = versions.get(part.name), _command_for(part)
        if version is None:
            raise SchemaError(f"the database has no schema part {part.name} yet: run `{command}`")
        if version < part.newest_required:
            raise SchemaError(
                f"the schema part {part.name} has version {version}, this forebay needs {part.newest_required}: run "
                f"`{command}`"
            )
        if version > part.newest:
            _refuse_newer(part, await _contracted(conn, part))


async def leave_out_unusable(conn: Connection, parts: Sequence[SchemaPart]) -> None:
    """Omit the packages whose part is missing in the database, or older than this process needs, or too new for it.

    Raises: SchemaError if that holds for a part that comes with forebay.
    """
    for part in parts:
        try:
            await check(conn, [part])
        except (SchemaError, DefinitionError) as error:
            leave_out_part(part, error)


async def _contracted(conn: Connection, part: SchemaPart) -> int:
    """The version from which on only releases that know it can work with a part."""
    return int(await conn.fetchval(load("last_contraction"), part.name) or 0)


def _command_for(part: SchemaPart) -> str:
    return "forebay migrate" if part == ENGINE else "forebay migrate --service"


def _refuse_newer(part: SchemaPart, version: int) -> None:
    if version > part.newest:
        package = "forebay" if part.is_built_in else part.package
        raise SchemaError(
            f"the schema part {part.name} has version {version}, this {package} knows {part.newest}: upgrade {package}"
        )
