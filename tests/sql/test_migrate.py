"""Migrations: from every version up, twice, at once, and on servers that cannot."""

# demands: S1-26, S1-89, S5-12, S5-13, S5-53, S5-113

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay import Pipeline
from forebay.db import migrate as migrating
from forebay.db import schema_parts
from forebay.db.migrate import _apply, check, migrate, versions_of
from forebay.db.pool import Connection, connect, retry_until_up
from forebay.db.routines import are_current
from forebay.db.schema_parts import ENGINE, SERVICE, Migration, SchemaPart, all_parts, package_parts, parts_for
from forebay.engine.declare.loading import parts_needed
from forebay.errors import DatabaseUnavailable, DefinitionError, SchemaError
from forebay.identity.db import unprotected_tables
from forebay.packages import PipelinePackage, packages
from tests._servers import Server
from tests.sql._upgrades import VERSIONS, contents, make_last, make_version, schema_of

_NEWEST = {part.name: part.newest for part in all_parts()}


@pytest.fixture(scope="module")
def fresh_schema(server: Server, _template: str) -> list[str]:
    """What a new installation has."""
    with server.database(template=_template) as dsn:
        return schema_of(dsn)


@pytest.mark.parametrize("version", VERSIONS)
async def test_from_every_version_of_the_single_numbering(bare_dsn: str, fresh_schema: list[str], version: int) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await make_version(conn, version)
    applied = await migrate(bare_dsn, service=True)
    assert await versions_of(conn) == _NEWEST
    assert applied == sum((m.former_version or 9999) > version for part in all_parts() for m in part.migrations)
    assert schema_of(bare_dsn) == fresh_schema
    await conn.close()


async def test_a_database_of_the_last_single_numbering_keeps_everything(bare_dsn: str, fresh_schema: list[str]) -> None:
    await make_last(bare_dsn)
    conn = await asyncpg.connect(bare_dsn)
    before = await contents(conn)
    assert all(before.values())  # a row in every table
    assert await migrate(bare_dsn) == sum(m.former_version is None for part in all_parts() for m in part.migrations)
    after = await contents(conn)
    moved = [{name: row.pop(name) for name in ("optional", "downstream")} for row in before["step"] if row["active"]]
    assert [_cut([row], [moved[0]])[0] for row in after["version_step"]] == moved
    _move_intake(before)
    assert {name: _cut(after[name], rows) for name, rows in before.items()} == before
    assert [row["summary_paths"] for row in after["job"]] == [{"title": "{row,t}"}, None, None, None]
    assert await versions_of(conn) == _NEWEST
    assert schema_of(bare_dsn) == fresh_schema
    assert await migrate(bare_dsn) == 0
    await conn.close()


def _move_intake(tables: dict[str, list[dict[str, Any]]]) -> None:
    """Where the files that come in for sheets are now: in tables of all pipelines."""
    copied = ("owner_id", "job_id", "name", "created_at", "intake_job_id", "source", "path", "version", "size")
    tables["intake_file"] = [
        {"target": "sheets", "reference": row["id"]} | {name: row[name] for name in (*copied, "file_id", "received_at")}
        for row in tables["sheet"]
    ]
    tables["intake_part"] = [
        {"target": "sheets", "reference": row.pop("sheet_id"), **row} for row in tables.pop("sheet_piece")
    ]
    tables["intake_taken"] = [{"target": "sheets", **row} for row in tables.pop("sheet_taken")]


