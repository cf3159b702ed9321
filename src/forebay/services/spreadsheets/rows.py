"""The results of readers: rows, invalid rows, and cursors."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from forebay.errors import DataError

MAX_ROW_BYTES = 4 << 20
MAX_COLUMNS = 16_384  # the maximum of spreadsheets
MOST_BYTES = 16 << 20  # bytes of a batch
_EXCERPT = 200

# Applies to the whole process; set here, because everything that reads CSV imports this module. Records have their own
# limit; derived rows, for example of a grid, may be a little longer.
csv.field_size_limit(max(csv.field_size_limit(), 4 * MAX_ROW_BYTES))


class Row(NamedTuple):
    """One row: its first line in the file, and its cells by column."""

    line: int
    cells: dict[str, str]


class BadRow(NamedTuple):
    """An invalid row: its line, the reason, and an excerpt."""

    line: int
    reason: str
    excerpt: str = ""


AnyRow: TypeAlias = Row | BadRow


class Cursor(BaseModel):
    """The start of a row: the byte in a CSV file, 0 in others, and the number of lines before it."""

    model_config = ConfigDict(frozen=True)

    offset: int = Field(default=0, ge=0)
    line: int = Field(default=0, ge=0)


class RowBatch(NamedTuple):
    """Consecutive rows, and the cursor of the next."""

    rows: list[AnyRow]
    next: Cursor
    is_last: bool


class Cells(NamedTuple):
    """Consecutive rows as lists of cells, which is faster; and invalid rows."""

    lines: list[int]  # one per row
    rows: list[list[str]]  # the cells of each row, one per column
    bad: list[BadRow]
    next: Cursor
    is_last: bool

    def add(self, line: int, cells: list[str] | BadRow) -> None:
        if isinstance(cells, BadRow):
            self.bad.append(cells)
        else:
            self.lines.append(line)
            self.rows.append(cells)


class RowReader(Protocol):
    """A file that is being read."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def cursor(self) -> Cursor:
        """The cursor of the next row."""
        ...

    def __iter__(self) -> Iterator[AnyRow]: ...

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows: at most `most_rows`, ending with the one that reaches `most_bytes`."""
        ...


def take(reader: RowReader, most_rows: int, most_bytes: int = MOST_BYTES) -> RowBatch:
    """The next rows by column name, valid and invalid ones in order; see `RowReader.take`."""
    found = reader.take(most_rows, most_bytes)
    columns = reader.columns
    named = (dict(zip(columns, cells, strict=True)) for cells in found.rows)
    rows: list[AnyRow] = [*map(Row, found.lines, named), *found.bad]
    if found.bad:
        rows.sort(key=lambda row: row.line)
    return RowBatch(rows, found.next, found.is_last)


def excerpt(text: str) -> str:
    """The beginning of a row, for messages."""
    return text[:_EXCERPT].replace("\0", "\N{SYMBOL FOR NULL}").strip()


# Columns.


def columns_of(header: Sequence[str]) -> tuple[str, ...]:
    """Names for all columns: columns without a name and repeated names are numbered.

    Raises: DataError when there are too many.
    """
    if len(header) > MAX_COLUMNS:
        raise DataError(f"the file has {len(header)} columns; {MAX_COLUMNS} are allowed")
    names: dict[str, int] = {}  # the next number for a repeated name
    for place, cell in enumerate(header, 1):
        name = wanted = _name(cell) or f"column {place}"
        while name in names:
            names[wanted] += 1
            name = f"{wanted} {names[wanted]}"
        names[name] = 1
    return tuple(names)


def renamed(columns: Sequence[str], header: Sequence[str]) -> tuple[str, ...]:
    """The columns whose names differ from the header."""
    return tuple(column for column, cell in zip(columns, header, strict=True) if column != _name(cell))


def _name(cell: str) -> str:
    return " ".join(cell.split()).replace("\0", "")


def without_empty_end(cells: list[str], wanted: int) -> list[str]:
    """A row without empty cells after the last column."""
    while len(cells) > wanted and not cells[-1]:
        cells.pop()
    return cells


def fitted(line: int, cells: list[str], wanted: int) -> list[str] | BadRow:
    """One cell per column. Spreadsheets omit empty cells at the end of a row, which are added."""
    given = len(cells)
    if given > wanted:
        given = len(without_empty_end(cells, wanted))
    if given < wanted:
        cells.extend([""] * (wanted - given))
    elif given > wanted:
        return BadRow(line, f"has {given} cells, but there are {wanted} columns", excerpt(" | ".join(cells)))
    return cells
