"""Records of a CSV file: cells as they stand there, in bounded memory. One that is broken does not break the next."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import IO, NamedTuple

from forebay.services.spreadsheets.lines import Line, Lines
from forebay.services.spreadsheets.rows import MAX_COLUMNS, MAX_ROW_BYTES, BadRow, Place, excerpt

_MAX_LINES = 10_000  # of one record


class Record(NamedTuple):
    line: int
    cells: list[str]


class _Refused(Exception):
    """What is wrong with the record that is being read."""


class Records:
    """The records from a place on; empty ones are left out."""

    def __init__(self, source: IO[bytes], start: Place, encoding: str, delimiter: str, line_end: str) -> None:
        if csv.field_size_limit() < MAX_ROW_BYTES:
            csv.field_size_limit(MAX_ROW_BYTES)  # of the whole process; our own bound is on records
        self._encoding = encoding
        self._lines = Lines(source, start, line_end.encode(encoding))
        self._parsed = csv.reader(_Feed(self), delimiter=delimiter, strict=True)
        self._held: list[Line] = []  # lines of the record that is being read
        self._size = 0
        self._fault: str | None = None

    @property
    def place(self) -> Place:
        """Where the next record begins."""
        return Place(offset=self._lines.offset, line=self._lines.count)

    def __iter__(self) -> Iterator[Record | BadRow]:
        while True:
            self._held.clear()
            self._size, self._fault = 0, None
            line = self._lines.count + 1
            try:
                cells = next(self._parsed)
            except StopIteration:
                return
            except (csv.Error, _Refused) as error:
                yield self._broken(line, error)
                continue
            if fault := self._fault_of(cells):
                yield BadRow(line, fault, self._excerpt())
            elif any(cells):
                yield Record(line, cells)

    def _fault_of(self, cells: list[str]) -> str | None:
        if len(cells) > MAX_COLUMNS:
            return f"has {len(cells)} cells; {MAX_COLUMNS} are allowed"
        return self._fault

    def _broken(self, line: int, error: Exception) -> BadRow:
        """Only the first line is given up: a quote that is never closed must not swallow the rows that follow."""
        first, *others = self._held
        self._lines.put_back(others)
        reason = str(error) if isinstance(error, _Refused) else _in_words(error, is_long=bool(others))
        return BadRow(line, reason, excerpt(self._text(first)))

    def _excerpt(self) -> str:
        return excerpt("".join(map(self._text, self._held[:5])))

    def _text(self, line: Line) -> str:
        return "" if isinstance(line, int) else line[:1000].decode(self._encoding, "replace")

    def feed(self) -> str | None:
        """The next line, for the parser."""
        line = self._lines.take()
        if line is None:
            return None
        self._held.append(line)
        if isinstance(line, int):
            raise _Refused(f"is longer than {MAX_ROW_BYTES >> 20} MiB" if len(self._held) == 1 else _OPEN)
        self._size += len(line)
        if self._size > MAX_ROW_BYTES or len(self._held) > _MAX_LINES:
            raise _Refused(_OPEN)
        return self._decoded(line)

    def _decoded(self, line: bytes) -> str:
        try:
            text = line.decode(self._encoding)
        except UnicodeDecodeError as error:
            byte = error.object[error.start] if error.start < len(error.object) else 0
            self._fault = f"is not {self._encoding}: byte 0x{byte:02x} at position {error.start + 1} of its line"
            text = line.decode(self._encoding, "replace")
        if "\0" in text:
            self._fault = self._fault or "has a NUL character"
        return text


class _Feed:
    """Goes on after an error, which a generator would not."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._records.feed()
        if line is None:
            raise StopIteration
        return line


_OPEN = f"has a quote that is not closed within {_MAX_LINES} lines or {MAX_ROW_BYTES >> 20} MiB"


def _in_words(error: Exception, *, is_long: bool) -> str:
    said = str(error)
    if "unexpected end of data" in said:
        return "has a quote that is not closed"
    if "expected after" in said:
        where = "a quote that is not closed, or one inside a quoted cell" if is_long else "a quote inside a quoted cell"
        return f'has {where}: write it twice ("")'
    if "new-line character" in said:
        return "has a carriage return that is neither quoted nor the end of a line"
    return f"is not CSV: {said}"
