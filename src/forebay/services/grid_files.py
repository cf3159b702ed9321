"""Files of a grid: CSV, XLSX and JSON Lines, as pieces that come while the database reads on."""

from __future__ import annotations

import asyncio
import csv
import io
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from forebay.services.spreadsheets import XlsxFile, escaped, header_of
from forebay.services.spreadsheets.cells import number_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
    from typing import TypeAlias

    from forebay.services.spreadsheets import Kind

    Sink: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]
    Seen: TypeAlias = Callable[[int, int], None]  # rows so far, and the number of the item that was the last

Shape = Literal["plain", "harmless", "object"]

_BLOCK = 256 << 10  # bytes that are made into rows of a workbook at a time
_NUMBERS = (0, -10, -8, -3)  # where a grid has its line, price, quantity and score


class Grid(Protocol):
    """A grid, as the database reads it."""

    columns: list[str]

    def copy(self, shape: Shape, sink: Sink) -> AsyncIterator[tuple[int, int]]:
        """Hands the rows to the sink: CSV, or JSON Lines; tells how many there were, and up to which item."""
        ...


class GridFile:
    """A grid as a file, in the making."""

    def __init__(self, grid: Grid, kind: Kind, *, raw: bool = False) -> None:
        self.rows = 0
        self.cut = 0  # cells that are longer than a workbook can hold
        self._grid = grid
        self._kind: Kind = kind
        self._raw = raw

    async def write(self, sink: Sink, seen: Seen) -> None:
        """Hands all of it to the sink. Raises: what the sink raises; DataError for more columns than a workbook has."""
        if self._kind == "xlsx":
            await self._write_workbook(sink, seen)
            return
        if self._kind == "csv":
            await sink(header_of(self._grid.columns, escape=not self._raw))
        await self._copy("object" if self._kind == "jsonl" else self._shape, sink, seen)

    @property
    def _shape(self) -> Shape:
        return "plain" if self._raw else "harmless"

    async def _copy(self, shape: Shape, sink: Sink, seen: Seen) -> None:
        async for rows, upto in self._grid.copy(shape, sink):
            self.rows = rows
            seen(rows, upto)

    async def _write_workbook(self, sink: Sink, seen: Seen) -> None:
        columns = self._grid.columns
        # What comes from the database is harmless already; the names of columns are not.
        file = XlsxFile(columns if self._raw else harmless(columns), escape=False)
        records = _Records()

        async def take(data: bytes) -> None:
            if (whole := records.add(data)) and (piece := await asyncio.to_thread(pack, whole)):
                await sink(piece)

        def pack(whole: bytes) -> bytes:
            return file.write(_rows(whole))

        await self._copy(self._shape, take, seen)
        await sink(await asyncio.to_thread(pack, records.rest()))
        await sink(await asyncio.to_thread(file.close))
        self.cut = file.cut


def harmless(columns: Sequence[str]) -> list[str]:
    """Names of columns that no spreadsheet takes for formulas."""
    return [escaped(name) for name in columns]


class _Records:
    """Puts CSV as it comes together to whole records: quotes are even where one has ended."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = self._quotes = 0

    def add(self, data: bytes) -> bytes:
        self._waiting.append(data)
        self._size += len(data)
        self._quotes += data.count(b'"')
        is_whole = self._quotes % 2 == 0 and data.endswith(b"\n")
        return self.rest() if is_whole and self._size >= _BLOCK else b""

    def rest(self) -> bytes:
        whole = b"".join(self._waiting)
        self._waiting.clear()
        self._size = self._quotes = 0
        return whole


def _rows(whole: bytes) -> Iterator[list[object]]:
    cells: list[object]
    for cells in csv.reader(io.StringIO(whole.decode(), newline="")):  # type: ignore[assignment]
        for place in _NUMBERS:
            cells[place] = _number(str(cells[place]))
        yield cells


def _number(text: str) -> object:
    """A number, if it is written as a spreadsheet would write it: what people see is the same in any case."""
    try:
        value = float(text)
    except ValueError:
        return text
    return value if number_text(value) == text else text


# From a sink to a source.


@asynccontextmanager
async def piped(fill: Callable[[Sink], Awaitable[None]]) -> AsyncGenerator[AsyncIterator[bytes]]:
    """What `fill` hands to its sink, as whoever stores it takes it; at most a few pieces ahead of that."""
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
        await filling  # what has gone wrong there goes wrong here

    try:
        async with aclosing(taken()) as source:
            yield source
    finally:
        filling.cancel()
        while not pieces.empty():  # its last word must find room
            pieces.get_nowait()
        await asyncio.gather(filling, return_exceptions=True)