def _cut(rows: list[dict[str, Any]], like: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the columns that came later."""
    return [{name: value for name, value in row.items() if name in like[0]} for row in rows]


async def test_a_database_of_the_single_numbering_with_the_engine_alone(bare_dsn: str) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await make_version(conn, 3)
    with pytest.raises(SchemaError, match="run `forebay migrate`"):
        await check(conn)
    await migrate(bare_dsn)
    assert await versions_of(conn) == {"engine": ENGINE.newest}
    await conn.close()


async def test_a_single_numbering_that_is_newer_is_left_alone(bare_dsn: str) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await make_version(conn, 3)
    await conn.execute("insert into forebay.migration (version, name) values (20, 'future')")
    with pytest.raises(SchemaError, match=r"^the schema has version 20, this forebay knows 19: upgrade forebay$"):
        await migrate(bare_dsn)
    await conn.close()


async def test_again_changes_nothing(bare_dsn: str) -> None:
    await migrate(bare_dsn, service=True)
    assert await migrate(bare_dsn) == 0


async def test_many_at_once_take_turns(bare_dsn: str) -> None:
    done = await asyncio.gather(*(migrate(bare_dsn) for _ in range(4)))
    assert sorted(done) == [0, 0, 0, len(ENGINE.migrations)]


async def test_on_a_live_system(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are replaced while another session uses them in an open transaction."""
    conn = await asyncpg.connect(dsn)
    async with conn.transaction():
        await conn.fetch("select * from forebay.describe_lanes('{1}')")
        monkeypatch.setattr(SchemaPart, "digest", "changed")
        assert await migrate(dsn) == 0
    stored = {row[0]: row[1] for row in await conn.fetch("select name, routines from forebay.part")}
    assert stored.pop("engine") == "changed"
    assert set(stored.values()) == {"changed for 4 roles"}
    await conn.close()


async def test_a_function_that_answers_something_else_is_made_anew(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conn = await connect(dsn)
    await conn.execute("drop function forebay.mark_busy; drop function forebay.describe_lanes")
    await conn.execute("create function forebay.describe_lanes(lanes bigint[]) returns int language sql as 'select 1'")
    monkeypatch.setattr(SchemaPart, "digest", "changed")
    assert await migrate(dsn) == 0
    assert await conn.fetch("select * from forebay.describe_lanes('{1}')") == []
    assert await conn.fetchval("select count(*) from forebay.jobs") == 0
    await conn.close()


_OLD_SIGNATURES = """
create function forebay.delete_finished(
    now timestamptz default null, keep interval default '30 days', max_jobs int default 100, max_items int default 10000
) returns bigint language sql as 'select 7::bigint';
create function forebay.acting_owner(more int default 0) returns bigint language sql as 'select 7::bigint';
"""
_OLD_OWNERS = [
    ("forebay.delete_finished(timestamp with time zone,interval,integer,integer)", "engine"),
    ("forebay.acting_owner(integer)", "identity"),
]
_ALL_SIGNATURES = "select oid::regprocedure::text from pg_proc where pronamespace = 'forebay'::regnamespace order by 1"


async def test_functions_of_earlier_releases_leave_no_call_ambiguous(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those of workers (`delete_finished`), nor those of our own functions (`acting_owner`)."""
    conn = await connect(dsn)
    monkeypatch.setattr(SchemaPart, "digest", "changed")
    before = await conn.fetch(_ALL_SIGNATURES)
    await conn.execute(_OLD_SIGNATURES)
    await conn.executemany("insert into forebay.part_routine values ('function', $1, $2)", _OLD_OWNERS)
    with pytest.raises(asyncpg.AmbiguousFunctionError):
        await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval)")
    assert await migrate(dsn) == 0
    assert await conn.fetch(_ALL_SIGNATURES) == before
    assert await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval)") == 0
    assert await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval, 10, 10)") == 0
    await conn.close()


async def test_an_old_function_that_others_built_upon_is_not_dropped(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conn = await connect(dsn)
    monkeypatch.setattr(SchemaPart, "digest", "changed")
    await conn.execute("create function forebay.old(n int) returns int language sql as 'select 7'")
    await conn.execute("insert into forebay.part_routine values ('function', 'forebay.old(integer)', 'engine')")
    await conn.execute("create view public.mine as select forebay.old(1)")
    with pytest.raises(SchemaError, match=r"view mine depends on function old\(integer\); drop that, migrate"):
        await migrate(dsn)
    assert await conn.fetchval("select old from public.mine") == 7
    await conn.execute("drop view public.mine")
    assert await migrate(dsn) == 0
    assert await conn.fetchval("select to_regproc('forebay.old')") is None
    await conn.close()


@pytest.mark.pg15
async def test_on_debian_15(pg15_dsn: str) -> None:
    assert await migrate(pg15_dsn) == 0
    conn = await asyncpg.connect(pg15_dsn)
    assert conn.get_server_version().major == 15
    await check(conn)
    await conn.close()


async def test_a_missing_schema_says_what_to_run(bare_dsn: str) -> None:
    conn = await connect(bare_dsn)
    with pytest.raises(SchemaError, match=r"^the database has no forebay schema yet: run `forebay migrate`$"):
        await check(conn)
    await conn.close()


@pytest.mark.parametrize("part", ["engine", "storage", "sheets"])
async def test_a_newer_part_is_left_alone(dsn: str, part: str) -> None:
    conn = await connect(dsn)
    await conn.execute(
        "insert into forebay.migration (part, version, name, contracts) values ($1, 9999, 'future', true)", part
    )
    told = f"^the schema part {part} has version 9999, this forebay knows {_NEWEST[part]}: upgrade forebay$"
    with pytest.raises(SchemaError, match=told):
        await migrate(dsn)
    with pytest.raises(SchemaError, match=told):
        await check(conn, all_parts())
    await conn.close()


async def test_a_schema_with_additions_of_a_newer_release_is_accepted_but_not_migrated(dsn: str) -> None:
    """So that workers of the release before can restart while a new release is rolled out."""
    conn = await connect(dsn)
    await conn.execute("insert into forebay.migration (part, version, name) values ('engine', 9999, 'additions')")
    await check(conn, all_parts())
    with pytest.raises(SchemaError, match=r"^the schema part engine has version 9999"):
        await migrate(dsn)
    await conn.execute("alter table forebay.migration drop column contracts")  # of an earlier release
    await check(conn, all_parts())
    await conn.close()


def test_a_migration_says_whether_it_contracts() -> None:
    assert Migration("engine", 1, "one", "-- after the routines\n-- contracts\ndrop table t;").contracts
    assert not Migration("engine", 1, "one", "-- This contracts nothing\ncreate table t ();").contracts


def test_indexes_of_tables_that_exist_are_built_while_work_goes_on() -> None:
    """Those up to 0020 were built under a lock."""
    for migration in ENGINE.migrations[20:]:
        built = set(re.findall(r"create (?:unique )?index (?!concurrently)\w+ on forebay\.(\w+)", migration.sql))
        assert built <= set(re.findall(r"create (?:unlogged )?table forebay\.(\w+)", migration.sql)), migration.name


async def test_a_migration_waits_briefly_for_locks_and_tries_again(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "_LOCK_PAUSE", 0)
    conn = await connect(dsn)
    await migrating.lock_schema(conn)
    assert await conn.fetchval("show lock_timeout") == "500ms"
    await conn.close()
    tries = 0

    async def call() -> int:
        nonlocal tries
        tries += 1
        if tries < needed:
            raise asyncpg.LockNotAvailableError("canceling statement due to lock timeout")
        return tries

    needed = 3
    assert await migrating._retry_while_locked(call) == 3
    tries, needed = 0, 1000
    with pytest.raises(asyncpg.LockNotAvailableError):
        await migrating._retry_while_locked(call)
    assert tries == migrating._LOCK_TRIES


async def test_a_statement_whose_columns_a_migration_changed_is_repeated(dsn: str) -> None:
    """In a transaction, the driver cannot prepare it again by itself."""
    conn = await connect(dsn, prepared=True)
    await conn.execute("create table changing (a int)")
    await conn.fetch("select * from changing")
    other = await connect(dsn)
    await other.execute("alter table changing add b int")
    errors: list[BaseException] = []

    async def call() -> list[asyncpg.Record]:
        async with conn.transaction():
            return await conn.fetch("select * from changing")

    assert await retry_until_up(call, lambda error, _pause: errors.append(error)) == []
    assert [type(error) for error in errors] == [asyncpg.InvalidCachedStatementError]
    await conn.close()
    await other.close()


@pytest.mark.parametrize(("part", "command"), [("engine", "migrate"), ("bookmarks", "migrate --service")])
async def test_an_older_part_says_what_to_run(dsn: str, part: str, command: str) -> None:
    conn = await connect(dsn)
    newest = _NEWEST[part]
    await conn.execute("delete from forebay.migration where part = $1 and version = $2", part, newest)
    told = f"^the schema part {part} has version {newest - 1}, this forebay needs {newest}: run `forebay {command}`$"
    with pytest.raises(SchemaError, match=told):
        await check(conn, all_parts())
    await conn.close()


async def test_no_database_says_what_to_check() -> None:
    with pytest.raises(DatabaseUnavailable, match="Check that PostgreSQL runs and that FOREBAY_DATABASE_URL is right"):
        await migrate("postgresql://nobody@127.0.0.1:1/nothing")


async def _greet_as_version_13(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What such a server says before it is asked anything: welcome, my version, go on."""
    (size,) = struct.unpack("!i", await reader.readexactly(4))
    await reader.readexactly(size - 4)
    for kind, body in ((b"R", bytes(4)), (b"S", b"server_version\0" + b"13.14\0"), (b"Z", b"I")):
        writer.write(kind + struct.pack("!i", len(body) + 4) + body)
    await reader.readexactly(5)  # good-bye
    writer.close()


async def test_a_server_that_is_too_old_is_told() -> None:
    server = await asyncio.start_server(_greet_as_version_13, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(SchemaError, match=r"^forebay needs PostgreSQL 14 or newer; this server is 13$"):
            await migrate(f"postgresql://ann@127.0.0.1:{port}/app?sslmode=disable")


async def test_what_others_built_upon_is_not_dropped(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conn = await connect(dsn)
    await conn.execute("drop function forebay.describe_lanes")
    await conn.execute("create function forebay.describe_lanes(lanes bigint[]) returns int language sql as 'select 1'")
    await conn.execute("create view public.mine as select * from forebay.jobs")
    monkeypatch.setattr(SchemaPart, "digest", "changed")
    with pytest.raises(SchemaError, match=r"view mine depends on view jobs; drop that, migrate, and create it again"):
        await migrate(dsn)
    assert await conn.fetchval("select count(*) from public.mine") == 0
    await conn.execute("drop view public.mine")
    assert await migrate(dsn) == 0
    await conn.close()


async def test_an_extension_that_the_server_does_not_have(bare_dsn: str) -> None:
    await migrate(bare_dsn)
    conn = await asyncpg.connect(bare_dsn)
    missing = Migration("sheets", 9999, "missing", "create extension if not exists pg_nothing schema public")
    with pytest.raises(
        SchemaError, match="migration 9999 of sheets needs an extension that comes with PostgreSQL, and"
    ) as told:
        await _apply(conn, missing)
    assert str(told.value).endswith(
        ": install postgresql-contrib there, or let an administrator run CREATE EXTENSION pg_nothing in this database"
    )
    with pytest.raises(SchemaError, match=r"9999_odd\.sql, line 1: access method"):  # what has another reason
        await _apply(conn, Migration("engine", 9999, "odd", "create index on forebay.job using hash (id, owner_id)"))
    await conn.close()


async def test_trigrams_are_found_wherever_they_are_installed(bare_dsn: str) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await conn.execute('create schema "Other Place"; create extension pg_trgm schema "Other Place"')
    await migrate(bare_dsn, service=True)
    await conn.execute("set search_path = pg_catalog")
    owner = await conn.fetchval("select forebay.owner_id('ann')")
    await conn.execute(
        "select forebay.put_product($1, 'c', 'k', null, null, null, array['kettle', 'blue'], '{}')", owner
    )
    found = await conn.fetch("select * from forebay.find_products($1, array['ketle', 'blue'], false, 5)", owner)
    assert [row["catalogue"] for row in found] == ["c"]
    await conn.close()


# Parts of others.


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaPart]:
    """A pipeline package of somebody else, with a table and a function."""
    folder = tmp_path / "their_notes" / "sql"
    (folder / "migrations").mkdir(parents=True)
    (folder / "routines").mkdir()
    (tmp_path / "their_notes" / "__init__.py").touch()
    (folder / "migrations" / "0001_note.sql").write_text(
        "create table forebay.note_of_owner (id bigint generated always as identity, owner_id bigint not null);"
    )
    (folder / "routines" / "ownership.sql").write_text("select forebay.own('note_of_owner');")
    (folder / "routines" / "count_notes.sql").write_text(
        "create or replace function forebay.count_notes() returns bigint language sql as"
        " 'select count(*) from forebay.note_of_owner';"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        schema_parts, "packages", lambda: (*packages(), PipelinePackage("notes", "their_notes", pipelines=("steps",)))
    )
    package_parts.cache_clear()
    yield SchemaPart("notes", "their_notes")
    package_parts.cache_clear()


async def test_a_part_of_somebody_else_stays_when_it_is_not_installed(
    dsn: str, notes: SchemaPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await migrate(dsn) == 1
    conn = await connect(dsn)
    assert (await versions_of(conn))["notes"] == 1
    await conn.execute("create function forebay.made_by_a_user() returns int language sql as 'select 7'")
    monkeypatch.setattr(schema_parts, "packages", packages)
    package_parts.cache_clear()
    await _remake_everything(conn)
    assert await migrate(dsn) == 0
    assert await conn.fetchval("select forebay.count_notes() + forebay.made_by_a_user()") == 7
    await conn.close()


async def test_a_part_loses_only_its_own_routines(dsn: str, notes: SchemaPart, monkeypatch: pytest.MonkeyPatch) -> None:
    await migrate(dsn)
    conn = await connect(dsn)
    before = {row[0] for row in await conn.fetch(_ALL_SIGNATURES)}
    assert notes.folder is not None
    (notes.folder / "routines" / "count_notes.sql").unlink()
    schema_parts._routine_files.cache_clear()
    await migrate(dsn)
    assert before - {row[0] for row in await conn.fetch(_ALL_SIGNATURES)} == {"count_notes()"}
    await conn.close()


async def test_rights_on_routines_that_are_made_anew_are_granted_again(dsn: str) -> None:
    """Those that other parts have granted on routines of the engine, and those that users have."""
    conn = await connect(dsn)
    await conn.execute(
        "grant select on forebay.jobs to forebay_api; grant execute on function forebay.recount to forebay_api"
    )
    before = schema_of(dsn)
    await _remake_everything(conn)
    assert schema_of(dsn) != before
    await migrate(dsn)
    assert schema_of(dsn) == before
    await conn.close()


async def test_the_engine_is_upgraded_without_the_service(dsn: str) -> None:
    conn = await connect(dsn)
    before = schema_of(dsn)
    await _remake_everything(conn)
    await conn.execute("update forebay.part set routines = 'of an earlier release'")
    assert await migrate(dsn, parts=[ENGINE]) == 0
    assert schema_of(dsn) == before  # rights of the service on the engine's routines included
    current = {part.name: await are_current(conn, part) for part in all_parts()}
    assert [name for name, is_current in current.items() if is_current] == ["engine"]
    await check(conn, all_parts())
    await conn.close()


async def _remake_everything(conn: Connection) -> None:
    """Make it impossible to replace one function of the engine in place, so that all are dropped and made."""
    await conn.execute("drop function forebay.describe_lanes")
    await conn.execute("create function forebay.describe_lanes(lanes bigint[]) returns int language sql as 'select 1'")
    await conn.execute("update forebay.part set routines = ''")


async def test_every_table_with_owners_is_protected(dsn: str, notes: SchemaPart) -> None:
    """In all parts that are installed; a table whose part does not declare it is named."""
    conn = await connect(dsn)
    assert await unprotected_tables(conn) == []
    await migrate(dsn)
    assert await unprotected_tables(conn) == []
    assert await conn.fetchval("select has_table_privilege('forebay_worker', 'forebay.note_of_owner', 'insert')")
    assert not await conn.fetchval("select has_table_privilege('forebay_identity', 'forebay.note_of_owner', 'select')")
    await conn.execute("create table forebay.forgotten (owner_id bigint)")
    assert await unprotected_tables(conn) == ["forgotten"]
    await conn.execute("select forebay.own('forgotten')")
    assert await unprotected_tables(conn) == []
    await conn.close()


async def test_a_table_with_owners_shows_them_only_their_own_rows(dsn: str, notes: SchemaPart) -> None:
    await migrate(dsn)
    conn = await connect(dsn)
    await conn.execute("insert into forebay.note_of_owner (owner_id) values (1), (1), (2)")
    counted = []
    for role, owner in (("forebay_api", "1"), ("forebay_api", ""), ("forebay_admin", ""), ("forebay_worker", "")):
        async with conn.transaction():
            await conn.execute("select set_config('forebay.owner_id', $1, true)", owner)
            await conn.execute("select set_config('role', $1, true)", role)
            counted.append(await conn.fetchval("select count(*) from forebay.note_of_owner"))
    assert counted == [2, 0, 3, 3]
    await conn.close()


def test_a_package_cannot_have_the_name_of_a_part_of_forebay(
    notes: SchemaPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_parts, "packages", lambda: (PipelinePackage("engine", notes.package),))
    package_parts.cache_clear()
    with pytest.raises(
        DefinitionError, match=r"^their_notes has the name 'engine', which forebay uses itself: rename it$"
    ):
        package_parts()


def test_what_pipelines_need(notes: SchemaPart) -> None:
    space: dict[str, Any] = {}
    exec("async def work(ctx: object, given: dict[str, str]) -> None: ...", space)
    pipeline: Pipeline[dict[str, str]] = Pipeline("made_by_exec", dict)
    pipeline.step()(space["work"])
    assert space["work"].__module__ is None
    assert parts_needed([pipeline]) == (ENGINE,)
    space["work"].__module__ = "their_notes.steps"
    assert parts_needed([pipeline]) == (ENGINE, *SERVICE, notes)


def test_what_code_needs(notes: SchemaPart) -> None:
    assert parts_for(["app.steps"]) == (ENGINE,)
    assert parts_for(["their_notes.steps"]) == (ENGINE, *SERVICE, notes)
    assert parts_for(["forebay.pipelines.bookmarks.steps"])[-1].name == "bookmarks"
    assert parts_for(["their_notes_too.steps"]) == (ENGINE,)
