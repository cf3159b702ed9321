"""Converts workbooks to CSV, so that any batch of rows can be read without the rows before it.

Each row begins with its number, its error, and a letter for the type of each cell: numbers and booleans keep their
types in JSON, so that the meaning of a text like 1.459 need not be guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import TypeAlias

from forebay.services.spreadsheets import BadRow, Cells, CsvLayout, XlsxLayout
from forebay.services.spreadsheets.byte_budget import ByteBudget
from forebay.services.spreadsheets.rows import MAX_ROW_BYTES, Cursor, excerpt
from forebay.services.spreadsheets.writing import CsvFile
from forebay.services.spreadsheets.xlsx_file import open_xlsx
from forebay.services.spreadsheets.xlsx_rows import NO_RESULT, NUMBER, TEXT, TRUTH

_LEADING = ("line", "fault", "kinds")  # the columns before those of the workbook
_ROWS, _CHARACTERS = 1000, 4 << 20  # rows per write
_NO_FAULT = ""
_Found: TypeAlias = tuple[int, list[str] | BadRow, str]


class WrittenOut(CsvLayout):
    """The layout of a converted workbook, and the number of formulas without a result by column."""

    no_result: dict[str, int]

    @property
    def own_columns(self) -> tuple[str, ...]:
        return self.columns[len(_LEADING) :]

    @property
    def warnings(self) -> list[str]:
        """Warnings for the owner of the file."""
        return [
            f"{count} {'cell' if count == 1 else 'cells'} of column {column!r}: {FORMULA_WITHOUT_RESULT}"
            for column, count in self.no_result.items()
        ]


FORMULA_WITHOUT_RESULT = (
    "a formula without a saved result is read as empty; open the file in a spreadsheet program, save it there, "
    "and upload it again"
)


def write_out(path: Path, layout: XlsxLayout, target: Path, most_bytes: int) -> WrittenOut:
    """Write the rows of a workbook as CSV.

    Raises: DataError, also when they take more bytes than allowed for a file of this size.
    """
    columns = (*_LEADING, *layout.columns)
    file = CsvFile(columns, escape=False, mark=False)
    header = file.close()
    budget = ByteBudget(path.stat().st_size, most_bytes)
    no_result: Counter[str] = Counter()
    with target.open("wb") as out, path.open("rb") as source, open_xlsx(source, layout) as reader:
        out.write(header)
        for batch in _batches(reader.typed()):
            for _, _, kinds in batch:
                if NO_RESULT in kinds:
                    no_result.update(_columns_of(NO_RESULT, kinds, layout.columns))
            piece = file.write(_record(*row) for row in batch)
            budget.spend(len(piece))
            out.write(piece)
    return WrittenOut(
        encoding="utf-8",
        delimiter=",",
        line_end="\n",
        columns=columns,
        has_header=True,
        start=Cursor(offset=len(header), line=1),
        no_result=dict(no_result),
    )


def _columns_of(wanted: str, kinds: str, columns: Sequence[str]) -> list[str]:
    return [name for name, kind in zip(columns, kinds, strict=False) if kind == wanted]


def _batches(rows: Iterator[_Found]) -> Iterator[list[_Found]]:
    batch: list[_Found] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += 0 if isinstance(row[1], BadRow) else sum(map(len, row[1]))
        if len(batch) == _ROWS or size >= _CHARACTERS:
            yield batch
            batch, size = [], 0
    yield batch


def _record(line: int, cells: list[str] | BadRow, kinds: str) -> Sequence[str]:
    if isinstance(cells, BadRow):
        return (str(line), cells.reason, "", cells.excerpt)
    if sum(map(len, cells)) > MAX_ROW_BYTES // 8 and _bytes_of(cells) > MAX_ROW_BYTES - (64 << 10):
        # Longer than the CSV reader allows, which would lose its number.
        return (str(line), f"is longer than {MAX_ROW_BYTES >> 20} MiB", "", excerpt(" | ".join(cells)))
    return (str(line), _NO_FAULT, kinds.rstrip(TEXT), *cells)


def _bytes_of(cells: Sequence[str]) -> int:
    return sum(len(cell.encode()) + cell.count('"') + 3 for cell in cells)


def typed_cells(cells: Cells) -> tuple[Cells, list[str]]:
    """The converted rows with their original numbers and columns, and the types of their cells."""
    made = Cells([], [], list(cells.bad), cells.next, cells.is_last)
    listed: list[str] = []
    for number, fault, kinds, *row in cells.rows:
        line = int(number)
        if fault:
            made.bad.append(BadRow(line, fault, row[0] if row else ""))
        else:
            made.add(line, row)
            listed.append(kinds)
    return made, listed


def typed_inputs(cells: Cells, kinds: Sequence[str], columns: Sequence[str]) -> list[bytes]:
    """Inputs as JSON, from a template with the column names: faster for many rows of few columns."""
    names = ", ".join(f"{_quoted(name).replace('%', '%%')}: %s" for name in columns)
    plain = f'{{"line": %d, "row": {{{names}}}}}'
    typed = f'{{"line": %d, "kinds": "%s", "row": {{{names}}}}}'
    made: list[bytes] = []
    for line, row, letters in zip(cells.lines, cells.rows, kinds, strict=True):
        if letters:
            values = [*map(_value, row, letters), *map(_quoted, row[len(letters) :])]
            made.append((typed % (line, letters, *values)).encode())
        else:
            made.append((plain % (line, *map(_quoted, row))).encode())
    return made


def _value(text: str, kind: str) -> str:
    """A cell as JSON. A number with an exponent stays a text: the database would write all its zeros."""
    if kind == TRUTH or (kind == NUMBER and "e" not in text):
        return text
    return _quoted(text)


def sample_of_workbook(path: Path, layout: XlsxLayout, count: int) -> tuple[list[Mapping[str, object]], bool]:
    """The first valid rows, with typed numbers; and whether there are no rows at all."""
    with path.open("rb") as source, open_xlsx(source, layout) as reader:
        rows = list(islice(reader.typed(), count))
    sample: list[Mapping[str, object]] = [
        dict(zip(layout.columns, _values(cells, kinds), strict=True))
        for _, cells, kinds in rows
        if not isinstance(cells, BadRow)
    ]
    return sample, not rows


def _values(cells: Sequence[str], kinds: str) -> list[object]:
    padded = kinds.ljust(len(cells), TEXT)
    return [float(cell) if kind == NUMBER else cell for cell, kind in zip(cells, padded, strict=False)]
