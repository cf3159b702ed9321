"""The command line: each command is a file of its own, imported only when it is used.

Exit codes: 0 all is well, 1 something failed, 2 the request was wrong, 3 no database, 4 its schema does not fit,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module, metadata
from pathlib import Path
from typing import NoReturn, cast

import click

from forebay.errors import DatabaseUnavailable, ForebayError, RequestError, SchemaError

_COMMANDS = {
    "up": "up",
    "api": "api",
    "worker": "worker",
    "migrate": "migrate",
    "submit": "submit",
    "ingest": "ingest",
    "jobs": "jobs",
    "job": "jobs",
    "retry": "control",
    "pause": "control",
    "resume": "control",
    "cancel": "control",
    "export": "export",
    "catalogue": "catalogue",
    "storage": "storage",
    "top": "top",
    "doctor": "doctor",
    "users": "users",
    "tokens": "tokens",
    "config": "config",
    "completion": "completion",
}
_EXIT_CODES: tuple[tuple[type[ForebayError], int], ...] = (
    (RequestError, 2),
    (DatabaseUnavailable, 3),
    (SchemaError, 4),
    (ForebayError, 1),
)
_INTERRUPTED = 130


class _Commands(click.Group):
    """Finds commands by the names of their files, in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"forebay.cli.{_COMMANDS[cmd_name]}"), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 - a file without its command is our own mistake
        return command


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"forebay {metadata.version('forebay')}")
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """Save first, answer at once, process later, lose nothing, and show everything.

    Settings come from FOREBAY_… variables and from .env. Without FOREBAY_DATABASE_URL the commands use the
    PostgreSQL that `forebay up` runs in FOREBAY_DATA_DIR.
    """


def main() -> NoReturn:
    """Run the command line and end the process."""
    try:
        _run()
    except SystemExit as end:
        if "obstore" not in sys.modules or not isinstance(end.code, int):
            raise
        # Its threads may still be at it, and abort a process that they find half gone.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(end.code)


def _run() -> NoReturn:
    try:
        answer: object = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(_INTERRUPTED)
    except Exception as error:
        _raise_when_debugging()
        cause = _first(error)
        _tell(cause)
        sys.exit(exit_code(cause))
    sys.exit(answer if isinstance(answer, int) else 0)


def exit_code(error: Exception) -> int:
    """What the shell is told about an error."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)


def _first(error: Exception) -> Exception:
    """The error itself, where several tasks were stopped by one."""
    while isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        error = group.exceptions[0]
    return error


def _tell(error: Exception) -> None:
    if isinstance(error, ForebayError):
        click.echo(f"forebay: {error}", err=True)
        return
    what = " ".join(f"{type(error).__name__}: {error}".split())
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    click.echo(f"forebay: unexpected {what} (at {where}; FOREBAY_LOG_LEVEL=debug shows all)", err=True)


def _raise_when_debugging() -> None:
    if os.environ.get("FOREBAY_LOG_LEVEL", "").lower() == "debug":
        raise  # noqa: PLE0704 - called while the error is handled
