"""The command line: one file per command, imported only when it is used.

Exit codes: 0 success, 1 failure, 2 invalid request, 3 no database, 4 incompatible schema, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from forebay.cli._group import Group
from forebay.packages import Command, failures, leave_out, packages

if TYPE_CHECKING:
    from forebay.errors import ForebayError
    from forebay.packages import PipelinePackage

# The file of each command and its line in `forebay --help`, which imports none of them. Commands of pipelines come
# after `submit`, near the top.
_OWN_COMMANDS = {
    "up": ("up", "Start PostgreSQL, the API and workers."),
    "api": ("api", "Serve the API."),
    "worker": ("worker", "Run the steps of pipelines."),
    "migrate": ("migrate", "Bring the database's schema up to date; safe while workers run."),
    "submit": ("submit", "Submit a job."),
    "pipelines": ("pipelines", "List pipelines and their versions."),
    "jobs": ("jobs", "List the newest jobs."),
    "job": ("jobs", "Show one job: counts, results, failures."),
    "retry": ("control", "Run failed items of a job again."),
    "pause": ("control", "Pause a job or a queue."),
    "resume": ("control", "Resume a paused job or queue."),
    "cancel": ("control", "Cancel a job."),
    "export": ("export", "Write a job's items to a file."),
    "storage": ("storage", "Show, check and clean stored files."),
    "backup": ("backup", "Write the database to a file."),
    "restore": ("backup", "Read a backup into the database."),
    "top": ("top", "Watch jobs, queues and workers live."),
    "doctor": ("doctor", "Check the installation."),
    "users": ("users", "Manage users and their limits."),
    "tokens": ("tokens", "Create and revoke API tokens."),
    "config": ("config", "Show every setting."),
    "completion": ("completion", "Print a shell's completion script."),
}
_INTERRUPTED = 130


def _own_commands() -> dict[str, Command]:
    return {name: Command(f"forebay.cli.{file}", summary) for name, (file, summary) in _OWN_COMMANDS.items()}


@cache
def commands() -> dict[str, Command]:
    """Every command, in the order in which people meet them. A package with a command of forebay's own is left out."""
    own = _own_commands()
    others: dict[str, Command] = {}
    for package in packages():
        for name in package.commands.keys() & own.keys():
            leave_out(package, _taken(package, name))
            break
        else:
            for name, command in package.commands.items():
                others[name] = Command(f"{package.module}.{command.module}", command.summary)
    first = [*own][: [*own].index("submit") + 1]
    return {name: own[name] for name in first} | others | own


def _taken(package: PipelinePackage, name: str) -> Exception:
    from forebay.errors import DefinitionError  # noqa: PLC0415 - help needs no errors

    return DefinitionError(f"the command {name!r} of {package.module} is one of forebay already: rename it")


class _Commands(Group):
    """Finds commands by the names of their files."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        extra.setdefault("terminal_width", _help_width())
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = _own_commands().get(cmd_name) or commands().get(cmd_name)
        if found is None:
            return None
        command = getattr(import_module(found.module), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 - the file of a command defines it
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in commands().items()])
        for failure in failures():
            formatter.write_paragraph()
            formatter.write_text(f"Warning: {failure}. {failure.fix[0].upper()}{failure.fix[1:]}")


def _help_width() -> int:
    """As click computes it, but without importing shutil, which takes a twentieth of the time of `forebay --help`."""
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() and int(columns) else os.get_terminal_size(1).columns
    except OSError:  # standard output is not a terminal
        width = 80
    return max(min(width, 80) - 2, 50)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415 - slow, and only needed here

        click.echo(f"forebay {metadata.version('forebay')}")
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
def cli() -> None:
    """A durable job queue and pipeline engine on PostgreSQL.

    Begin with `forebay up`: it starts PostgreSQL, the API and a worker. The other commands find that database;
    FOREBAY_DATABASE_URL selects another one. Settings come from FOREBAY_… variables and from .env.
    """


def main() -> NoReturn:
    """Run the command line and end the process."""
    try:
        _run()
    except SystemExit as end:
        if "obstore" not in sys.modules or not isinstance(end.code, int):
            raise
        # Threads of libraries may still run, and would abort the process while the interpreter shuts down.
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
    """The exit code for an error."""
    from forebay.errors import DatabaseUnavailable, RequestError, SchemaError  # noqa: PLC0415 - help needs no errors

    codes: dict[type[ForebayError], int] = {RequestError: 2, DatabaseUnavailable: 3, SchemaError: 4}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), 1)


def _first(error: Exception) -> Exception:
    """The error that ended a task group."""
    while isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        error = group.exceptions[0]
    return error


def _tell(error: Exception) -> None:
    from forebay.errors import ConflictError, ForebayError, NotFoundError  # noqa: PLC0415 - help needs no errors

    if isinstance(error, NotFoundError | ConflictError):  # the field is a name in the API
        click.echo(f"forebay: {error.reason}", err=True)
    elif isinstance(error, ForebayError):
        click.echo(f"forebay: {error}", err=True)
    else:
        click.echo(f"forebay: unexpected {_described(error)}; FOREBAY_LOG_LEVEL=debug shows all)", err=True)


def _described(error: Exception) -> str:
    import traceback  # noqa: PLC0415 - help needs none
    from pathlib import Path  # noqa: PLC0415

    what = " ".join(f"{type(error).__name__}: {error}".split())
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what} (at {Path(last.filename).name}:{last.lineno}"


def _raise_when_debugging() -> None:
    if os.environ.get("FOREBAY_LOG_LEVEL", "").lower() == "debug":
        raise  # noqa: PLE0704 - called while the error is handled
