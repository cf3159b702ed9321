"""Reads rows of XLSX files as a stream: neither a sheet nor its strings are whole in memory.

Cells become text like that of `cell_text`: saved results of formulas, numbers with the 15 digits that a spreadsheet
shows, dates and times as ISO 8601, booleans as `true` or `false`, errors as shown (`#N/A`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict

from forebay.errors import DataError
from forebay.services.spreadsheets.archives import WORKBOOK, opened, pieces
from forebay.services.spreadsheets.headers import looks_like_header
from forebay.services.spreadsheets.rows import (
    MOST_BYTES,
    AnyRow,
    BadRow,
    Cells,
    Cursor,
    Row,
    columns_of,
    excerpt,
    fitted,
    renamed,
    without_empty_end,
)
from forebay.services.spreadsheets.xlsx_parts import Workbook, read_workbook
from forebay.services.spreadsheets.xlsx_quick import SheetRows
from forebay.services.spreadsheets.xlsx_rows import NO_RESULT, FoundRow
from forebay.services.spreadsheets.xlsx_writing import MAX_ROWS

_ROW = b"<row"


class XlsxLayout(BaseModel):
    """What is needed to read a sheet from any row on."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["xlsx"] = "xlsx"
    sheet: str
    sheets: tuple[str, ...]
    columns: tuple[str, ...]
    has_header: bool
    renamed: tuple[str, ...] = ()  # columns without a name, or with the name of another
    start: Cursor


class XlsxReader:
    """The rows of a sheet, from the first or from a cursor on: the rows before it are read and skipped."""

    def __init__(self, archive: zipfile.ZipFile, book: Workbook, layout: XlsxLayout, start: Cursor | None) -> None:
        self._columns = layout.columns
        self._line = (start or layout.start).line
        self._rows = _rows(archive, book, layout.sheet)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def cursor(self) -> Cursor:
        return Cursor(line=self._line)

    def __iter__(self) -> Iterator[AnyRow]:
        for line, cells, _ in self.typed():
            yield cells if isinstance(cells, BadRow) else Row(line, dict(zip(self._columns, cells, strict=True)))

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows; their size is that of the visible characters."""
        found = Cells([], [], [], self.cursor, is_last=False)
        size = 0
        for count, (line, cells, _) in enumerate(self.typed(), 1):
            found.add(line, cells)
            size += len(cells.excerpt) if isinstance(cells, BadRow) else sum(map(len, cells))
            if count >= most_rows or size >= most_bytes:
                return found._replace(next=self.cursor)
        return found._replace(next=self.cursor, is_last=True)

    def typed(self) -> Iterator[tuple[int, list[str] | BadRow, str]]:
        """The remaining rows: their numbers, cells, and a letter for the type of each cell."""
        wanted = len(self._columns)
        for line, cells, fault, kinds in self._rows:
            if line <= self._line:
                continue
            self._line = line
            if fault:
                yield line, BadRow(line, fault, excerpt(" | ".join(cells))), ""
            elif any(cells) or NO_RESULT in kinds:
                yield line, cells if len(cells) == wanted else fitted(line, cells, wanted), kinds


def look_at_xlsx(source: IO[bytes], *, sheet: str | None = None, header: bool | None = None) -> XlsxLayout:
    """Detect the layout of a workbook; uses the first visible sheet, unless one is named.

    Raises: DataError when it cannot be read.
    """
    with _workbook(source) as (archive, book):
        wanted = book.sheet(sheet).name
        _check_rows(archive, book, wanted)
        sample = [
            row
            for _, row in zip(range(100), (one for one in _rows(archive, book, wanted) if any(one[1])), strict=False)
        ]
        if not sample:
            raise DataError(f"the sheet {wanted!r} has no rows")
        line, first, fault, _ = sample[0]
        if fault:
            raise DataError(f"row {line} {fault}")
        cells = without_empty_end(first, 1)
        has_header = looks_like_header(cells, [row for _, row, *_ in sample[1:]]) if header is None else header
        if not has_header:
            cells = [""] * max(len(without_empty_end(row, 1)) for _, row, _, _ in sample)
        columns = columns_of(cells)
        return XlsxLayout(
            sheet=wanted,
            sheets=tuple(one.name for one in book.sheets),
            columns=columns,
            has_header=has_header,
            renamed=renamed(columns, cells),
            start=Cursor(line=line if has_header else 0),
        )


def _check_rows(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> None:
    """Refuse too many rows before reading them: decompressing takes a hundredth of the time."""
    entry = _entry(archive, book, sheet)
    count, rest = 0, b""
    if entry.file_size <= MAX_ROWS * len(_ROW):
        return
    for piece in pieces(archive, entry, 1 << 20):
        data = rest + piece
        count += data.count(_ROW)
        rest = data[1 - len(_ROW) :]
        if count > MAX_ROWS + 1:  # one may be <rowBreaks>
            raise DataError(f"the sheet {sheet!r} has more than {MAX_ROWS} rows, the maximum of spreadsheets")


@contextmanager
def open_xlsx(source: IO[bytes], layout: XlsxLayout, start: Cursor | None = None) -> Generator[XlsxReader]:
    """The rows of a workbook.

    Raises: DataError when it cannot be read, also later.
    """
    with _workbook(source) as (archive, book):
        yield XlsxReader(archive, book, layout, start)


@contextmanager
def _workbook(source: IO[bytes]) -> Generator[tuple[zipfile.ZipFile, Workbook]]:
    with opened(source, WORKBOOK) as archive:
        book = read_workbook(archive)
        try:
            yield archive, book
        finally:
            book.strings.close()


def _rows(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> Iterator[FoundRow]:
    entry = _entry(archive, book, sheet)
    reading = SheetRows(entry.filename, book)
    for piece in chain(pieces(archive, entry), (b"",)):
        yield from reading.feed(piece, is_last=not piece)


def _entry(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> zipfile.ZipInfo:
    entry = archive.NameToInfo.get(book.sheet(sheet).part)
    if entry is None:
        raise DataError(f"the sheet {sheet!r} is missing in the file")
    return entry
