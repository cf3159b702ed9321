"""CSV files: how one is written, found by looking or told, and its rows from any place on."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import IO, Literal, cast

from pydantic import BaseModel, ConfigDict

from forebay.errors import DataError
from forebay.services.spreadsheets.encodings import find_encoding, find_mark, known_encoding
from forebay.services.spreadsheets.records import Record, Records, Stretch
from forebay.services.spreadsheets.rows import (
    MOST_BYTES,
    AnyRow,
    BadRow,
    Cells,
    Place,
    Row,
    columns_of,
    fitted,
    looks_like_header,
    renamed,
    without_empty_end,
)

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 256 << 10
_SAMPLE_ROWS = 100
_SAMPLE_CHUNK = 16 << 10  # most have their hundred rows in that


class CsvLayout(BaseModel):
    """What one has to know to read a CSV file from any row on. Kept with an upload that may have to go on later."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["csv"] = "csv"
    encoding: str
    delimiter: str
    line_end: str
    columns: tuple[str, ...]
    has_header: bool
    renamed: tuple[str, ...] = ()  # columns that have no name in the file, or the name of another
    start: Place  # of the first row after the header


class CsvReader:
    """The rows of a CSV file, from its first or from a place on."""

    def __init__(self, source: IO[bytes], layout: CsvLayout, start: Place | None = None) -> None:
        self._columns = layout.columns
        start = start or layout.start
        self._records = Records(source, start, layout.encoding, layout.delimiter, layout.line_end)
        self._stretch = Stretch.at(start)
        self._at = 0  # how many records of the stretch were read

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def place(self) -> Place:
        return self._stretch.after(self._at)

    def __iter__(self) -> Iterator[AnyRow]:
        while self._has_more():
            line, record = self._stretch.lines[self._at], self._fitted(self._at)
            self._at += 1
            yield record if isinstance(record, BadRow) else Row(line, dict(zip(self._columns, record, strict=True)))

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows; their bytes are those that they have in the file."""
        found = Cells([], [], [], self.place, is_last=False)
        full = found.next.offset + most_bytes
        while is_more := self._has_more():
            end = self._stretch.until(full, self._at + most_rows - len(found.rows) - len(found.bad))
            self._move(found, end)
            if len(found.rows) + len(found.bad) >= most_rows or self._stretch.reaches(full, end):
                break
        return found._replace(next=self.place, is_last=not is_more)

    def _move(self, found: Cells, end: int) -> None:
        """Read the records of the stretch up to one."""
        stretch, begin, self._at = self._stretch, self._at, end
        if stretch.widths == frozenset((len(self._columns),)):
            found.lines.extend(stretch.lines[begin:end])
            found.rows.extend(cast("list[list[str]]", stretch.records[begin:end]))
            return
        for at in range(begin, end):
            found.add(stretch.lines[at], self._fitted(at))

    def _has_more(self) -> bool:
        while self._at >= len(self._stretch.records):
            self._at = 0
            found = self._records.take()
            self._stretch = found or Stretch.at(self._records.place)
            if found is None:
                return False
        return True

    def _fitted(self, at: int) -> list[str] | BadRow:
        record = self._stretch.records[at]
        if isinstance(record, BadRow):
            return record
        return fitted(self._stretch.lines[at], record, len(self._columns))


def look_at_csv(
    source: IO[bytes],
    *,
    header: bool | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> CsvLayout:
    """How this file is written; what is given is not looked for.

    Raises: DataError with the reason when no rows can be read from it.
    """
    encoding, start = _encoding(source, encoding)
    line_end, start, told = _line_end(source, encoding, start)
    delimiter = delimiter or told or _delimiter(source, encoding, line_end, start)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise DataError(f"delimiter: {delimiter[:10]!r} must be one character, and neither a quote nor a line's end")
    found = _first(Records(source, start, encoding, delimiter, line_end, chunk=_SAMPLE_CHUNK))
    if found is None:
        raise DataError("the file has no rows")
    first, after = found
    if isinstance(first, BadRow):
        raise DataError(f"line {first.line} {first.reason}")
    cells = without_empty_end(first, 1)
    has_header = looks_like_header(cells) if header is None else header
    if not has_header:
        sample = _sample(source, encoding, delimiter, line_end, start)
        widths = (len(without_empty_end(one.cells, 1)) for one in sample if isinstance(one, Record))
        cells = [""] * max(widths, default=len(cells))
    columns = columns_of(cells)
    return CsvLayout(
        encoding=encoding,
        delimiter=delimiter,
        line_end=line_end,
        columns=columns,
        has_header=has_header,
        renamed=renamed(columns, cells),
        start=after if has_header else start,
    )


def _first(records: Records) -> tuple[list[str] | BadRow, Place] | None:
    """The first record, and where the next begins."""
    while (stretch := records.take()) and not stretch.records:
        pass
    return (stretch.records[0], stretch.after(1)) if stretch else None


def _encoding(source: IO[bytes], told: str | None) -> tuple[str, Place]:
    """The encoding, and the place after the mark at the beginning."""
    if told is None:
        encoding, mark = find_encoding(source)
        return encoding, Place(offset=mark)
    marked, mark = find_mark(source)
    encoding = known_encoding(told, marked)
    return encoding, Place(offset=mark if encoding == marked else 0)


def _line_end(source: IO[bytes], encoding: str, start: Place) -> tuple[str, Place, str | None]:
    """How lines end; and what a first line "sep=;" says, which some programs write, and the place after it."""
    source.seek(start.offset)
    text = source.read(_SAMPLE_BYTES).decode(encoding, "replace")
    line_end = "\n" if "\n" in text or "\r" not in text else "\r"
    line, found, _ = text.partition(line_end)
    told = line.rstrip("\r")
    if found and len(told) == 5 and told.lower().startswith("sep=") and told[4] in DELIMITERS:
        after = Place(offset=start.offset + len((line + found).encode(encoding)), line=1)
        return line_end, after, told[4]
    return line_end, start, None


def _delimiter(source: IO[bytes], encoding: str, line_end: str, start: Place) -> str:
    """The one by which most rows have as many cells as each other, and more than one; of equals that with the most."""
    scores: dict[str, tuple[float, int]] = {}
    for delimiter in DELIMITERS:
        sample = _sample(source, encoding, delimiter, line_end, start)
        widths = Counter(len(one.cells) for one in sample if isinstance(one, Record) and len(one.cells) > 1)
        if widths:
            width, count = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
            scores[delimiter] = (count / len(sample), width)
    return max(scores, key=lambda delimiter: scores[delimiter]) if scores else ","


def _sample(source: IO[bytes], encoding: str, delimiter: str, line_end: str, start: Place) -> list[Record | BadRow]:
    """The first records; of a long file without the last, which may be cut off."""
    source.seek(start.offset)
    head = source.read(_SAMPLE_BYTES)
    records = Records(io.BytesIO(head), Place(), encoding, delimiter, line_end, chunk=_SAMPLE_CHUNK)
    found = list(islice(records, _SAMPLE_ROWS + 1))
    is_cut = len(head) == _SAMPLE_BYTES or len(found) > _SAMPLE_ROWS
    return found[:-1] if is_cut and len(found) > 1 else found
