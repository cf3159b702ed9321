"""CSV files: detection of the layout, and reading rows from any cursor on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Literal, cast

from pydantic import BaseModel, ConfigDict

from forebay.errors import DataError
from forebay.services.encodings import find_encoding, find_mark, known_encoding
from forebay.services.spreadsheets.dialect import DELIMITERS, Dialect, find_dialect, read_sample
from forebay.services.spreadsheets.headers import looks_like_header, table_start, widened
from forebay.services.spreadsheets.lines import CHUNK, LineReader
from forebay.services.spreadsheets.records import Records, Stretch
from forebay.services.spreadsheets.rows import (
    MAX_COLUMNS,
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

_SAMPLE_BYTES = 64 << 10
_MOST_NOTES = 20
_SAMPLE_CHUNK = 16 << 10  # bytes that usually contain a hundred rows


class CsvLayout(BaseModel):
    """What is needed to read a CSV file from any row on; stored with an upload, so that reading can resume."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["csv"] = "csv"
    encoding: str
    delimiter: str
    quote: str = '"'
    escape: str | None = None  # a backslash before quotes
    spaced: bool = False  # spaces between quotes and delimiters
    line_end: str
    columns: tuple[str, ...]
    has_header: bool
    renamed: tuple[str, ...] = ()  # columns without a name, or with the name of another
    notes: tuple[str, ...] = ()  # lines above the table, such as a title
    start: Cursor  # of the first row after the header

    def records(self, source: IO[bytes], start: Cursor, chunk: int = CHUNK) -> Records:
        dialect = Dialect(self.delimiter, self.quote, self.escape, self.spaced)
        return Records(source, start, self.encoding, dialect, self.line_end, chunk=chunk)


