"""Reads records of a CSV file in bounded memory. An invalid record does not affect the next.

Regular lines are parsed many at a time, others one by one.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, compress
from typing import IO, NamedTuple, TypeAlias

from forebay.services.spreadsheets.dialect import Dialect, Reader, cleaned, csv_reader
from forebay.services.spreadsheets.lines import CHUNK, Line, LineReader
from forebay.services.spreadsheets.rows import MAX_COLUMNS, MAX_ROW_BYTES, BadRow, Cursor, excerpt

_MAX_LINES = 10_000  # lines of a record


class Record(NamedTuple):
    line: int
    cells: list[str]


_Ends: TypeAlias = Sequence[tuple[int, int]]  # the byte and the line where records end


class Stretch:
    """Consecutive records and their first lines; empty ones are left out."""

    def __init__(
        self,
        lines: list[int],
        records: list[list[str] | BadRow],
        widths: frozenset[int],
        places: tuple[Cursor, Cursor],
        ends: Callable[[], _Ends],
    ) -> None:
        self.lines = lines
        self.records = records
        self.widths = widths  # number of cells of the records; None when some are invalid
        self._start, self._end = places
        self._find_ends = ends
        self._ends: _Ends | None = None

    @classmethod
    def at(cls, cursor: Cursor) -> Stretch:
        """A stretch without records."""
        return cls([], [], frozenset(), (cursor, cursor), tuple)

    def after(self, count: int) -> Cursor:
        """The cursor after the first records."""
        if count == 0:
            return self._start
        if count == len(self.records) and self.lines[-1] == self._end.line:
            return self._end
        offset, line = self._known_ends()[count - 1]
        return Cursor(offset=offset, line=line)

    def until(self, offset: int, most: int) -> int:
        """The number of records up to the first that ends at or after that byte; at most `most`."""
        if self._end.offset < offset:
            return min(most, len(self.records))
        ends = self._known_ends()[:most]
        return min(bisect_left(ends, (offset, 0)) + 1, len(ends))

    def reaches(self, offset: int, count: int) -> bool:
        """Whether the first records end at or after that byte."""
        return self._end.offset >= offset and self._known_ends()[count - 1][0] >= offset

    def _known_ends(self) -> _Ends:
        """Computed on demand, because most readers do not need the end of each record."""
        if self._ends is None:
            self._ends = self._find_ends()
        return self._ends


class _Refused(Exception):
    """Why the current record is invalid."""


class Records:
    """The records from a cursor on."""

    def __init__(
        self,
        source: IO[bytes],
        start: Cursor,
        encoding: str,
        dialect: Dialect,
        line_end: str,
        *,
        chunk: int = CHUNK,
    ) -> None:
        self._encoding = encoding
        self._dialect = dialect
        self._is_cleaned = dialect.spaced or not dialect.quote
        self._end = line_end.encode(encoding)
        self._is_usual = line_end == "\n"
        self._lines = LineReader(source, start, self._end, chunk)
        self._parsed = csv_reader(_Feed(self), self._dialect)
        self._held: list[Line] = []  # lines of the current record
        self._size = 0
        self._fault: str | None = None

    @property
    def cursor(self) -> Cursor:
        """The cursor of the next stretch."""
        return Cursor(offset=self._lines.offset, line=self._lines.count)

    def take(self) -> Stretch | None:
        """The next records in the buffer; None at the end."""
        if self._is_usual and not self._lines.are_split and (found := self._many()):
            return found
        return self._few()

    def __iter__(self) -> Iterator[Record | BadRow]:
        while stretch := self.take():
            for line, cells in zip(stretch.lines, stretch.records, strict=True):
                yield cells if isinstance(cells, BadRow) else Record(line, cells)

    # Many at a time.

    def _many(self) -> Stretch | None:
        start = self.cursor
        block = self._lines.take_many()
        text = self._plain_text(block)
        if text is None:
            self._lines.put_back_many(block, split=True)
            return None
        source = io.StringIO(text, newline="\n")
        records: list[list[str]] = []
        ends: list[int] = []  # the last line of each record
        if self._dialect.spaced:
            error = _parse_lines(source, self._dialect, records, ends)
        else:
            error = _parse(csv_reader(source, self._dialect), records, ends, is_simple=self._is_simple(text))
        if self._is_cleaned:
            records = [cleaned(cells, self._dialect) for cells in records]
        widths = frozenset(map(len, records))
        if max(widths, default=0) > MAX_COLUMNS or _has_long(ends):
            records, ends, error = [], [], "odd"
        if error:
            done = sum(map(len, self._lines.parts(block)[: ends[-1]])) if ends else 0
            # A record that continues after this block is tried again with the next block, once.
            self._lines.put_back_many(block[done:], split=not ends or "unexpected end of data" not in error)
            block = block[:done]
        if not ends:
            return None
        self._lines.count += ends[-1]
        return self._stretch(start, block, records, ends, widths)

    def _is_simple(self, text: str) -> bool:
        """Whether each line is a record."""
        _, quote, escape, _ = self._dialect
        return not quote or (quote not in text and (escape is None or escape not in text))

    def _plain_text(self, block: bytes) -> str | None:
        try:
            text = block.decode(self._encoding)
        except UnicodeDecodeError:
            return None
        is_plain = "\0" not in text and text.count("\n") == block.count(self._end)
        return text if text and is_plain else None

    def _stretch(
        self, start: Cursor, block: bytes, records: list[list[str]], ends: list[int], widths: frozenset[int]
    ) -> Stretch:
        first = start.line + 1
        lines = [first, *(first + end for end in ends[:-1])]
        kept = list(map(any, records))
        if not all(kept):
            records, lines, ends = (
                list(compress(records, kept)),
                list(compress(lines, kept)),
                list(compress(ends, kept)),
            )

        def found_ends() -> _Ends:
            offsets = list(accumulate(map(len, self._lines.parts(block)), initial=start.offset))
            return [(offsets[end], start.line + end) for end in ends]

        return Stretch(lines, [*records], widths, (start, self.cursor), found_ends)

    # One by one.

    def _few(self) -> Stretch | None:
        start = self.cursor
        lines: list[int] = []
        records: list[list[str] | BadRow] = []
        ends: list[tuple[int, int]] = []
        while True:
            line = self._lines.count + 1
            found = self._next(line)
            if found is None:
                break
            if found:
                lines.append(line)
                records.append(found)
                ends.append((self._lines.offset, self._lines.count))
            if not self._lines.are_split:
                break
        if found is None and not records and self.cursor == start:
            return None
        is_good = not any(isinstance(record, BadRow) for record in records)
        widths = frozenset(map(len, records) if is_good else ())
        return Stretch(lines, records, widths, (start, self.cursor), lambda: ends)

    def _next(self, line: int) -> list[str] | BadRow | None:
        """The next record, which may be empty; None at the end."""
        self._held.clear()
        self._size, self._fault = 0, None
        try:
            cells = self._parsed_line() if self._dialect.spaced else next(self._parsed, None)
        except (csv.Error, _Refused) as error:
            return self._broken(line, error)
        if cells is None:
            return None
        if fault := self._fault_of(cells):
            return BadRow(line, fault, self._excerpt())
        cells = cleaned(cells, self._dialect)
        return cells if any(cells) else []

    def _parsed_line(self) -> list[str] | None:
        line = self.feed()
        return None if line is None else _line_cells(line, self._dialect)

    def _fault_of(self, cells: list[str]) -> str | None:
        if len(cells) > MAX_COLUMNS:
            return f"has {len(cells)} cells; {MAX_COLUMNS} are allowed"
        return self._fault

    def _broken(self, line: int, error: Exception) -> BadRow:
        """Only the first line is invalid: an unclosed quote must not swallow the following rows."""
        first, *others = self._held
        self._lines.put_back(others)
        reason = str(error) if isinstance(error, _Refused) else _described(error, is_long=bool(others))
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


def _line_cells(line: str, dialect: Dialect) -> list[str]:
    """The cells of a line that is a whole record.

    With spaces around quotes the parser must be lenient and does not detect an unclosed quote: it would silently
    continue into the next lines. So these files have one record per line.
    """
    empty: list[str] = []
    return next(csv_reader((line,), dialect), empty)


def _parse_lines(lines: Iterable[str], dialect: Dialect, records: list[list[str]], ends: list[int]) -> str:
    """The same as `_parse`, for files with one record per line."""
    try:
        for number, line in enumerate(lines, 1):
            records.append(_line_cells(line, dialect))
            ends.append(number)
    except csv.Error as error:
        return str(error)
    return ""


def _parse(reader: Reader, records: list[list[str]], ends: list[int], *, is_simple: bool) -> str:
    """Add the records up to the first irregular one, and return its error."""
    try:
        if is_simple:  # one record per line
            records.extend(reader)
            ends.extend(range(1, len(records) + 1))
        else:
            for cells in reader:
                records.append(cells)
                ends.append(reader.line_num)
    except csv.Error as error:
        ends.extend(range(len(ends) + 1, len(records) + 1))
        return str(error)
    return ""


def _has_long(ends: list[int]) -> bool:
    """Whether a record has too many lines."""
    if not ends or ends[-1] - len(ends) < _MAX_LINES:
        return False
    return max(end - begin for begin, end in zip((0, *ends), ends, strict=False)) > _MAX_LINES


class _Feed:
    """An iterator that continues after an error, unlike a generator."""

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


def _described(error: Exception, *, is_long: bool) -> str:
    said = str(error)
    if "unexpected end of data" in said:
        return "has a quote that is not closed"
    if "expected after" in said:
        where = "a quote that is not closed, or one inside a quoted cell" if is_long else "a quote inside a quoted cell"
        return f'has {where}: write it twice ("")'
    if "new-line character" in said:
        return "has a carriage return that is neither quoted nor the end of a line"
    return f"is not CSV: {said}"
