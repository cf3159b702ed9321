"""`forebay migrate` on an empty database, on a current one, and on one that is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.migrate import migrations
from tests.cli._run import Cli, ask

if TYPE_CHECKING:
    from pathlib import Path


def test_an_empty_database_gets_the_schema_once(tmp_path: Path, bare_dsn: str) -> None:
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn)
    newest = migrations()[-1].version
    first = cli.run("migrate")
    assert first.code == 0, first.err
    assert f"{len(migrations())} migration" in first.out
    assert ask(bare_dsn, "select max(version) from forebay.migration") == newest
    assert "nothing to do" in cli.run("migrate").out
    assert cli.run("migrate", "--json").json == {"applied": 0, "version": newest}


def test_a_newer_schema_is_left_alone(cli: Cli, dsn: str) -> None:
    ask(dsn, "insert into forebay.migration (version, name) values (9999, 'later') returning 1")
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
