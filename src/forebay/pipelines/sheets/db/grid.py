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
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
    from typing import TypeAlias

    import asyncpg

    from forebay.db.pool import Connection

    Sink: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]

Shape = Literal["plain", "typed", "object"]
ColumnType = Literal["own", "number", "text"]
ColumnKind = Literal["own", "read", "found", "meta"]
CellType = Literal["text", "number", "link", "image", "status", "score"]
GROUPS = ("read", "warnings")  # optional groups of columns

_STEP = 20_000  # items per statement
_SEARCHED = 5000  # rows whose cells are searched for one page
_LONG = 86_400.0  # seconds; a statement waits for the reader of its rows
_AFTER = "select f.ns, f.next_after as continues from forebay.find_items($1, $2, $3::forebay.item_status[], $4) f"
_BEFORE = (
    "select f.ns, f.next_before as continues from forebay.find_items_before($1, $2, $3::forebay.item_status[], $4) f"
)
# Characters that JSON does not contain, so that nothing is quoted.
_AS_IT_IS = {"quote": "\x01", "escape": "\x01", "delimiter": "\x02"}


@dataclass(frozen=True, slots=True)
class GridSelection:
    """Rows of a grid: those in the ranges (first and last number; None: all) with one of the statuses; and additional
    groups of columns: `read`, `warnings`."""

    statuses: Sequence[str] | None = None
    ranges: Sequence[tuple[int, int | None]] = ((1, None),)
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
    continues: int | None  # the position after the page, or of a page before a row, the one before it
    total: int
    searched_to: int | None  # of a search: the last row that was searched


@dataclass(frozen=True, slots=True)
class GridFilter:
    """Selects rows of a page: with one of the statuses, and with this text in a cell; None: all."""

    statuses: Sequence[str] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GridPlace:
    """Where a page begins, after a row; or where it ends, before one."""

    after: int = 0
    before: int | None = None


async def page(
    conn: Connection, job_id: int, place: GridPlace, where: GridFilter, size: int, show: Sequence[str] = ()
) -> GridRows:
    """Rows of the grid of a job in order, and where to continue. A page may be short before the end.

    Raises: NotFoundError; ConflictError when the job is not made of a sheet; RequestError for unknown groups.
    """
    is_back = place.before is not None
    async with translating_errors():
        about = await conn.fetchrow(load("grid_details"), job_id, list(show))
        assert about is not None  # noqa: S101 - otherwise the function raises
        most = size if where.text is None else max(size, _SEARCHED)
        found = await conn.fetchrow(
            _BEFORE if is_back else _AFTER,
            job_id,
            place.before if is_back else place.after,
            where.statuses,
            most,
        )
        assert found is not None  # noqa: S101 - the function returns one row
        rows, more = await _matching(conn, job_id, found, where.text, size, show, is_back=is_back)
    names = ("keys", "names", "kinds", "types")
    columns = [GridColumn(*values) for values in zip(*(about[name] for name in names), strict=True)]
    searched_to = None if where.text is None else more or (1 if is_back else about["total"])
    return GridRows(columns, rows, more, about["total"], searched_to)


async def _matching(
    conn: Connection,
    job_id: int,
    found: asyncpg.Record,
    text: str | None,
    size: int,
    show: Sequence[str],
    *,
    is_back: bool,
) -> tuple[list[asyncpg.Record], int | None]:
    """Those of the found rows that have the text, in order, and where to continue."""
    if not found["ns"]:
        return [], found["continues"]
    if text is None:
        return await conn.fetch(load("read_grid"), job_id, found["ns"], list(show)), found["continues"]
    most = len(found["ns"]) if is_back else size + 1
    rows = await conn.fetch(load("search_grid"), job_id, found["ns"], list(show), text, most)
    if len(rows) <= size:
        return rows, found["continues"]
    return (rows[-size:], rows[-size]["n"]) if is_back else (rows[:size], rows[size - 1]["n"])


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
        form: dict[str, Any] = _AS_IT_IS if shape == "object" else {}
        for after, upto in self._pieces():
            async with translating_errors():
                sql = await self._conn.fetchval(
                    load("grid_query"), self._job_id, shape, after, upto, part.statuses, list(part.show)
                )
                told = await self._conn.copy_from_query(sql, output=sink, format="csv", timeout=_LONG, **form)
            rows += int(told.removeprefix("COPY "))
            yield rows, upto

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """The ranges in pieces: the number before the first row, and the last."""
        for first, end in self._part.ranges:
            last = self.total if end is None else min(end, self.total)
            for after in range(first - 1, last, _STEP):
                yield after, min(after + _STEP, last)


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


async def open_exports(conn: Connection, export_id: int, most: int) -> int:
    """How many exports the owner of this one has that have not ended, up to `most`."""
    return int(await fetch_value(conn, load("count_open_exports"), export_id, most))


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
