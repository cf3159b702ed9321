"""Functions, views and triggers belong to one schema part: they can move, and nobody replaces those of another one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.db.migrate import migrate
from forebay.errors import SchemaError
from tests._packages import Installed, installed

MANIFEST = """
from forebay.packages import PipelinePackage
package = PipelinePackage("{name}", __name__)
"""
COUNT = "create or replace function forebay.count_memos() returns {kind} language sql as 'select 7::{kind}';"
VIEW = "create or replace view forebay.memo_totals as select 7 as total;"
TRIGGER = """
create or replace function forebay.{part}_seen() returns trigger language plpgsql as 'begin return new; end';
create or replace trigger seen after insert on forebay.{table} for each row execute function forebay.{part}_seen();
"""


@pytest.fixture(name="installed")
def _installed(tmp_path: Path) -> Iterator[Installed]:
    """Two packages, of which `early` is migrated first."""
    with installed(tmp_path) as found:
        for name in ("early", "memos"):
            table = f"create table forebay.{name}_row (id int);"
            found.add(name, {"__init__.py": MANIFEST.format(name=name), "sql/migrations/0001_row.sql": table})
        yield found


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    yield conn
    await conn.close()


async def owner_of(conn: asyncpg.Connection[Any], identity: str) -> str | None:
    owner: str | None = await conn.fetchval("select part from forebay.part_routine where identity = $1", identity)
    return owner


async def test_a_routine_may_move_to_an_earlier_part(
    dsn: str, conn: asyncpg.Connection[Any], installed: Installed
) -> None:
    """That part has made it when the one that had it finds it gone from its files."""
    trigger = TRIGGER.format(part="moved", table="memos_row")
    installed.change(
        "memos",
        {
            "sql/routines/count_memos.sql": COUNT.format(kind="int"),
            "sql/routines/memo_totals.sql": VIEW,
            "sql/routines/seen.sql": trigger,
        },
    )
    await migrate(dsn)
    assert await owner_of(conn, "forebay.count_memos()") == "memos"
    installed.change(
        "memos",
        {"sql/routines/count_memos.sql": None, "sql/routines/memo_totals.sql": None, "sql/routines/seen.sql": None},
    )
    installed.change(
        "early",
        {
            "sql/routines/count_memos.sql": COUNT.format(kind="bigint"),  # made anew: its type is another one
            "sql/routines/memo_totals.sql": VIEW,
            "sql/routines/seen.sql": trigger,
        },
    )
    await migrate(dsn)
    assert await conn.fetchval("select forebay.count_memos() + total from forebay.memo_totals") == 14
    moved = ("forebay.count_memos()", "forebay.memo_totals", "seen on forebay.memos_row")
    assert [await owner_of(conn, each) for each in moved] == ["early"] * 3
    assert await conn.fetchval("select count(*) from pg_trigger where tgname = 'seen'") == 1
    assert await migrate(dsn) == 0
    installed.change("early", {"sql/routines/count_memos.sql": None})
    installed.change("memos", {"sql/routines/count_memos.sql": COUNT.format(kind="int")})  # and back
    await migrate(dsn)
    assert await owner_of(conn, "forebay.count_memos()") == "memos"
    assert await conn.fetchval("select forebay.count_memos()") == 7


async def test_a_package_cannot_replace_a_function_of_the_engine(
    dsn: str, conn: asyncpg.Connection[Any], installed: Installed
) -> None:
    before = await conn.fetchval("select prosrc from pg_proc where oid = 'forebay.recount'::regproc")
    said = (
        "the function forebay.recount() belongs to the schema part engine (forebay.engine), and memos (memos) declares "
        "one of that name, too: rename it in one of them, or uninstall one of them"
    )
    for arguments in ("", "n int"):
        function = f"create or replace function forebay.recount({arguments}) returns void language sql as '';"
        installed.change("memos", {"sql/routines/recount.sql": function})
        with pytest.raises(SchemaError, match=f"^{re.escape(said)}$"):
            await migrate(dsn)
    assert await conn.fetchval("select prosrc from pg_proc where oid = 'forebay.recount'::regproc") == before


async def test_two_packages_cannot_have_the_same_function(
    dsn: str, conn: asyncpg.Connection[Any], installed: Installed
) -> None:
    for name in ("early", "memos"):
        installed.change(name, {"sql/routines/count_memos.sql": COUNT.format(kind="int")})
    with pytest.raises(SchemaError, match=r"belongs to the schema part early \(early\), and memos \(memos\) declares"):
        await migrate(dsn)
    assert await owner_of(conn, "forebay.count_memos()") == "early"


async def test_what_a_package_has_left_behind_is_not_taken_over(dsn: str, installed: Installed) -> None:
    installed.change("early", {"sql/routines/count_memos.sql": COUNT.format(kind="int")})
    await migrate(dsn)
    installed.remove("early")
    installed.change("memos", {"sql/routines/count_memos.sql": COUNT.format(kind="int")})
    said = (
        "the function forebay.count_memos() belongs to the schema part early, which is not installed, and memos "
        "declares one of that name: install early again, or run `forebay migrate --remove early`"
    )
    with pytest.raises(SchemaError, match=f"^{re.escape(said)}$"):
        await migrate(dsn)


_SLY = """
do $$ begin
    execute 'create or replace view forebay.totals as ' || rtrim(pg_get_viewdef('forebay.totals'), ';') || ' limit 1';
end $$
"""


@pytest.mark.parametrize("statement", [_SLY, "drop view forebay.totals"])
@pytest.mark.parametrize("file", ["routines/sly.sql", "migrations/0002_sly.sql"])
async def test_statements_that_change_what_others_have_are_refused(
    dsn: str, conn: asyncpg.Connection[Any], installed: Installed, statement: str, file: str
) -> None:
    before = await conn.fetchval("select pg_get_viewdef('forebay.totals')")
    installed.change("memos", {f"sql/{file}": statement})
    said = (
        "memos changes the view forebay.totals, which belongs to the schema part engine: a part may replace and drop "
        "its own routines only"
    )
    with pytest.raises(SchemaError, match=f"^{re.escape(said)}$"):
        await migrate(dsn)
    assert await conn.fetchval("select pg_get_viewdef('forebay.totals')") == before


async def test_rights_may_be_granted_on_what_others_have(dsn: str, installed: Installed) -> None:
    grant = "grant select on forebay.totals to public; grant execute on function forebay.recount to forebay_worker;"
    installed.change("memos", {"sql/routines/rights.sql": grant})
    await migrate(dsn)


async def test_triggers_of_one_name_on_different_tables_are_different(
    dsn: str, conn: asyncpg.Connection[Any], installed: Installed
) -> None:
    for name in ("early", "memos"):
        installed.change(name, {"sql/routines/seen.sql": TRIGGER.format(part=name, table=f"{name}_row")})
    await migrate(dsn)
    assert await conn.fetchval("select count(*) from pg_trigger where tgname = 'seen'") == 2
