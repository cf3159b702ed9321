"""`forebay migrate` on an empty database, on a current one, and on one that is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.schema_parts import ENGINE, all_parts
from tests.cli._run import Cli, ask

if TYPE_CHECKING:
    from pathlib import Path


def test_an_empty_database_gets_the_engine_and_on_request_the_service(tmp_path: Path, bare_dsn: str) -> None:
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn)
    first = cli.run("migrate")
    assert first.code == 0, first.err
    assert f"{len(ENGINE.migrations)} migrations applied, the schema has engine {ENGINE.newest}\n" in first.out
    assert ask(bare_dsn, "select max(version) from forebay.migration") == ENGINE.newest
    assert "nothing to do" in cli.run("migrate").out
    assert ask(bare_dsn, "select to_regclass('forebay.account')") is None
    versions = {part.name: part.newest for part in all_parts()}
    assert cli.run("migrate", "--service", "--json").json == {
        "applied": sum(len(part.migrations) for part in all_parts()) - len(ENGINE.migrations),
        "versions": versions,
    }
    assert cli.run("migrate", "--json").json == {"applied": 0, "versions": versions}  # now it is kept up to date


def test_a_newer_schema_is_left_alone(cli: Cli, dsn: str) -> None:
    ask(dsn, "insert into forebay.migration (part, version, name) values ('api', 9999, 'later') returning 1")
    refused = cli.run("migrate")
    assert refused.code == 4
    assert "upgrade forebay" in refused.err


def test_pipelines_can_be_registered_before_a_worker_starts(tmp_path: Path, bare_dsn: str) -> None:
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn)
    made = cli.run("migrate", "--pipelines", "forebay.example")
    assert made.code == 0, made.err
    names = made.out.splitlines()[-1].removeprefix("registered: ").split(", ")
    assert cli.run("migrate", "--json", "--pipelines", "forebay.example").json["pipelines"] == names
    known = ask(bare_dsn, "select string_agg(name, ', ' order by name) from forebay.pipeline")
    assert known == ", ".join(names)
    refused = cli.run("migrate", "--pipelines", "nowhere_at_all")
    assert (refused.code, "nowhere_at_all" in refused.err) == (1, True)
