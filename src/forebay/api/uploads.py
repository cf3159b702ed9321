"""Files of rows: JSON Lines, or CSV with a header. Read row by row; a row that cannot be read is named by its line."""

from __future__ import annotations

import csv
import io
import json
from typing import IO, TYPE_CHECKING, Any

from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_LINE = 4 << 20
_CSV_TYPES = ("text/csv", "application/csv", "application/vnd.ms-excel")


def rows(file: IO[bytes], name: str, content_type: str) -> Iterator[Any]:
    """The inputs that a file holds.

    Raises: Problem 422 with the line and the reason.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline="")
    if name.lower().endswith(".csv") or content_type.split(";", maxsplit=1)[0].strip().lower() in _CSV_TYPES:
        return _csv_rows(text)
    return _json_rows(text)


def _json_rows(text: io.TextIOWrapper) -> Iterator[Any]:
    for number, line in enumerate(_lines(text), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Problem(422, f"line {number} is not JSON: {error}", field="file") from error


def _csv_rows(text: io.TextIOWrapper) -> Iterator[dict[str, str]]:
    reader = csv.reader(_lines(text), strict=True)
    try:
        header = next(reader, None)
        if not header or len(set(header)) < len(header):
            raise Problem(422, "line 1 must name the columns, each once", field="file")
        for row in reader:
            if len(row) != len(header):
                detail = f"line {reader.line_num} has {len(row)} columns, the first line {len(header)}"
                raise Problem(422, detail, field="file")
            yield dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise Problem(422, f"line {reader.line_num} is not CSV: {error}", field="file") from error


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines no longer than memory should have to hold."""
    number = 0
    while True:
        number += 1
        try:
            line = text.readline(_LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise Problem(422, f"near line {number} is something that is not UTF-8", field="file") from error
        if not line:
            return
        if len(line) >= _LONGEST_LINE:
            raise Problem(422, f"line {number} is longer than {_LONGEST_LINE} characters", field="file")
        yield line
