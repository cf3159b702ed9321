"""Grids of sheets: pages, streams of all rows, and exports."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from forebay.db.calls import fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.pipelines.sheets.db.sql import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
    from typing import TypeAlias

    import asyncpg

    from forebay.db.pool import Connection

    Sink: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]

Shape = Literal["plain", "typed", "harmless", "object"]
ColumnType = Literal["own", "number", "text"]
ColumnKind = Literal["own", "read", "found", "meta"]
CellType = Literal["text", "number", "link", "image", "status", "score"]
GROUPS = ("read", "warnings")  # optional groups of columns

_STEP = 20_000  # items per statement
_SEARCHED = 5000  # rows whose cells are searched for one page
_LONG = 86_400.0  # seconds; a statement waits for the reader of its rows
# Characters that JSON does not contain, so that nothing is quoted.
_AS_IT_IS = {"quote": "\x01", "escape": "\x01", "delimiter": "\x02"}


@dataclass(frozen=True, slots=True)
class GridSelection:
    """Rows of a grid: items `first` to `last` with one of the statuses; and additional groups of columns: `read`,
    `warnings`."""

    statuses: Sequence[str] | None = None
    first: int = 1
    last: int | None = None
    show: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column: its key, its title, where its cells come from, and how they are shown."""

    key: str
    title: str
    kind: ColumnKind
    type: CellType


@dataclass(frozen=True, slots=True)
class GridRows:
    columns: list[GridColumn]
    rows: list[asyncpg.Record]
    next_after: int | None
    total: int
    searched_to: int | None  # of a search: the last row that was searched


@dataclass(frozen=True, slots=True)
class GridFilter:
    """Selects rows of a page: with one of the statuses, and with this text in a cell; None: all."""

    statuses: Sequence[str] | None = None
    text: str | None = None


async def page(
    conn: Connection, job_id: int, after: int, where: GridFilter, size: int, show: Sequence[str] = ()
) -> GridRows:
    """Rows of the grid of a job in order, and the position after the page. A page may be short before the end.

    Raises: NotFoundError; ConflictError when the job is not made of a sheet; RequestError for unknown groups.
    """
    async with translating_errors():
        about = await conn.fetchrow(load("grid_details"), job_id, list(show))
        assert about is not None  # noqa: S101 - otherwise the function raises
        most = size if where.text is None else max(size, _SEARCHED)
        found = await conn.fetchrow(
            "select * from forebay.find_items($1, $2, $3::forebay.item_status[], $4)",
            job_id,
            after,
            where.statuses,
            most,
        )
        assert found is not None  # noqa: S101 - the function returns one row
        rows, more = await _matching(conn, job_id, found, where.text, size, show)
    names = ("keys", "names", "kinds", "types")
    columns = [GridColumn(*values) for values in zip(*(about[name] for name in names), strict=True)]
    searched_to = None if where.text is None else more or about["total"]
    return GridRows(columns, rows, more, about["total"], searched_to)


async def _matching(
    conn: Connection, job_id: int, found: asyncpg.Record, text: str | None, size: int, show: Sequence[str]
) -> tuple[list[asyncpg.Record], int | None]:
    """Those of the found rows that have the text, and the position after them."""
    if not found["ns"]:
        return [], found["next_after"]
    if text is None:
        return await conn.fetch(load("read_grid"), job_id, found["ns"], list(show)), found["next_after"]
    rows = await conn.fetch(load("search_grid"), job_id, found["ns"], list(show), text, size + 1)
    return (rows[:size], rows[size - 1]["n"]) if len(rows) > size else (rows, found["next_after"])


async def is_sheet(conn: Connection, job_id: int) -> bool:
    """Whether a job was created from a file and therefore has a grid."""
    return bool(await fetch_value(conn, load("is_sheet"), job_id))


async def _columns(conn: Connection, job_id: int, show: Sequence[str]) -> asyncpg.Record:
    row = await conn.fetchrow(load("grid_columns"), job_id, list(show))
    assert row is not None  # noqa: S101 - otherwise the function raises
    return row


# Whole grids.


class Reading:
    """A consistent snapshot of a grid."""

    def __init__(self, conn: Connection, job_id: int, part: GridSelection, about: asyncpg.Record) -> None:
        self.columns: list[str] = list(about["names"])
        self.types: list[ColumnType] = list(about["types"])
        self.owner_id: int = about["owner_id"]
        self.total: int = about["total"]  # items of the job
        self._conn = conn
        self._job_id = job_id
        self._part = part

    async def copy(self, shape: Shape, sink: Sink) -> AsyncGenerator[tuple[int, int]]:
        """Copy the rows to the sink in order, as CSV or JSON Lines; reports the number of rows and the last item
        regularly."""
        part, rows = self._part, 0
        last = self.total if part.last is None else min(part.last, self.total)
        form: dict[str, Any] = _AS_IT_IS if shape == "object" else {}
        after = part.first - 1
        while after < last:
            upto = min(after + _STEP, last)
            async with translating_errors():
                sql = await self._conn.fetchval(
                    load("grid_query"), self._job_id, shape, after, upto, part.statuses, list(part.show)
                )
                told = await self._conn.copy_from_query(sql, output=sink, format="csv", timeout=_LONG, **form)
            rows += int(told.removeprefix("COPY "))
            after = upto
            yield rows, upto


@asynccontextmanager
async def reading(conn: Connection, job_id: int, part: GridSelection) -> AsyncGenerator[Reading]:
    """A snapshot of the grid of a job.

    Raises: NotFoundError; ConflictError when the job is not made of a sheet.
    """
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        async with translating_errors():
            await conn.execute(load("begin_export"))
            about = await _columns(conn, job_id, part.show)
        yield Reading(conn, job_id, part, about)


# Exports.


async def export(conn: Connection, job_id: int, kind: str, options: str, trace: str | None) -> int:
    """Submit an export; returns its job.

    Raises: NotFoundError; ConflictError when the job is not made of a sheet.
    """
    return int(await fetch_value(conn, load("export_sheet"), job_id, kind, options, trace))


async def exports(
    conn: Connection, job_id: int, before: int | None, size: int
) -> tuple[list[asyncpg.Record], int | None]:
    """Exports of the sheet of a job, newest first, and the position after the page."""
    async with translating_errors():
        found = [row["job_id"] for row in await conn.fetch(load("list_exports"), job_id, before, size + 1)]
        rows = await conn.fetch(load("show_exports"), found[:size]) if found else []
    return rows, found[size - 1] if len(found) > size else None


async def all_exports(conn: Connection, before: int | None, size: int) -> tuple[list[asyncpg.Record], int | None]:
    """All exports that the caller may see, newest first, and the position after the page."""
    async with translating_errors():
        found = [row["job_id"] for row in await conn.fetch(load("list_all_exports"), before, size + 1)]
        rows = await conn.fetch(load("show_exports"), found[:size]) if found else []
    return rows, found[size - 1] if len(found) > size else None


async def get_export(conn: Connection, export_id: int) -> asyncpg.Record | None:
    """An export, if the caller may see it."""
    return await fetch_row(conn, load("show_exports"), [export_id])


def write_export(export_id: int, file_id: int, rows: int) -> Statement:
    """The statement that records the file of an export."""
    return Statement(load("write_export"), (export_id, file_id, rows))
