"""The command line as a whole: help, exit codes, and errors that are one line and tell no secrets."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from forebay.cli import _COMMANDS  # pyright: ignore[reportPrivateUsage]
from tests.cli._run import Cli

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = tuple(_COMMANDS)
NOWHERE = "postgresql://ann:hunter2@127.0.0.1:1/app"


@pytest.fixture
def bare(tmp_path: Path) -> Cli:
    """Without a database."""
    return Cli(tmp_path)


def test_version(bare: Cli) -> None:
    assert bare.run("--version").out == f"forebay {metadata.version('forebay')}\n"


def test_help_names_every_command(bare: Cli) -> None:
    shown = bare.run("--help")
    assert shown.code == 0
    for command in COMMANDS:
        assert f"  {command} " in shown.out
        assert bare.run(command, "--help").code == 0


def test_a_wrong_command_is_a_usage_error(bare: Cli) -> None:
    wrong = bare.run("wroker")
    assert wrong.code == 2
    assert "No such command 'wroker'" in wrong.err


LOOKING = [
    ["jobs"],
    ["job", "1"],
    ["top", "--once"],
    ["users", "list"],
    ["tokens", "list"],
    ["export", "1"],
    ["retry", "1"],
]


@pytest.mark.parametrize("command", [*LOOKING, ["migrate"], ["submit", "notes", "{}"]])
def test_an_unreachable_database_is_one_line_without_the_password(bare: Cli, command: list[str]) -> None:
    failed = bare.run(*command, FOREBAY_DATABASE_URL=NOWHERE)
    assert failed.code == 3
    assert failed.err.startswith("forebay: cannot use the database")
    assert failed.err.count("\n") == 1
    assert "hunter2" not in failed.err + failed.out


def test_without_any_database_it_says_how_to_get_one(bare: Cli) -> None:
    failed = bare.run("jobs")
    assert failed.code == 3
    assert failed.err == (
        "forebay: there is no database in data yet: start one with `forebay up`, or set FOREBAY_DATABASE_URL\n"
    )


def test_a_database_that_refuses_is_told_in_its_words(bare: Cli, dsn: str) -> None:
    refused = bare.run("jobs", FOREBAY_DATABASE_URL=f"{dsn}?role=pg_monitor")  # who has no rights here
    assert refused.code == 1
    assert refused.err == "forebay: the database refused: permission denied for schema forebay\n"


@pytest.mark.parametrize("command", [*LOOKING, ["worker"], ["submit", "notes", '{"body": "x"}']])
def test_a_missing_schema_says_what_to_run(tmp_path: Path, bare_dsn: str, command: list[str]) -> None:
    failed = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn).run(*command)
    assert failed.code == 4
    assert "`forebay migrate`" in failed.err


def test_a_wrong_setting_is_named(bare: Cli) -> None:
    wrong = bare.run("jobs", FOREBAY_POOL_SIZE="many")
    assert wrong.code == 2
    assert wrong.err.startswith("forebay: FOREBAY_POOL_SIZE: ")
    assert bare.run("jobs", FOREBAY_LOG_LEVEL="loud").err.startswith("forebay: FOREBAY_LOG_LEVEL: ")


def test_a_traceback_is_shown_only_when_debugging(bare: Cli) -> None:
    assert "Traceback" not in bare.run("jobs", FOREBAY_DATABASE_URL=NOWHERE).err
    assert "Traceback" in bare.run("jobs", FOREBAY_DATABASE_URL=NOWHERE, FOREBAY_LOG_LEVEL="debug").err
