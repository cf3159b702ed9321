"""CSV files: how one is written, found by looking or told, and its rows from any place on."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict

from forebay.errors import DataError
from forebay.services.spreadsheets.encodings import find_encoding, find_mark, known_encoding
from forebay.services.spreadsheets.records import Record, Records
from forebay.services.spreadsheets.rows import (
    AnyRow,
    BadRow,
    Place,
    columns_of,
    fitted,
    looks_like_header,
    without_empty_end,
)

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 256 << 10
_SAMPLE_ROWS = 100


class CsvLayout(BaseModel):
    """What one has to know to read a CSV file from any row on. Kept with an upload that may have to go on later."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["csv"] = "csv"
    encoding: str
    delimiter: str
    line_end: str
    columns: tuple[str, ...]
    has_header: bool
    start: Place  # of the first row after the header


class CsvReader:
    """The rows of a CSV file, from its first or from a place on."""

    def __init__(self, source: IO[bytes], layout: CsvLayout, start: Place | None = None) -> None:
        self._layout = layout
        self._records = _records(source, layout.encoding, layout.delimiter, layout.line_end, start or layout.start)
        self._read = iter(self._records)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._layout.columns

    @property
    def place(self) -> Place:
        return self._records.place

    def __iter__(self) -> Iterator[AnyRow]:
        columns = self._layout.columns
        for record in self._read:
            yield record if isinstance(record, BadRow) else fitted(record.line, record.cells, columns)


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
    records = _records(source, encoding, delimiter, line_end, start)
    first = next(iter(records), None)
    if first is None:
        raise DataError("the file has no rows")
    if isinstance(first, BadRow):
        raise DataError(f"line {first.line} {first.reason}")
    cells = without_empty_end(first.cells, 1)
    has_header = looks_like_header(cells) if header is None else header
    if not has_header:
        sample = _sample(source, encoding, delimiter, line_end, start)
        widths = (len(without_empty_end(one.cells, 1)) for one in sample if isinstance(one, Record))
        cells = [""] * max(widths, default=len(cells))
    return CsvLayout(
        encoding=encoding,
        delimiter=delimiter,
        line_end=line_end,
        columns=columns_of(cells),
        has_header=has_header,
        start=records.place if has_header else start,
    )


def _records(source: IO[bytes], encoding: str, delimiter: str, line_end: str, start: Place) -> Records:
    return Records(source, start, encoding, delimiter, line_end)


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
    records = _records(io.BytesIO(head), encoding, delimiter, line_end, Place())
    found = [record for _, record in zip(range(_SAMPLE_ROWS), records, strict=False)]
    is_cut = len(head) == _SAMPLE_BYTES and records.place.offset == len(head)
    return found[:-1] if is_cut and len(found) > 1 else found
