"""Bringing a database's schema up to date: numbered migrations once each, then all functions and views."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import asyncpg

from forebay.db.pool import Connection, connect
from forebay.db.statements import statements
from forebay.errors import SchemaError

load = statements("forebay.db")

ROLES = ("forebay_api", "forebay_admin", "forebay_identity", "forebay_worker")

_OUTSIDE = "-- outside a transaction"
_AFTER = "-- after the routines"
_LOCK = 4662_0001  # one migration at a time, over all processes and machines

_PREPARE = """
create schema if not exists forebay;
create table if not exists forebay.migration (
    version    int primary key,
    name       text not null,
    applied_at timestamptz not null default clock_timestamp()
);
"""

# Not cascading: what others have built upon these stops the migration, and is named, instead of vanishing.
_DROP_ROUTINES = """
do $$
declare
    doomed regclass;
    signature regprocedure;
    watcher record;
begin
    for watcher in
        select t.tgname, t.tgrelid::regclass as tab from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where p.pronamespace = 'forebay'::regnamespace
    loop
        execute format('drop trigger %I on %s', watcher.tgname, watcher.tab);
    end loop;
    for doomed in
        select oid from pg_class where relnamespace = 'forebay'::regnamespace and relkind = 'v' order by oid desc
    loop
        execute 'drop view ' || doomed;
    end loop;
    for signature in
        select oid from pg_proc where pronamespace = 'forebay'::regnamespace
        and coalesce(obj_description(oid, 'pg_proc'), '') <> 'stored columns are made by it'
    loop
        execute 'drop function ' || signature;
    end loop;
end $$
"""

# Which versions of functions there are: one that is replaced gets another place in its table.
_FUNCTIONS = "select oid::text || ctid::text from pg_proc where pronamespace = 'forebay'::regnamespace"

# What earlier releases have left, such as functions with fewer parameters: calls would fit those and the new ones.
_DROP_LEFT = """
select 'drop routine ' || p.oid::regprocedure from pg_proc p
where p.pronamespace = 'forebay'::regnamespace and p.oid::text || p.ctid::text = any($1)
  and coalesce(obj_description(p.oid, 'pg_proc'), '') <> 'stored columns are made by it'
  and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
order by p.oid desc
"""


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All numbered migrations, in order."""
    found = (entry for entry in (files("forebay") / "sql" / "migrations").iterdir() if entry.name.endswith(".sql"))
    ordered = sorted(found, key=lambda entry: entry.name)
    return tuple(Migration(int(e.name[:4]), e.name[5:-4], e.read_text("utf-8")) for e in ordered)


@cache
def routines() -> str:
    """All functions and views, which are replaced as a whole."""
    found = (entry for entry in (files("forebay") / "sql" / "routines").iterdir() if entry.name.endswith(".sql"))
    return "\n".join(entry.read_text("utf-8") for entry in sorted(found, key=lambda entry: entry.name))


def routines_digest() -> str:
    return hashlib.sha256(routines().encode()).hexdigest()[:16]


async def migrate(dsn: str, *, upto: int | None = None, restoring: bool = False) -> int:
    """Bring the schema up to date, or to version `upto`; returns how many migrations were applied.

    What a restore that was killed has put aside is put back first; `restoring` is the restore itself.

    Raises: SchemaError when the database is newer than this forebay, or older than PostgreSQL 14, or has two schemas
    since a restore was killed.
    """
    conn = await connect(dsn, name="forebay migrate")
    try:
        if conn.get_server_version().major < 14:
            raise SchemaError(f"forebay needs PostgreSQL 14 or newer; this server is {conn.get_server_version().major}")
        # Asked for again and again: who waits inside the server would hold up indexes that are built concurrently.
        while not await conn.fetchval("select pg_try_advisory_lock($1)", _LOCK):  # noqa: ASYNC110 - in the server
            await asyncio.sleep(0.1)
        if not restoring:
            await _recover_aside(conn)
        return await _migrate(conn, upto)
    finally:
        await conn.close()


async def _recover_aside(conn: Connection) -> None:
    """An empty schema must not take the place of data that a restore had put aside when it was killed."""
    if await conn.fetchval("select to_regnamespace('forebay_aside') is null"):
        return
    if await conn.fetchval("select to_regnamespace('forebay') is not null"):
        raise SchemaError(
            "a restore was killed before its end: the schema forebay_aside has what was there before it, forebay what "
            "came since. To go back: drop schema forebay cascade; alter schema forebay_aside rename to forebay. "
            "To go on with what came since: drop schema forebay_aside cascade"
        )
    await conn.execute(load("put_schema_back"))


