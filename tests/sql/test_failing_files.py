"""SQL files of packages that cannot be run: the error names the part, the file and the line, and what to do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.cli.worker import wait_for_database
from forebay.db.migrate import check, ensure_service, migrate, versions_of
from forebay.db.pool import connect
from forebay.db.schema_parts import SchemaPart, all_parts
from forebay.db.sql_files import split_statements
from forebay.engine.declare.loading import load_pipelines
from forebay.errors import DefinitionError, SchemaError
from forebay.packages import failures
from forebay.settings import Settings
from tests._packages import Installed, installed

MANIFEST = """
from forebay.packages import PipelinePackage
package = PipelinePackage("memos", __name__)
"""
FINE = "create table forebay.memo (id int);"


@pytest.fixture(name="installed")
def _installed(tmp_path: Path) -> Iterator[Installed]:
    with installed(tmp_path) as found:
        found.add("memos", {"__init__.py": MANIFEST, "sql/migrations/0001_memo.sql": FINE})
        yield found


@pytest.mark.parametrize(
    ("file", "text", "where"),
    [
        ("migrations/0002_more.sql", "create table forebay.more (id int);\n\ncreate tabel x ();\n", ", line 3: syntax"),
        # The server names no place: it has understood the statement.
        ("migrations/0002_more.sql", f"-- More of it;\ncreate table a ();\n-- again\n{FINE}", ", line 4: relation"),
        ("migrations/0002_more.sql", "do $$ begin\n  perform 1;\n  perform 1/0;\nend $$", ", line 1: division by zero"),
        (
            "routines/b.sql",
            "select 1;\nselect forebay.nowhere()",
            ", line 2: function forebay.nowhere() does not exist",
        ),
        ("routines/b.sql", "select 1;\n\n\nselect 1 / count(*) from forebay.memo;", ", line 4: division by zero"),
    ],
)
async def test_a_file_that_fails_is_named(dsn: str, installed: Installed, file: str, text: str, where: str) -> None:
    installed.change("memos", {"sql/routines/a.sql": "select 1;\nselect 2;", f"sql/{file}": text})
    with pytest.raises(SchemaError) as failed:
        await migrate(dsn)
    said = str(failed.value)
    assert said.startswith(f"the schema part memos cannot be migrated: {file}{where}"), said
    fix = "fix or upgrade the package that has memos, and run `forebay migrate` again"
    assert said.endswith(f". Nothing of it was applied: {fix}"), said
    conn = await connect(dsn)
    assert (await versions_of(conn)).get("memos") == 1
    assert await conn.fetchval("select to_regclass('forebay.more')") is None
    await conn.close()
    installed.change("memos", {f"sql/{file}": "select 1"})
    await migrate(dsn)


async def test_a_failure_outside_of_a_transaction_is_named(dsn: str, installed: Installed) -> None:
    text = (
        "-- outside a transaction: slow\ncreate index memo_id on forebay.memo (id);\n\ncreate index on forebay.memo (x)"
    )
    installed.change("memos", {"sql/migrations/0002_index.sql": text})
    with pytest.raises(SchemaError) as failed:
        await migrate(dsn)
    where = 'migrations/0002_index.sql, line 4: column "x" does not exist'
    assert str(failed.value) == (
        f"the schema part memos cannot be migrated: {where}. The statements before it were applied, and will be "
        "repeated: fix or upgrade the package that has memos, and run `forebay migrate` again"
    )


NOTICES = {
    "__init__.py": MANIFEST.replace("memos", "notices").replace("__name__", '__name__, pipelines=("steps",)'),
    "steps.py": "from forebay import Pipeline\nnotices = Pipeline('notices', dict)\n"
    "@notices.step()\ndef read(ctx, given: dict) -> int: return 1\n",
    "sql/migrations/0001_notice.sql": "create table forebay.notice (id int);",
}


@pytest.mark.parametrize(
    ("file", "said"),
    [("0002_more.sql", "the schema part memos cannot be migrated"), ("more.sql", "names of migrations")],
)
async def test_other_packages_are_migrated_when_one_fails(dsn: str, installed: Installed, file: str, said: str) -> None:
    installed.change("memos", {f"sql/migrations/{file}": "-- outside a transaction: slow\nselect 1 / 0"})
    installed.add("notices", NOTICES)
    with pytest.raises((SchemaError, DefinitionError), match=said):
        await migrate(dsn)
    conn = await connect(dsn)
    assert (await versions_of(conn))["notices"] == 1
    await conn.close()


async def test_the_service_goes_on_without_a_package_that_cannot_be_migrated(dsn: str, installed: Installed) -> None:
    installed.change("memos", {"sql/migrations/0002_more.sql": "select 1 / 0"})
    installed.add("notices", NOTICES)
    assert await ensure_service(dsn) == 1  # that of notices
    assert [(each.distribution, "division by zero" in each.reason) for each in failures()] == [("memos", True)]
    assert [part.name for part in all_parts()][-1] == "notices"
    assert await ensure_service(dsn) == 0


async def test_a_process_that_may_not_migrate_goes_on_without_a_package_that_is_not_migrated(
    dsn: str, installed: Installed
) -> None:
    """Workers and the API have accounts that do not own the schema."""
    installed.add("notices", NOTICES)
    settings, stop = Settings(), asyncio.Event()
    loaded = load_pipelines(settings.pipeline_modules)
    assert "notices" in {pipeline.name for pipeline in loaded}
    usable = await wait_for_database(dsn, settings, loaded, stop)
    assert usable is not None
    assert {pipeline.name for pipeline in loaded} - {pipeline.name for pipeline in usable} == {"notices"}
    assert [each.reason for each in failures() if each.distribution == "notices"] == [
        "SchemaError: the database has no schema part notices yet: run `forebay migrate --service`"
    ]


async def test_a_worker_runs_the_pipelines_that_it_is_given(dsn: str) -> None:
    """Also those that no setting names, as a program that embeds a worker declares them."""
    own: Pipeline[dict[str, object]] = Pipeline("own", dict)
    own.step()(look)
    assert await wait_for_database(dsn, Settings(), [own], asyncio.Event()) == [own]


async def test_a_worker_without_a_usable_package_says_so(dsn: str, installed: Installed) -> None:
    installed.add("notices", NOTICES)
    settings = Settings()
    notices = [each for each in load_pipelines(settings.pipeline_modules) if each.name == "notices"]
    with pytest.raises(DefinitionError) as failed:
        await wait_for_database(dsn, settings, notices, asyncio.Event())
    assert str(failed.value) == "there are no pipelines to run: none of their packages can be used"


async def look(_: Context, value: dict[str, object]) -> object:
    return value


async def test_a_worker_of_a_named_package_needs_its_tables(dsn: str, installed: Installed) -> None:
    installed.add("notices", NOTICES)
    settings = Settings(pipelines="notices.steps")
    loaded = load_pipelines(settings.pipeline_modules)
    with pytest.raises(SchemaError, match="the database has no schema part notices yet"):
        await wait_for_database(dsn, settings, loaded, asyncio.Event())


@pytest.mark.parametrize("name", ["more.sql", "0000_more.sql", "2_more.sql", "0002.sql", "0002 more.sql"])
def test_a_migration_without_a_number_is_named(installed: Installed, name: str) -> None:
    installed.change("memos", {f"sql/migrations/{name}": "select 1"})
    said = f"memos, sql/migrations/{name}: the names of migrations are NNNN_name.sql, from 0001 on"
    with pytest.raises(DefinitionError, match=f"^{re.escape(said)}$"):
        _ = SchemaPart("memos", "memos").migrations


def test_two_migrations_with_one_number_are_named(installed: Installed) -> None:
    installed.change("memos", {"sql/migrations/0001_other.sql": "select 1"})
    said = "memos, sql/migrations/0001_other.sql: migrations/0001_memo.sql has that number already: rename one"
    with pytest.raises(DefinitionError, match=f"^{re.escape(said)}$"):
        _ = SchemaPart("memos", "memos").migrations


async def test_a_part_may_have_routines_only(dsn: str, installed: Installed) -> None:
    """Whoever may read the versions sees that it is there."""
    files = {
        "sql/migrations/0001_memo.sql": None,
        "sql/routines/seven.sql": "create view forebay.seven as select 7 as n",
    }
    installed.change("memos", files)
    conn = await connect(dsn)
    with pytest.raises(SchemaError, match="the database has no schema part memos yet"):
        await check(conn, all_parts())
    assert await migrate(dsn) == 0
    async with conn.transaction():
        await conn.execute("set local role forebay_worker")
        await check(conn, all_parts())
        assert (await versions_of(conn))["memos"] == 0
    installed.change("memos", {"sql/migrations/0001_memo.sql": FINE})
    with pytest.raises(SchemaError, match="the schema part memos has version 0, this forebay needs 1"):
        await check(conn, all_parts())
    assert await migrate(dsn) == 1
    await check(conn, all_parts())
    await conn.close()


def test_statements_are_split_where_they_end() -> None:
    statements = [
        "select ';', \"a;b\", e'\\';'",
        "do $$ begin perform 1; end $$",
        "do $do$ begin execute $$ select 1; $$; end $do$",
        "select 1 -- ;\n, 2 /* ; */",
        "create function f() returns int begin atomic select case when true then 1 end; select 2; end",
    ]
    text = "-- First;\n" + ";\n\n".join(statements) + ";\n-- last;\n"
    split = list(split_statements(text))
    assert [statement for _, statement in split] == statements
    assert [text[start:].startswith(statement) for start, statement in split] == [True] * len(statements)


async def test_statements_of_every_routine_are_those_of_the_server(bare_dsn: str) -> None:
    """The server takes each of them as one: by the extended protocol it refuses several."""
    conn = await asyncpg.connect(bare_dsn)
    files = [file for part in all_parts() for file in part.routine_files]
    statements = [statement for file in files for _, statement in split_statements(file.text)]
    assert len(statements) > len(files) > 150
    refused = [statement for statement in statements if isinstance(await _refused(conn, statement), _NOT_ONE)]
    assert refused == []
    await conn.close()


_NOT_ONE = asyncpg.PostgresSyntaxError  # which "cannot insert multiple commands into a prepared statement" is


async def _refused(conn: asyncpg.Connection[Any], statement: str) -> asyncpg.PostgresError | None:
    try:
        await conn.prepare(statement)
    except asyncpg.PostgresError as error:
        return error
    return None
