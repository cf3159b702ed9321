"""Rows of XLSX files, read as a stream: neither a sheet nor its strings are ever whole in memory.

Cells become text as `cell_text` would have it: what a formula gave when the file was saved, numbers with the 15 digits
that a spreadsheet shows, dates and times as ISO 8601, truth as `true` or `false`, errors as they are shown (`#N/A`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import IO, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from forebay.errors import DataError
from forebay.services.spreadsheets.archives import WORKBOOK, opened, pieces
from forebay.services.spreadsheets.cells import moment_text, number_text
from forebay.services.spreadsheets.rows import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    MOST_BYTES,
    AnyRow,
    BadRow,
    Cells,
    Place,
    Row,
    columns_of,
    excerpt,
    fitted,
    looks_like_header,
    renamed,
    without_empty_end,
)
from forebay.services.spreadsheets.xlsx_parts import Markup, Workbook, local, plain, read_workbook
from forebay.services.spreadsheets.xlsx_writing import letters


class XlsxLayout(BaseModel):
    """What one has to know to read a sheet from any row on."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["xlsx"] = "xlsx"
    sheet: str
    sheets: tuple[str, ...]
    columns: tuple[str, ...]
    has_header: bool
    renamed: tuple[str, ...] = ()  # columns that have no name in the file, or the name of another
    start: Place


class XlsxReader:
    """The rows of a sheet, from its first or from a place on: the rows before that are read again, and left out."""

    def __init__(self, archive: zipfile.ZipFile, book: Workbook, layout: XlsxLayout, start: Place | None) -> None:
        self._columns = layout.columns
        self._line = (start or layout.start).line
        self._rows = _rows(archive, book, layout.sheet)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def place(self) -> Place:
        return Place(line=self._line)

    def __iter__(self) -> Iterator[AnyRow]:
        for line, cells in self._fitted():
            yield cells if isinstance(cells, BadRow) else Row(line, dict(zip(self._columns, cells, strict=True)))

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows; their bytes are the characters that people see."""
        found = Cells([], [], [], self.place, is_last=False)
        size = 0
        for count, (line, cells) in enumerate(self._fitted(), 1):
            found.add(line, cells)
            size += len(cells.excerpt) if isinstance(cells, BadRow) else sum(map(len, cells))
            if count >= most_rows or size >= most_bytes:
                return found._replace(next=self.place)
        return found._replace(next=self.place, is_last=True)

    def _fitted(self) -> Iterator[tuple[int, list[str] | BadRow]]:
        wanted = len(self._columns)
        for line, cells, fault in self._rows:
            if line <= self._line:
                continue
            self._line = line
            if fault:
                yield line, BadRow(line, fault, excerpt(" | ".join(cells)))
            elif any(cells):
                yield line, cells if len(cells) == wanted else fitted(line, cells, wanted)


def look_at_xlsx(source: IO[bytes], *, sheet: str | None = None, header: bool | None = None) -> XlsxLayout:
    """What a workbook holds; the first sheet that people see, unless one is named.

    Raises: DataError with the reason when it cannot be read.
    """
    with _workbook(source) as (archive, book):
        wanted = book.sheet(sheet).name
        sample = [
            row
            for _, row in zip(range(100), (one for one in _rows(archive, book, wanted) if any(one[1])), strict=False)
        ]
        if not sample:
            raise DataError(f"the sheet {wanted!r} has no rows")
        line, first, fault = sample[0]
        if fault:
            raise DataError(f"row {line} {fault}")
        cells = without_empty_end(first, 1)
        has_header = looks_like_header(cells) if header is None else header
        if not has_header:
            cells = [""] * max(len(without_empty_end(row, 1)) for _, row, _ in sample)
        columns = columns_of(cells)
        return XlsxLayout(
            sheet=wanted,
            sheets=tuple(one.name for one in book.sheets),
            columns=columns,
            has_header=has_header,
            renamed=renamed(columns, cells),
            start=Place(line=line if has_header else 0),
        )


@contextmanager
def open_xlsx(source: IO[bytes], layout: XlsxLayout, start: Place | None = None) -> Generator[XlsxReader]:
    """The rows of a workbook.

    Raises: DataError with the reason when it cannot be read, also later.
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