async def _migrate(conn: Connection, upto: int | None) -> int:
    await conn.execute("set lock_timeout = '10s'")  # a live system rather keeps running than waits behind us
    await conn.execute(_PREPARE)
    applied = {row["version"] for row in await conn.fetch("select version from forebay.migration")}
    newest = migrations()[-1].version
    if applied and max(applied) > newest:
        raise SchemaError(f"the schema has version {max(applied)}, this forebay knows {newest}: upgrade forebay")
    pending = [m for m in migrations() if m.version not in applied and (upto is None or m.version <= upto)]
    later = [m for m in pending if m.sql.startswith(_AFTER)]
    for migration in pending:
        if migration not in later:
            await _apply(conn, migration)
    if upto is None or upto >= newest:
        await _replace_routines(conn)
    for migration in later:
        await _apply(conn, migration)
    return len(pending)


async def _apply(conn: Connection, migration: Migration) -> None:
    if migration.sql.startswith(_OUTSIDE):
        await _apply_outside(conn, migration)
        return
    try:
        async with conn.transaction():
            await conn.execute(migration.sql)
            await _note(conn, migration)
    except (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError, asyncpg.InsufficientPrivilegeError) as error:
        if "extension" not in str(error):
            raise
        raise SchemaError(
            f"migration {migration.version} needs an extension that comes with PostgreSQL, and {error.args[0]}: "
            "install postgresql-contrib there, or let an administrator run CREATE EXTENSION pg_trgm in this database"
        ) from error


async def _apply_outside(conn: Connection, migration: Migration) -> None:
    """Statement by statement, each of which may be repeated: what it builds must not lock others out meanwhile."""
    await conn.execute("set lock_timeout = 0")  # these wait for old transactions, and nobody waits for them
    for statement in migration.sql.split(";\n"):
        if statement.strip():
            await conn.execute(statement)
    await conn.execute("set lock_timeout = '10s'")
    await _note(conn, migration)


async def _note(conn: Connection, migration: Migration) -> None:
    await conn.execute(
        "insert into forebay.migration (version, name) values ($1, $2)", migration.version, migration.name
    )


async def _replace_routines(conn: Connection) -> None:
    if await conn.fetchval("select obj_description('forebay'::regnamespace)") == await routines_comment(conn):
        return
    try:
        await _make_or_remake_routines(conn)
    except asyncpg.DependentObjectsStillExistError as error:
        raise SchemaError(
            f"{error.args[0]}: {(error.detail or '').partition(chr(10))[0]}; drop that, migrate, and make it anew"
        ) from error


async def _make_or_remake_routines(conn: Connection) -> None:
    try:
        await _make_routines(conn)
    except (
        asyncpg.InvalidFunctionDefinitionError,
        asyncpg.InvalidTableDefinitionError,
        asyncpg.AmbiguousFunctionError,
    ):
        # Another return type, other columns of a view, or a call that fits an old function and its new form: those
        # cannot be replaced, only made anew.
        async with conn.transaction():
            await conn.execute(_DROP_ROUTINES)
            await _make_routines(conn)


async def _make_routines(conn: Connection) -> None:
    async with conn.transaction():
        before = [row[0] for row in await conn.fetch(_FUNCTIONS)]
        await conn.execute(routines())
        for left in await conn.fetch(_DROP_LEFT, before):
            await conn.execute(left[0])
        await conn.execute(f"comment on schema forebay is '{await routines_comment(conn)}'")


async def routines_comment(conn: Connection) -> str:
    """What the schema's comment says when its functions, views and rights are those of this forebay.

    Roles count: when an administrator has made those that we could not make, they are to be granted their rights.
    """
    roles = await conn.fetchval("select count(*) from pg_roles where rolname = any($1)", ROLES)
    return f"forebay routines {routines_digest()} for {roles} roles"


async def check(conn: Connection) -> None:
    """Raises: SchemaError when the schema is missing or older than this forebay."""
    version: int | None = None
    if await conn.fetchval("select to_regclass('forebay.migration')") is not None:
        version = await conn.fetchval("select max(version) from forebay.migration")
    newest = migrations()[-1].version
    if version is None:
        raise SchemaError("the database has no forebay schema yet: run `forebay migrate`")
    if version < newest:
        raise SchemaError(f"the schema has version {version}, this forebay needs {newest}: run `forebay migrate`")
    if version > newest:
        raise SchemaError(f"the schema has version {version}, this forebay knows {newest}: upgrade forebay")
