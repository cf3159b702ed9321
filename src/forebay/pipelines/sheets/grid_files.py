"""Writes grids as CSV, XLSX and JSON Lines, in pieces while the database reads the next rows."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Protocol

from forebay.services.spreadsheets import XlsxFile, header_of
from forebay.services.spreadsheets.cells import DateTimeText, Percent
from forebay.services.spreadsheets.csv_escaping import escape_records
from forebay.services.spreadsheets.xlsx_rows import MOMENT, NO_RESULT, NUMBER, PERCENT, TEXT, TRUTH

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
    from typing import TypeAlias

    from forebay.services.spreadsheets import FileFormat

    Sink: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]
    Seen: TypeAlias = Callable[[int, int], None]  # number of rows so far, and number of the last item

Shape = Literal["plain", "typed", "object"]
ColumnType = Literal["own", "number", "text"]

_BLOCK = 256 << 10  # bytes per batch of workbook rows


class Grid(Protocol):
    """A grid in the database."""

    columns: list[str]
    types: list[ColumnType]

    def copy(self, shape: Shape, sink: Sink) -> AsyncIterator[tuple[int, int]]:
        """Copy the rows to the sink as CSV or JSON Lines; reports the number of rows and the last item."""
        ...


class GridFile:
    """Writes a grid as a file."""

    def __init__(self, grid: Grid, kind: FileFormat, *, raw: bool = False) -> None:
        self.rows = 0
        self.cut = 0  # number of cells that are too long for a workbook
        self._grid = grid
        self._kind: FileFormat = kind
        self._raw = raw

    async def write(self, sink: Sink, seen: Seen) -> None:
        """Write the file to the sink. Raises: what the sink raises; DataError for too many columns for a workbook."""
        if self._kind == "xlsx":
            await self._write_workbook(sink, seen)
            return
        if self._kind == "jsonl":
            await self._copy("object", sink, seen)
            return
        await sink(header_of(self._grid.columns, escape=not self._raw))
        await self._copy("plain", sink if self._raw else _escaping(sink), seen)

    async def _copy(self, shape: Shape, sink: Sink, seen: Seen) -> None:
        async for rows, upto in self._grid.copy(shape, sink):
            self.rows = rows
            seen(rows, upto)

    async def _write_workbook(self, sink: Sink, seen: Seen) -> None:
        file = XlsxFile(self._grid.columns)
        records, cells = _Records(_BLOCK), _Cells(self._grid.types)

        async def take(data: bytes) -> None:
            if (whole := records.add(data)) and (piece := await asyncio.to_thread(pack, whole)):
                await sink(piece)

        def pack(whole: bytes) -> bytes:
            return file.write(cells.rows(whole))

        await self._copy("typed", take, seen)
        await sink(await asyncio.to_thread(pack, records.rest()))
        await sink(await asyncio.to_thread(file.close))
        self.cut = file.cut


def _escaping(sink: Sink) -> Sink:
    """A sink that escapes formulas."""
    records = _Records(1)

    async def take(data: bytes) -> None:
        if whole := records.add(data):
            await sink(escape_records(whole))

    return take


class _Records:
    """Splits a stream of CSV into blocks of whole records: a record ends where the number of quotes is even."""

    def __init__(self, least: int) -> None:
        self._least = least  # bytes per block
        self._waiting: list[bytes] = []
        self._size = self._quotes = 0

    def add(self, data: bytes) -> bytes:
        self._waiting.append(data)
        self._size += len(data)
        self._quotes += data.count(b'"')
        is_whole = self._quotes % 2 == 0 and data.endswith(b"\n")
        return self.rest() if is_whole and self._size >= self._least else b""

    def rest(self) -> bytes:
        whole = b"".join(self._waiting)
        self._waiting.clear()
        self._size = self._quotes = 0
        return whole


class _Cells:
    """Converts texts to typed values, for columns of numbers and for typed cells of the uploaded workbook."""

    def __init__(self, types: Sequence[ColumnType]) -> None:
        self._numbers = [place for place, kind in enumerate(types) if kind == "number"]
        self._own = types.index("own") if "own" in types else 0

    def rows(self, whole: bytes) -> Iterator[list[object]]:
        row: list[object]
        for row in csv.reader(io.StringIO(whole.decode(), newline="")):  # type: ignore[assignment]
            kinds = str(row.pop())
            for place in self._numbers:
                row[place] = _number(str(row[place]))
            for place, kind in enumerate(kinds, self._own):
                if kind != TEXT:
                    row[place] = _VALUES[kind](str(row[place]))
            yield row


def _number(text: str) -> object:
    """A number with its digits, so that it looks the same everywhere."""
    return Decimal(text) if _DIGITS.fullmatch(text) else text


def _truth(text: str) -> object:
    return text == "true" if text in {"true", "false"} else text


def _percent(text: str) -> object:
    digits = text.removesuffix("%")
    return Percent(Decimal(digits).scaleb(-2)) if digits != text and _DIGITS.fullmatch(digits) else text


_DIGITS = re.compile("-?[0-9]+(?:[.][0-9]+)?")
_VALUES: dict[str, Callable[[str], object]] = {
    NUMBER: _number,
    TRUTH: _truth,
    PERCENT: _percent,
    MOMENT: DateTimeText,
    NO_RESULT: str,
}


# From a sink to a source.


@asynccontextmanager
async def piped(fill: Callable[[Sink], Awaitable[None]]) -> AsyncGenerator[AsyncIterator[bytes]]:
    """Iterate over the pieces that `fill` writes to its sink, with a bounded buffer."""
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue(4)

    async def run() -> None:
        try:
            await fill(pieces.put)
        finally:
            await pieces.put(None)

    filling = asyncio.create_task(run())

    async def taken() -> AsyncGenerator[bytes]:
        while (piece := await pieces.get()) is not None:
            yield piece
        await filling  # raise the error of `fill` here

    try:
        async with aclosing(taken()) as source:
            yield source
    finally:
        filling.cancel()
        while not pieces.empty():  # make space for its end marker
            pieces.get_nowait()
        await asyncio.gather(filling, return_exceptions=True)
