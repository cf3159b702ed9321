"""Writes files of rows in pieces, so that they are never whole in memory. The same rows give the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from forebay.services.spreadsheets.cells import cell_text, escaped_text

FileFormat: TypeAlias = Literal["csv", "xlsx", "jsonl"]
Values: TypeAlias = Sequence[object]

MEDIA_TYPES: dict[FileFormat, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/jsonl",
}


class CsvFile:
    """CSV in UTF-8 with a byte order mark, by which spreadsheets recognise the encoding."""

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
    """The beginning of a CSV file whose rows the database writes, with line feeds as line ends."""
    buffer = io.StringIO(newline="")
    buffer.write("\ufeff")
    csv.writer(buffer, lineterminator="\n").writerow(map(escaped_text if escape else cell_text, columns))
    return buffer.getvalue().encode()
