"""The command line as a whole: help, exit codes, and errors that are one line and tell no secrets."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

import click
import pytest

import forebay.cli
from forebay.cli import cli, commands
from forebay.cli._help import help_text
from tests.cli._run import Cli

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = tuple(commands())
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


@pytest.mark.parametrize("width", [50, 62, 78])
def test_help_is_laid_out_as_click_does_it(width: int) -> None:
    """`forebay --help` imports no click; the help of all other commands comes from it."""

    class Plain(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(COMMANDS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return click.Command(cmd_name, short_help=commands()[cmd_name].summary)

    plain = Plain("forebay", params=cli.params, help=cli.help)
    for shown in (plain, cli):
        ctx = click.Context(shown, info_name="forebay", terminal_width=width, help_option_names=["-h", "--help"])
        assert shown.get_help(ctx) + "\n" == help_text("forebay", width)


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'forebay.cli' has no attribute 'nothing'"):
        _ = forebay.cli.nothing


def test_help_says_what_each_command_says_of_itself() -> None:
    ctx = click.Context(cli, info_name="forebay")
    said = {name: (cli.get_command(ctx, name) or cli).help or "" for name in COMMANDS}
    assert {name: text.split("\n")[0] for name, text in said.items()} == {
        name: command.summary for name, command in commands().items()
    }


def test_no_summary_is_cut_at_80_columns() -> None:
    ctx = click.Context(cli, info_name="forebay", terminal_width=80)
    for name in COMMANDS:
        command = cli.get_command(ctx, name)
        if isinstance(command, click.Group):
            shown = command.get_help(click.Context(command, info_name=name, parent=ctx, terminal_width=80))
            assert "..." not in shown.partition("Commands:")[2], shown


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["wroker"], "There is no command 'wroker'. Did you mean worker?"),
        (["users", "lsit"], "There is no command 'lsit'. Did you mean list"),
        (["tokens", "create"], "There is no command 'create'. Did you mean add?"),
        (["find"], "There is no command 'find'. Did you mean search?"),
        (["bookmarks", "find"], "There is no command 'find'. Did you mean search?"),
        (["xyzzy"], "There is no command 'xyzzy'.\n"),
        (["jobs", "--onwer", "ann"], "--owner"),
        (["job", "abc"], "Invalid value for 'ID': 'abc' is not a whole number."),
        (["job", "0"], "Invalid value for 'ID': 0 is not allowed: it must be at least 1."),
        (["worker", "--processes", "1000"], "1000 is not allowed: it must be between 1 and 256."),
        (["top", "--interval", "fast"], "'fast' is not a number."),
    ],
)
def test_a_slip_of_the_keyboard_is_answered_in_plain_words(bare: Cli, wrong: list[str], words: str) -> None:
    refused = bare.run(*wrong)
    assert refused.code == 2
    assert words in refused.err


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
    place = bare.folder / "data"
    assert failed.err == (
        f"forebay: there is no database in {place} yet: start one with `forebay up`, or set FOREBAY_DATABASE_URL\n"
    )


def test_a_database_that_refuses_is_told_in_its_words(bare: Cli, dsn: str) -> None:
    refused = bare.run("jobs", FOREBAY_DATABASE_URL=f"{dsn}?role=pg_monitor")  # who has no rights here
    assert refused.code == 1
    assert refused.err == "forebay: the database rejected the statement: permission denied for schema forebay\n"


@pytest.mark.parametrize("command", [*LOOKING, ["worker"], ["submit", "notes", '{"body": "x"}']])
def test_a_missing_schema_says_what_to_run(tmp_path: Path, bare_dsn: str, command: list[str]) -> None:
    failed = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn).run(*command)
    assert failed.code == 4
    assert "`forebay migrate`" in failed.err


def test_a_wrong_setting_is_named(bare: Cli) -> None:
    wrong = bare.run("jobs", FOREBAY_POOL_SIZE="many")
    assert wrong.code == 2
    assert wrong.err == "forebay: FOREBAY_POOL_SIZE: must be a whole number; it is 'many'\n"
    for variable, value, reason in (
        ("POOL_SIZE", "1", "must be at least 2; it is '1'"),
        ("API_PORT", "70000", "must be at most 65535; it is '70000'"),
        ("LISTEN", "perhaps", "must be true or false; it is 'perhaps'"),
        ("POLL_S", "0", "must be more than 0; it is '0'"),
        ("SIGNING_KEY", "hunter2", "must have at least 32 characters"),
        ("LOG_LEVEL", "loud", "must be one of debug, info, warning, error; it is 'loud'"),
    ):
        assert bare.run("jobs", **{f"FOREBAY_{variable}": value}).err == f"forebay: FOREBAY_{variable}: {reason}\n"


def test_a_traceback_is_shown_only_when_debugging(bare: Cli) -> None:
    assert "Traceback" not in bare.run("jobs", FOREBAY_DATABASE_URL=NOWHERE).err
    assert "Traceback" in bare.run("jobs", FOREBAY_DATABASE_URL=NOWHERE, FOREBAY_LOG_LEVEL="debug").err
