"""Files of rows, made piece by piece: all of one is never in memory. The same rows make the same bytes."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import Literal, Protocol, TypeAlias

from forebay.services.spreadsheets.cells import cell_text, escaped_text
from forebay.services.spreadsheets.xlsx_writing import XlsxFile

FileFormat: TypeAlias = Literal["csv", "xlsx", "jsonl"]
Values: TypeAlias = Sequence[object]

MEDIA_TYPES: dict[FileFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/jsonl",
}


class RowFile(Protocol):
    """A file in the making."""

    def write(self, rows: Iterable[Values]) -> bytes:
        """The piece of the file that these rows complete; may be empty."""
        ...

    def close(self) -> bytes:
        """The end of the file."""
        ...


class CsvFile:
    """CSV in UTF-8, with the mark at its beginning by which spreadsheets know that."""

    def __init__(self, columns: Sequence[str], *, escape: bool = True, mark: bool = True) -> None:
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer)
        self._text = escaped_text if escape else cell_text
        self._buffer.write("\ufeff" if mark else "")
        self._writer.writerow(map(self._text, columns))

    def write(self, rows: Iterable[Values]) -> bytes:
        text = self._text
        self._writer.writerows([text(value) for value in row] for row in rows)
        return self._taken()

    def close(self) -> bytes:
        return self._taken()

    def _taken(self) -> bytes:
        piece = self._buffer.getvalue().encode()
        self._buffer.seek(0)
        self._buffer.truncate()
        return piece


def header_of(columns: Sequence[str], *, escape: bool = True) -> bytes:
    """The beginning of a CSV file whose rows the database writes: its lines end in a line feed alone."""
    buffer = io.StringIO(newline="")
    buffer.write("\ufeff")
    csv.writer(buffer, lineterminator="\n").writerow(map(escaped_text if escape else cell_text, columns))
    return buffer.getvalue().encode()


class JsonLinesFile:
    """An object a line; values keep their kinds, and nothing is escaped: no spreadsheet reads this."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = tuple(columns)

    def write(self, rows: Iterable[Values]) -> bytes:
        return b"".join(self._line(row) for row in rows)

    def close(self) -> bytes:
        return b""

    def _line(self, row: Values) -> bytes:
        value = dict(zip(self._columns, row, strict=True))
        text = json.dumps(value, ensure_ascii=False, default=cell_text)
        return text.encode("utf-8", "replace") + b"\n"


def new_file(kind: FileFormat, columns: Sequence[str], *, escape: bool = True) -> RowFile:
    """A file of that kind with these columns."""
    match kind:
        case "csv":
            return CsvFile(columns, escape=escape)
        case "xlsx":
            return XlsxFile(columns)  # a text in a workbook is never a formula
        case "jsonl":
            return JsonLinesFile(columns)


async def written(
    kind: FileFormat, columns: Sequence[str], batches: AsyncIterable[Iterable[Values]], *, escape: bool = True
) -> AsyncIterator[bytes]:
    """The pieces of a file of all these rows. Each is made in a thread: packing takes a while."""
    file = new_file(kind, columns, escape=escape)
    async for batch in batches:
        if piece := await asyncio.to_thread(file.write, batch):
            yield piece
    if piece := await asyncio.to_thread(file.close):
        yield piece
