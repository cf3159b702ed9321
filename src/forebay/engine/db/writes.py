"""Executes the rows and statements that steps return, in the settling transaction."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, cast

import asyncpg
from pydantic_core import to_json

from forebay.engine.db.sql import load
from forebay.errors import DataError
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forebay.db.pool import Connection
    from forebay.types import Rows, Write


class Writer:
    """Executes the writes of steps, and caches which columns of which tables hold JSON."""

    def __init__(self) -> None:
        self._json: dict[str, set[str]] = {}

    async def apply(self, conn: Connection, writes: Iterable[Write], *, again: bool = False) -> None:
        """Execute the writes in order; consecutive rows of the same shape share a round trip.

        Raises: DataError if rows have no columns or different columns; OutdatedSchemaCacheError if values do not fit
        the cached columns of a table, unless this is a retry (`again`); any other error of the database.
        """
        for shape, group in groupby(writes, _shape):
            if shape is None:
                for statement in cast("Iterable[Statement]", group):
                    await conn.execute(statement.sql, *statement.args)
            elif shape.columns:
                rows = [row for write in group for row in cast("Rows", write).rows]
                await self._insert(conn, shape, rows, may_know_better=not again and shape.table in self._json)

    async def _insert(
        self, conn: Connection, shape: _Shape, rows: list[Mapping[str, object]], *, may_know_better: bool
    ) -> None:
        json = await self._json_columns(conn, shape.table)
        places = [place for place, column in enumerate(shape.columns) if column in json]
        try:
            await conn.executemany(_insert_sql(shape), [_encode(row, places) for row in rows])
        except (asyncpg.DataError, asyncpg.DatatypeMismatchError) as error:
            self._json.pop(shape.table, None)
            if not may_know_better:
                raise
            await conn.reload_schema_state()
            raise asyncpg.OutdatedSchemaCacheError(f"the columns of {shape.table} may have changed") from error

    async def _json_columns(self, conn: Connection, table: str) -> set[str]:
        """Read from the catalogue. The driver could tell only through a prepared statement, and closing that one blocks
        without a timeout when the connection is half open."""
        if table not in self._json:
            found = await conn.fetch(load("json_columns"), _quoted_path(table))
            self._json[table] = {row["attname"] for row in found}
        return self._json[table]


_ROW_BYTES = 500  # what a row costs beside its values: a batch of eight megabytes has at most 16,000 rows
_STATEMENT_BYTES = 8000  # a statement needs a round trip


def size_of(writes: Sequence[Write]) -> int:
    """About how many bytes the writes have, as a measure of their cost. Invalid writes are not measured: they are
    rejected when they are executed."""
    size = 0
    for write in writes:
        if isinstance(write, Statement):
            size += _STATEMENT_BYTES + _value_size(write.args)
        else:
            rows: object = getattr(write, "rows", None)
            if isinstance(rows, list | tuple):
                size += _ROW_BYTES * len(cast("Sequence[object]", rows)) + _value_size(cast("object", rows))
    return size


def _value_size(value: object, depth: int = 6) -> int:
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    if depth > 0 and isinstance(value, Mapping):
        return sum(_value_size(each, depth - 1) for each in cast("Mapping[object, object]", value).values())
    if depth > 0 and isinstance(value, list | tuple):
        return sum(_value_size(each, depth - 1) for each in cast("Sequence[object]", value))
    return 8


class _Shape(NamedTuple):
    table: str
    columns: tuple[str, ...]
    on_conflict: str | tuple[str, ...]


def _shape(write: Write) -> _Shape | None:
    """What rows must have in common to share a statement; None for a statement."""
    if isinstance(write, Statement):
        return None
    columns = tuple(write.rows[0]) if write.rows else ()
    if write.rows and (not columns or any(tuple(row) != columns for row in write.rows)):
        raise DataError(f"the rows for {write.table} must all have the same columns, in the same order")
    conflict = write.on_conflict
    return _Shape(write.table, columns, conflict if isinstance(conflict, str) else tuple(conflict))


def _insert_sql(shape: _Shape) -> str:
    names = ", ".join(_quoted(column) for column in shape.columns)
    places = ", ".join(f"${place}" for place in range(1, len(shape.columns) + 1))
    # Names cannot be parameters: they come from the pipeline's author and are quoted here. Values are parameters.
    return f"insert into {_quoted_path(shape.table)} ({names}) values ({places}){_on_conflict(shape)}"  # noqa: S608


def _on_conflict(shape: _Shape) -> str:
    if shape.on_conflict == "error":
        return ""
    if shape.on_conflict == "ignore":
        return " on conflict do nothing"
    if isinstance(shape.on_conflict, str):
        raise DataError(f'on_conflict for {shape.table} is "error", "ignore" or the columns of a unique key')
    changes = ", ".join(f"{_quoted(c)} = excluded.{_quoted(c)}" for c in shape.columns if c not in shape.on_conflict)
    target = ", ".join(_quoted(column) for column in shape.on_conflict)
    return f" on conflict ({target}) do " + (f"update set {changes}" if changes else "nothing")


def _encode(row: Mapping[str, object], json: list[int]) -> list[object]:
    values = list(row.values())
    for place in json:
        value = values[place]
        if value is not None and not isinstance(value, str):
            values[place] = to_json(value).decode()
    return values


def _quoted_path(path: str) -> str:
    return ".".join(_quoted(part) for part in path.split("."))


def _quoted(name: str) -> str:
    if not name or "\0" in name:
        raise DataError(f"{name!r} is not a name of a table or column")
    return '"' + name.replace('"', '""') + '"'
