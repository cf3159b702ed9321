"""Runs the SQL files of a schema part; an error names the file and the line of the statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from forebay.db.pool import UNAVAILABLE
from forebay.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forebay.db.pool import Connection

_TOKEN = re.compile(
    r"""--[^\n]*
      | /\*.*?\*/
      | \be'(?:[^'\\]|''|\\.)*'
      | '(?:[^']|'')*'
      | "[^"]*"
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
      | (?P<body>\bbegin\s+atomic\b)
      | (?P<word>\b(?:case|end)\b)
      | (?P<end>;)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)


class SqlFile(NamedTuple):
    """A file of a part, and its name below `sql`."""

    name: str
    text: str


def split_statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a text, each with its offset."""
    start, depth = 0, 0
    for token in _TOKEN.finditer(text):
        if token["body"]:
            depth = 1
        elif token["word"] and depth:
            depth += 1 if token["word"].lower() == "case" else -1
        elif token["end"] and not depth:
            yield from _statement(text, start, token.start())
            start = token.end()
    yield from _statement(text, start, len(text))


def _statement(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """A statement without preceding comments; nothing if there is only a comment."""
    found = _BLANK.match(text, start, end)
    begin = found.end() if found else start
    if begin < end:
        yield begin, text[begin:end]


async def run_files(
    conn: Connection, part: str, files: Sequence[SqlFile], *, unchanged: tuple[type[asyncpg.PostgresError], ...] = ()
) -> None:
    """Run all statements in a transaction.

    Raises: SchemaError that says where it failed, but for the errors that `unchanged` names, and those of a database
    that is not available.
    """
    text = "\n".join(file.text for file in files)
    if _BLANK.fullmatch(text):
        return  # the driver fails without a statement
    try:
        async with conn.transaction():
            await conn.execute(text)
    except asyncpg.PostgresError as error:
        if isinstance(error, (*UNAVAILABLE, *unchanged)):
            raise
        where = _place(files, await _find(conn, text, error))
        raise _failed(part, where, error, "Nothing of it was applied") from error


async def run_repeatable(conn: Connection, part: str, file: SqlFile) -> None:
    """Run the statements outside of a transaction, each of which may be repeated.

    Raises: SchemaError that says where it failed.
    """
    for start, statement in split_statements(file.text):
        try:
            await conn.execute(statement)
        except asyncpg.PostgresError as error:
            if isinstance(error, UNAVAILABLE):
                raise
            where = _place([file], start + (_position(error) or 0))
            done = "The statements before it were applied, and will be repeated"
            raise _failed(part, where, error, done) from error


def _failed(part: str, where: str, error: asyncpg.PostgresError, done: str) -> SchemaError:
    said = f"{error.args[0]}" + (f" ({error.detail})" if error.detail else "")
    return SchemaError(
        f"the schema part {part} cannot be migrated: {where}: {said}. {done}: fix or upgrade the package that has "
        f"{part}, and run `forebay migrate` again"
    )


def _place(files: Sequence[SqlFile], offset: int | None) -> str:
    """The file and the line at an offset in the text of all files."""
    if offset is None:
        return files[0].name.partition("/")[0] if len(files) > 1 else files[0].name
    for file in files:
        if offset <= len(file.text):
            return f"{file.name}, line {file.text.count(chr(10), 0, offset) + 1}"
        offset -= len(file.text) + 1
    return files[-1].name


def _position(error: asyncpg.PostgresError) -> int | None:
    """The offset of the error, if the server reports it."""
    return int(error.position) - 1 if error.position else None


async def _find(conn: Connection, text: str, error: asyncpg.PostgresError) -> int | None:
    """The offset of the failed statement. Errors at execution have no position: then the statements are run again, one
    by one."""
    if (position := _position(error)) is not None:
        return position
    again = conn.transaction()
    await again.start()
    try:
        for start, statement in split_statements(text):
            try:
                await conn.execute(statement)
            except asyncpg.PostgresError:
                return start
        return None
    finally:
        await again.rollback()
