"""The command line: one file per command, imported only when it is used.

Exit codes: 0 success, 1 failure, 2 invalid request, 3 no database, 4 incompatible schema, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn, cast

from forebay.cli._command_list import commands

if TYPE_CHECKING:
    from forebay.cli._root import cli
    from forebay.errors import ForebayError

__all__ = ["cli", "commands", "exit_code", "main"]

_INTERRUPTED = 130


def __getattr__(name: str) -> Any:
    if name == "cli":
        from forebay.cli._root import cli  # noqa: PLC0415 - `forebay --help` needs no click

        return cli
    raise AttributeError(f"module 'forebay.cli' has no attribute {name!r}")


def main() -> NoReturn:
    """Run the command line and end the process."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout.encoding.lower() == "utf-8":
        _show_help()
    try:
        _run()
    except SystemExit as end:
        if "obstore" not in sys.modules or not isinstance(end.code, int):
            raise
        # Threads of libraries may still run, and would abort the process while the interpreter shuts down.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(end.code)


def _show_help() -> NoReturn:
    """The same as by click, and without importing it."""
    from forebay.cli._help import help_text, help_width  # noqa: PLC0415 - few calls are for help

    called = os.path.basename(sys.argv[0])  # noqa: PTH119 - pathlib is slow to import
    program = "python -m forebay" if called == "__main__.py" else called
    try:
        sys.stdout.write(help_text(program, help_width()))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os._exit(1)
    sys.exit(0)


def _run() -> NoReturn:
    import click  # noqa: PLC0415 - `forebay --help` needs none

    from forebay.cli._root import cli  # noqa: PLC0415

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
    import click  # noqa: PLC0415 - as above

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
