"""What readers of files hand over: rows, the rows that could not be read, and the place where reading goes on."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from forebay.errors import DataError

MAX_ROW_BYTES = 4 << 20
MAX_COLUMNS = 16_384  # as many as a spreadsheet has
MOST_BYTES = 16 << 20  # of a batch
_EXCERPT = 200

# Of the whole process, and set here only, as all that read CSV import this. Our own bound is on records; what is made
# of them, for a grid for example, may be a little longer.
csv.field_size_limit(max(csv.field_size_limit(), 4 * MAX_ROW_BYTES))


class Row(NamedTuple):
    """One row: its first line in the file, and its cells by column."""

    line: int
    cells: dict[str, str]


class BadRow(NamedTuple):
    """A row that cannot be read: its line, why, and how it begins."""

    line: int
    reason: str
    excerpt: str = ""


AnyRow: TypeAlias = Row | BadRow


class Cursor(BaseModel):
    """Where a row begins: the byte in a CSV file, 0 in others, and how many lines come before."""

    model_config = ConfigDict(frozen=True)

    offset: int = Field(default=0, ge=0)
    line: int = Field(default=0, ge=0)


class Batch(NamedTuple):
    """Rows that follow each other, and where the next one begins."""

    rows: list[AnyRow]
    next: Cursor
    is_last: bool


class Cells(NamedTuple):
    """Rows that follow each other without the names of their columns, which is faster; and those that are bad."""

    lines: list[int]  # one for each row
    rows: list[list[str]]  # the cells of each, as many as there are columns and in their order
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
        """Where the next row begins."""
        ...

    def __iter__(self) -> Iterator[AnyRow]: ...

    def take(self, most_rows: int, most_bytes: int = MOST_BYTES) -> Cells:
        """The next rows: no more than so many, and ending with the one that makes them so many bytes, or more."""
        ...


def take(reader: RowReader, most_rows: int, most_bytes: int = MOST_BYTES) -> Batch:
    """The next rows with the names of their columns, good and bad ones in their order; see `RowReader.take`."""
    found = reader.take(most_rows, most_bytes)
    columns = reader.columns
    named = (dict(zip(columns, cells, strict=True)) for cells in found.rows)
    rows: list[AnyRow] = [*map(Row, found.lines, named), *found.bad]
    if found.bad:
        rows.sort(key=lambda row: row.line)
    return Batch(rows, found.next, found.is_last)


def excerpt(text: str) -> str:
    """How a row begins, for the person who looks for it."""
    return text[:_EXCERPT].replace("\0", "\N{SYMBOL FOR NULL}").strip()


# Columns.


def columns_of(header: Sequence[str]) -> tuple[str, ...]:
    """Names for all columns: those without one are numbered, and a name that comes again gets a number.

    Raises: DataError when there are too many.
    """
    if len(header) > MAX_COLUMNS:
        raise DataError(f"the file has {len(header)} columns; {MAX_COLUMNS} are allowed")
    names: dict[str, int] = {}  # and the number that the next of the same name may have
    for place, cell in enumerate(header, 1):
        name = wanted = _name(cell) or f"column {place}"
        while name in names:
            names[wanted] += 1
            name = f"{wanted} {names[wanted]}"
        names[name] = 1
    return tuple(names)


def renamed(columns: Sequence[str], header: Sequence[str]) -> tuple[str, ...]:
    """The columns that are not called as the header says."""
    return tuple(column for column, cell in zip(columns, header, strict=True) if column != _name(cell))


def _name(cell: str) -> str:
    return " ".join(cell.split()).replace("\0", "")


def without_empty_end(cells: list[str], wanted: int) -> list[str]:
    """A row without the empty cells that come after the last column."""
    while len(cells) > wanted and not cells[-1]:
        cells.pop()
    return cells


def fitted(line: int, cells: list[str], wanted: int) -> list[str] | BadRow:
    """A cell for each column. Spreadsheets leave out the empty cells at a row's end: they are put back."""
    given = len(cells)
    if given > wanted:
        given = len(without_empty_end(cells, wanted))
    if given < wanted:
        cells.extend([""] * (wanted - given))
    elif given > wanted:
        return BadRow(line, f"has {given} cells, but there are {wanted} columns", excerpt(" | ".join(cells)))
    return cells
