"""Reads files of rows: JSON Lines, or CSV with a header. An invalid row rejects the whole file; the error names it.

Workbooks are not read here: rows are read in the API process, and unpacking a workbook would delay other requests.
"""

from __future__ import annotations

import io
import json
from typing import IO, TYPE_CHECKING, Any

from forebay.api.problems import Problem
from forebay.errors import DataError
from forebay.services.spreadsheets import Layout, look_at, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_LINE = 4 << 20
_BATCH = 1000  # rows
_BATCH_BYTES = 1 << 20  # rows after which other requests are served
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
_TABLES = (".csv", ".tsv", ".xlsx")
_TABLE_TYPES = (
    "text/csv",
    "text/tab-separated-values",
    "application/csv",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)


def rows(file: IO[bytes], name: str, content_type: str) -> Iterator[Any]:
    """The inputs of a file.

    Raises: Problem 422 with the line and the reason, now or later.
    """
    _refuse_archives(file)
    kind = content_type.split(";", maxsplit=1)[0].strip().lower()
    if name.lower().endswith(_TABLES) or kind in _TABLE_TYPES:
        return _table_rows(file, _layout(file))
    return _json_rows(io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline=""))


def _refuse_archives(file: IO[bytes]) -> None:
    file.seek(0)
    is_archive = file.read(4).startswith(_ARCHIVES)
    file.seek(0)
    if is_archive:
        reason = "is a workbook or an archive: save its rows as CSV, or send it to a pipeline that takes such files"
        raise Problem(422, reason, field="file")


def _layout(file: IO[bytes]) -> Layout:
    try:
        layout = look_at(file, header=True)
    except DataError as error:
        raise Problem(422, str(error), field="file") from error
    if layout.renamed:
        raise Problem(422, f"line {layout.start.line or 1} must name the columns, each once", field="file")
    return layout


def _table_rows(file: IO[bytes], layout: Layout) -> Iterator[dict[str, str]]:
    try:
        with read_rows(file, layout) as reader:
            is_last = False
            while not is_last:
                _, found, bad, _, is_last = reader.take(_BATCH, _BATCH_BYTES)
                if bad:
                    raise Problem(422, f"line {bad[0].line} {bad[0].reason}", field="file")
                for cells in found:
                    yield dict(zip(layout.columns, cells, strict=True))
    except DataError as error:
        raise Problem(422, str(error), field="file") from error


def _json_rows(text: io.TextIOWrapper) -> Iterator[Any]:
    for number, line in enumerate(_lines(text), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Problem(422, f"line {number} is not JSON: {error}", field="file") from error


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines with a maximum length."""
    number = 0
    while True:
        number += 1
        try:
            line = text.readline(_LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise Problem(422, f"near line {number} is not UTF-8", field="file") from error
        if not line:
            return
        if len(line) >= _LONGEST_LINE:
            raise Problem(422, f"line {number} is longer than {_LONGEST_LINE} characters", field="file")
        yield line
