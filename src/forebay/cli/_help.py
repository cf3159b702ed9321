"""The help of `forebay` as a whole, in the layout of click, whose import would take longer than all the rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from forebay.cli._command_list import commands
from forebay.packages import failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DESCRIPTION = """A durable job queue and pipeline engine on PostgreSQL.

Begin with `forebay up`: it starts PostgreSQL, the API and a worker. The other commands find that database;
FOREBAY_DATABASE_URL selects another one. Settings come from FOREBAY_… variables and from .env.
"""
SHOWS_VERSION = "Show the version."
_OPTIONS = {"--version": SHOWS_VERSION, "-h, --help": "Show this message and exit."}
_INDENT = "  "


def help_text(program: str, width: int) -> str:
    """The help for lines of this width, with the packages that are left out at its end."""
    lines = [f"Usage: {program} [OPTIONS] COMMAND [ARGS]..."]
    for paragraph in DESCRIPTION.split("\n\n"):
        lines += ["", *_wrapped(paragraph, width, _INDENT)]
    lines += ["", "Options:", *_table(_OPTIONS.items(), width)]
    lines += ["", "Commands:", *_table(((name, command.summary) for name, command in commands().items()), width)]
    for failure in failures():
        text = f"Warning: {failure}. {failure.fix[0].upper()}{failure.fix[1:]}"
        lines += ["", *_wrapped(text, width, "")]
    return "\n".join(lines) + "\n"


def help_width() -> int:
    """As click finds it, which imports shutil for that."""
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() and int(columns) else os.get_terminal_size(1).columns
    except OSError:  # standard output is no terminal
        width = 80
    return max(min(width, 80) - 2, 50)


def _table(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    rows = list(rows)
    column = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        first, *others = _wrapped(text, max(width - column - 2, 10), "")
        yield f"{_INDENT}{name:{column}}{first}"
        yield from (f"{_INDENT}{'':{column}}{line}" for line in others)


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(indent) + len(line) + 1 + len(word) > width:
            yield indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield indent + line