def _rows(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> Iterator[_Found]:
    part = book.sheet(sheet).part
    entry = archive.NameToInfo.get(part)
    if entry is None:
        raise DataError(f"the sheet {sheet!r} is missing in the file")
    reading = _Sheet(part, book)
    for piece in chain(pieces(archive, entry), (b"",)):
        reading.feed(piece, is_last=not piece)
        yield from reading.taken()


_Found = tuple[int, list[str], str | None]  # number of the row, its cells, and what is wrong with it


_DIGITS = "0123456789"
_NOWHERE = MAX_COLUMNS + 1


@cache
def _columns() -> dict[str, int]:
    return {letters(number): number + 1 for number in range(MAX_COLUMNS)}


_Handler = TypeVar("_Handler", bound=Callable[..., None])


class _ByName(dict[str, _Handler | None]):
    """What to do at a tag, by its name; names with a prefix are looked at once."""

    def __missing__(self, name: str) -> _Handler | None:
        self[name] = self.get(local(name))
        return self[name]


class _Sheet(Markup):
    """Rows, as they come out of the markup."""

    def __init__(self, part: str, book: Workbook) -> None:
        super().__init__(part)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add
        text = {"v": self._begin_text, "t": self._begin_text}
        self._starts = _ByName({"c": self._begin_cell, "row": self._begin_row, "rPh": self._begin_spoken, **text})
        text_end = {"v": self._end_text, "t": self._end_text}
        self._ends = _ByName({"c": self._end_cell, "row": self._end_row, "rPh": self._end_spoken, **text_end})
        self._columns = _columns()
        self._book = book
        self._found: list[_Found] = []
        self._row = self._column = self._size = self._spoken = 0
        self._cells: list[str] = []
        self._fault: str | None = None
        self._kind = self._style = ""
        self._text: list[str] = []
        self._is_text = False

    def taken(self) -> list[_Found]:
        found, self._found = self._found, []
        return found

    def _start(self, name: str, given: dict[str, str]) -> None:
        if begin := self._starts[name]:
            begin(given)

    def _end(self, name: str) -> None:
        if end := self._ends[name]:
            end()

    def _begin_text(self, _: dict[str, str]) -> None:
        self._is_text = not self._spoken

    def _end_text(self) -> None:
        self._is_text = False

    def _begin_spoken(self, _: dict[str, str]) -> None:
        self._spoken += 1

    def _end_spoken(self) -> None:
        self._spoken -= 1

    def _end_row(self) -> None:
        self._found.append((self._row, self._cells, self._fault))
        self._cells = []

    def _begin_row(self, given: dict[str, str]) -> None:
        number = given.get("r", "")
        told = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        self._row = max(told, self._row + 1)  # rows only go on, whatever they say
        self._column = self._size = 0
        self._cells, self._fault = [], None

    def _begin_cell(self, given: dict[str, str]) -> None:
        place = given.get("r")
        # What has no such name is out of order, or beyond the last column.
        self._column = self._columns.get(place.rstrip(_DIGITS), _NOWHERE) if place else self._column + 1
        self._kind, self._style = given.get("t", "n"), given.get("s", "")
        self._text = []

    def _add(self, text: str) -> None:
        if not self._is_text:
            return
        self._size += len(text)
        if self._size > MAX_ROW_BYTES:
            self._fault = f"is longer than {MAX_ROW_BYTES >> 20} MiB"
        else:
            self._text.append(text)

    def _end_cell(self) -> None:
        text = "".join(self._text)
        if not text or self._fault:
            return
        missing = self._column - len(self._cells) - 1
        if missing < 0 or self._column > MAX_COLUMNS:
            self._fault = "has cells out of order" if missing < 0 else f"has more than {MAX_COLUMNS} cells"
            return
        value = self._value(text)
        if self._kind == "s":
            self._size += len(value)
            if self._size > MAX_ROW_BYTES:  # one long string may be shared by all cells
                self._fault = f"is longer than {MAX_ROW_BYTES >> 20} MiB"
                return
        if "\0" in value:
            self._fault = "has a NUL character"
        self._cells.extend([""] * missing)
        self._cells.append(value)

    def _value(self, text: str) -> str:
        match self._kind:
            case "s":
                return self._shared(text)
            case "n" | "":
                return self._number(text)
            case "b":
                return "true" if text.strip() in {"1", "true"} else "false"
            case _:  # inlineStr, str, e, d
                return plain(text)

    def _shared(self, text: str) -> str:
        try:
            return self._book.strings[int(text)]
        except (ValueError, IndexError):
            self._fault = "refers to a string that is not in the file"
            return ""

    def _number(self, text: str) -> str:
        if not self._style and len(text) < 16 and text.isascii() and text.isdigit() and text[0] != "0":
            return text
        try:
            value = float(text)
        except ValueError:
            return text
        style = int(self._style) if self._style.isascii() and self._style.isdigit() and len(self._style) < 9 else 0
        formats = self._book.formats
        meaning = formats[style] if style < len(formats) else None
        if meaning is None:
            return number_text(float(f"{value:.15g}"))
        return moment_text(
            value, has_date=meaning.has_date, has_time=meaning.has_time, since_1904=self._book.since_1904
        )
