"""The rows and statements that steps hand over, executed in the settling transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from forebay.errors import DataError
from forebay.types import Rows, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection
    from forebay.types import Write


async def apply(conn: Connection, writes: Sequence[Write]) -> None:
    """Execute what a step has handed over.

    Raises: DataError when rows have no or different columns; what the database says otherwise.
    """
    for write in writes:
        if isinstance(write, Statement):
            await conn.execute(write.sql, *write.args)
        elif write.rows:
            await _insert(conn, write)


async def _insert(conn: Connection, write: Rows) -> None:
    columns = list(write.rows[0])
    if not columns or any(list(row) != columns for row in write.rows):
        raise DataError(f"the rows for {write.table} must all have the same columns, in the same order")
    statement = await conn.prepare(_insert_sql(write, columns))
    kinds = [parameter.name for parameter in statement.get_parameters()]
    await statement.executemany([_encode(row, kinds) for row in write.rows])


def _insert_sql(write: Rows, columns: list[str]) -> str:
    names = ", ".join(_quoted(column) for column in columns)
    places = ", ".join(f"${place}" for place in range(1, len(columns) + 1))
    # Names cannot be parameters; they are the pipeline author's and quoted here, values are parameters.
    return f"insert into {_quoted_path(write.table)} ({names}) values ({places}){_on_conflict(write, columns)}"  # noqa: S608


def _on_conflict(write: Rows, columns: list[str]) -> str:
    if write.on_conflict == "error":
        return ""
    if write.on_conflict == "ignore":
        return " on conflict do nothing"
    if isinstance(write.on_conflict, str):
        raise DataError(f'on_conflict for {write.table} is "error", "ignore" or the columns of a unique key')
    key = list(write.on_conflict)
    changes = ", ".join(f"{_quoted(c)} = excluded.{_quoted(c)}" for c in columns if c not in key)
    target = ", ".join(_quoted(column) for column in key)
    return f" on conflict ({target}) do " + (f"update set {changes}" if changes else "nothing")


def _encode(row: Mapping[str, object], kinds: list[str]) -> list[Any]:
    return [_encoded(value, kind) for value, kind in zip(row.values(), kinds, strict=True)]


def _encoded(value: object, kind: str) -> object:
    if kind not in ("json", "jsonb") or value is None or isinstance(value, str):
        return value
    return to_json(value).decode()


def _quoted_path(path: str) -> str:
    return ".".join(_quoted(part) for part in path.split("."))


def _quoted(name: str) -> str:
    if not name or "\0" in name:
        raise DataError(f"{name!r} is not a name of a table or column")
    return '"' + name.replace('"', '""') + '"'
