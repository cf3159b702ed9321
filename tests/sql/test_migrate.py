"""Migrations: from every version up, twice, at once, and on servers that cannot."""

# demands: S1-26, S1-89, S5-12, S5-13, S5-53, S5-113

from __future__ import annotations

import asyncio
import struct

import asyncpg
import pytest

from forebay.db import migrate as migrating
from forebay.db.migrate import Migration, _apply, check, migrate, migrations
from forebay.db.pool import connect
from forebay.errors import DatabaseUnavailable, SchemaError


async def _tables(dsn: str) -> set[str]:
    conn = await asyncpg.connect(dsn)
    try:
        rows = await conn.fetch("select table_name from information_schema.tables where table_schema = 'forebay'")
        return {row[0] for row in rows}
    finally:
        await conn.close()


@pytest.mark.parametrize("version", [m.version for m in migrations()])
async def test_from_every_version(bare_dsn: str, version: int) -> None:
    assert await migrate(bare_dsn, upto=version) == version
    newest = migrations()[-1].version
    assert await migrate(bare_dsn) == newest - version
    assert {"job", "item", "attempt", "ready", "scheduled", "lease"} <= await _tables(bare_dsn)


async def test_again_changes_nothing(bare_dsn: str) -> None:
    await migrate(bare_dsn)
    assert await migrate(bare_dsn) == 0


async def test_many_at_once_take_turns(bare_dsn: str) -> None:
    done = await asyncio.gather(*(migrate(bare_dsn) for _ in range(4)))
    assert sorted(done) == [0, 0, 0, len(migrations())]


async def test_on_a_live_system(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are replaced while another session uses them in an open transaction."""
    conn = await asyncpg.connect(dsn)
    async with conn.transaction():
        await conn.fetch("select * from forebay.discover('{1}')")
        monkeypatch.setattr(migrating, "routines_digest", lambda: "changed")
        assert await migrate(dsn) == 0
    assert (
        await conn.fetchval("select obj_description('forebay'::regnamespace)") == "forebay routines changed for 4 roles"
    )
    await conn.close()


async def test_a_function_that_answers_something_else_is_made_anew(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conn = await connect(dsn)
    await conn.execute("drop function forebay.mark_busy; drop function forebay.discover")
    await conn.execute("create function forebay.discover(steps int[]) returns int language sql as 'select 1'")
    monkeypatch.setattr(migrating, "routines_digest", lambda: "changed")
    assert await migrate(dsn) == 0
    assert await conn.fetch("select * from forebay.discover('{1}')") == []
    assert await conn.fetchval("select count(*) from forebay.jobs") == 0
    await conn.close()


_OLD_SIGNATURES = """
create function forebay.delete_finished(
    now timestamptz default null, keep interval default '30 days', max_jobs int default 100, max_items int default 10000
) returns bigint language sql as 'select 7::bigint';
create function forebay.acting_owner(more int default 0) returns bigint language sql as 'select 7::bigint';
"""
_ALL_SIGNATURES = "select oid::regprocedure::text from pg_proc where pronamespace = 'forebay'::regnamespace order by 1"


async def test_functions_of_earlier_releases_leave_no_call_ambiguous(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those of workers (`delete_finished`), nor those of our own functions (`acting_owner`)."""
    conn = await connect(dsn)
    monkeypatch.setattr(migrating, "routines_digest", lambda: "changed")
    before = await conn.fetch(_ALL_SIGNATURES)
    await conn.execute(_OLD_SIGNATURES)
    with pytest.raises(asyncpg.AmbiguousFunctionError):
        await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval)")
    assert await migrate(dsn) == 0
    assert await conn.fetch(_ALL_SIGNATURES) == before
    assert await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval)") == 0
    assert await conn.fetchval("select forebay.delete_finished(now(), '1 day'::interval, 10, 10)") == 0
    await conn.close()


async def test_an_old_function_that_others_built_upon_is_not_dropped(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conn = await connect(dsn)
    monkeypatch.setattr(migrating, "routines_digest", lambda: "changed")
    await conn.execute("create function forebay.old(n int) returns int language sql as 'select 7'")
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


async def test_a_newer_schema_is_left_alone(dsn: str) -> None:
    conn = await connect(dsn)
    await conn.execute("insert into forebay.migration (version, name) values (9999, 'future')")
    await conn.close()
    newest = migrations()[-1].version
    with pytest.raises(
        SchemaError, match=f"^the schema has version 9999, this forebay knows {newest}: upgrade forebay$"
    ):
        await migrate(dsn)


async def test_an_older_schema_says_what_to_run(dsn: str) -> None:
    conn = await connect(dsn)
    newest = migrations()[-1].version
    await conn.execute("delete from forebay.migration where version = $1", newest)
    with pytest.raises(SchemaError, match=f"this forebay needs {newest}: run `forebay migrate`"):
        await check(conn)
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
    await conn.execute("drop function forebay.discover")
    await conn.execute("create function forebay.discover(steps int[]) returns int language sql as 'select 1'")
    await conn.execute("create view public.mine as select * from forebay.jobs")
    monkeypatch.setattr(migrating, "routines_digest", lambda: "changed")
    with pytest.raises(SchemaError, match=r"view mine depends on view jobs; drop that, migrate, and make it anew"):
        await migrate(dsn)
    assert await conn.fetchval("select count(*) from public.mine") == 0
    await conn.execute("drop view public.mine")
    assert await migrate(dsn) == 0
    await conn.close()


async def test_an_extension_that_the_server_does_not_have(bare_dsn: str) -> None:
    await migrate(bare_dsn)
    conn = await asyncpg.connect(bare_dsn)
    missing = Migration(9999, "missing", "create extension if not exists pg_nothing schema public")
    with pytest.raises(SchemaError, match="migration 9999 needs an extension that comes with PostgreSQL, and") as told:
        await _apply(conn, missing)
    assert str(told.value).endswith(
        "install postgresql-contrib there, or let an administrator run CREATE EXTENSION pg_trgm in this database"
    )
    with pytest.raises(asyncpg.FeatureNotSupportedError):  # what has another reason is told as it is
        await _apply(conn, Migration(9999, "odd", "create index on forebay.job using hash (id, owner_id)"))
    await conn.close()


async def test_trigrams_are_found_wherever_they_are_installed(bare_dsn: str) -> None:
    conn = await asyncpg.connect(bare_dsn)
    await conn.execute('create schema "Other Place"; create extension pg_trgm schema "Other Place"')
    await migrate(bare_dsn)
    await conn.execute("set search_path = pg_catalog")
    owner = await conn.fetchval("select forebay.owner_id('ann')")
    await conn.execute(
        "select forebay.put_product($1, 'c', 'k', null, null, null, array['kettle', 'blue'], '{}')", owner
    )
    found = await conn.fetch("select * from forebay.find_products($1, array['ketle', 'blue'], false, 5)", owner)
    assert [row["catalogue"] for row in found] == ["c"]
    await conn.close()