class CsvReader:
    """The rows of a CSV file, from the first or from a cursor on."""

    def __init__(self, source: IO[bytes], layout: CsvLayout, start: Cursor | None = None) -> None:
        self._columns = layout.columns
        start = start or layout.start
        self._records = layout.records(source, start)
        self._stretch = Stretch.at(start)
        self._at = 0  # number of records of the stretch that were read

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def cursor(self) -> Cursor:
        return self._stretch.after(self._at)

    def __iter__(self) -> Iterator[AnyRow]:
        while self._has_more():
            line, record = self._stretch.lines[self._at], self._fitted(self._at)
            self._at += 1
            yield record if isinstance(record, BadRow) else Row(line, dict(zip(self._columns, record, strict=True)))

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows; their size is that in the file."""
        found = Cells([], [], [], self.cursor, is_last=False)
        full = found.next.offset + most_bytes
        while is_more := self._has_more():
            end = self._stretch.until(full, self._at + most_rows - len(found.rows) - len(found.bad))
            self._move(found, end)
            if len(found.rows) + len(found.bad) >= most_rows or self._stretch.reaches(full, end):
                break
        return found._replace(next=self.cursor, is_last=not is_more)

    def _move(self, found: Cells, end: int) -> None:
        """Advance within the stretch."""
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
            self._stretch = found or Stretch.at(self._records.cursor)
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
    """Detect the layout; given values are not detected.

    Raises: DataError when no rows can be read.
    """
    encoding, start = _encoding(source, encoding)
    line_end, start, told = _line_end(source, encoding, start)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise DataError(f"delimiter: {delimiter[:10]!r} must be one character, but not a quote or a line end")
    lines = _sample(source, encoding, line_end, start)
    dialect = find_dialect(lines, delimiter or told)
    sample = read_sample(lines, dialect)
    first = _table_start([row.cells for row in sample], header)
    skipped = sample[first].line if sample else 0
    layout = CsvLayout(
        encoding=encoding,
        **dialect._asdict(),
        line_end=line_end,
        columns=(),
        has_header=False,
        notes=_notes(lines[:skipped]),
        start=_place(source, start, line_end.encode(encoding), skipped),
    )
    return _with_columns(source, layout, [row.cells for row in sample[first:]], header)


def _table_start(rows: list[list[str]], header: bool | None) -> int:
    """The number of rows before the table.

    A declared header is the first row. Without a header, only lines without a delimiter are skipped.
    """
    first = table_start(rows) if rows and not header else 0
    has_header = header is None and first > 0 and looks_like_header(rows[first], rows[first + 1 :])
    return first if has_header or all(len(row) == 1 for row in rows[:first]) else 0


def _with_columns(source: IO[bytes], layout: CsvLayout, sample: list[list[str]], header: bool | None) -> CsvLayout:
    found = _first(layout.records(source, layout.start, _SAMPLE_CHUNK))
    if found is None:
        raise DataError("the file has no rows")
    first, after = found
    is_whole = after.offset - layout.start.offset <= _SAMPLE_BYTES
    # A header with a NUL or an extra quote still names the columns; a declared one must be valid.
    is_usable = sample and is_whole and len(sample[0]) <= MAX_COLUMNS and not header
    if isinstance(first, BadRow) and not is_usable:
        raise DataError(f"line {first.line} {first.reason}")
    cells = without_empty_end(sample[0] if isinstance(first, BadRow) else first, 1)
    has_header = looks_like_header(cells, sample[1:]) if header is None else header
    if has_header and not header:
        cells = widened(cells, sample[1:])
    elif not has_header:
        widths = (len(without_empty_end(one, 1)) for one in sample)
        cells = [""] * max(widths, default=len(cells))
    columns = columns_of(cells)
    return layout.model_copy(
        update={
            "columns": columns,
            "has_header": has_header,
            "renamed": renamed(columns, cells),
            "start": after if has_header else layout.start,
        }
    )


def _notes(lines: Sequence[str]) -> tuple[str, ...]:
    """The readable text above the table."""
    told = (excerpt(line) for line in lines)
    return tuple(line for line in told if line.strip(" ,;\t|"))[:_MOST_NOTES]


def _place(source: IO[bytes], start: Cursor, end: bytes, lines: int) -> Cursor:
    """The cursor after a number of lines."""
    found = LineReader(source, start, end, _SAMPLE_CHUNK)
    for _ in range(lines):
        found.take()
    return Cursor(offset=found.offset, line=found.count)


def _first(records: Records) -> tuple[list[str] | BadRow, Cursor] | None:
    """The first record, and the cursor of the next."""
    while (stretch := records.take()) and not stretch.records:
        pass
    return (stretch.records[0], stretch.after(1)) if stretch else None


def _encoding(source: IO[bytes], told: str | None) -> tuple[str, Cursor]:
    """The encoding, and the cursor after the byte order mark."""
    if told is None:
        encoding, mark = find_encoding(source)
        return encoding, Cursor(offset=mark)
    marked, mark = find_mark(source)
    encoding = known_encoding(told, marked)
    return encoding, Cursor(offset=mark if encoding == marked else 0)


def _line_end(source: IO[bytes], encoding: str, start: Cursor) -> tuple[str, Cursor, str | None]:
    """The line end, the delimiter of a first line "sep=;", which some programs write, and the cursor after it."""
    source.seek(start.offset)
    text = source.read(_SAMPLE_BYTES).decode(encoding, "replace")
    line_end = "\n" if "\n" in text or "\r" not in text else "\r"
    line, found, _ = text.partition(line_end)
    told = line.rstrip("\r")
    if found and len(told) == 5 and told.lower().startswith("sep=") and told[4] in DELIMITERS:
        after = Cursor(offset=start.offset + len((line + found).encode(encoding)), line=1)
        return line_end, after, told[4]
    return line_end, start, None


def _sample(source: IO[bytes], encoding: str, line_end: str, start: Cursor) -> list[str]:
    """The first lines with their ends; of a long file without the last, which may be incomplete."""
    source.seek(start.offset)
    head = source.read(_SAMPLE_BYTES)
    lines = head.decode(encoding, "replace").split(line_end)
    if len(head) == _SAMPLE_BYTES and len(lines) > 1:
        lines = [*lines[:-1], ""]
    return [line + line_end for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
