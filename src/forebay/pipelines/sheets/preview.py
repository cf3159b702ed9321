"""Reads the beginning of a file, for a look at it before its rows are processed: for a limited process."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import NamedTuple

from forebay.engine.declare.limited import limited
from forebay.pipelines.sheets.reading import Looked, SheetOptions, look
from forebay.services.spreadsheets import BadRow, Row, XlsxLayout, read_rows
from forebay.services.spreadsheets.xlsx_file import open_xlsx

ROWS = 200


class Preview(NamedTuple):
    """What the file is, and its first rows: line and cells, or line and why it cannot be read."""

    looked: Looked
    rows: list[tuple[int, list[str]]]
    bad: list[tuple[int, str]]
    is_all: bool


def preview(path: Path, options: SheetOptions, count: int) -> Preview:
    """Detect the layout of a file and read its first rows.

    Raises: DataError for a file that cannot be read.
    """
    looked = look(path, options)
    found = _first_rows(path, looked, count + 1)
    shown = found[:count]
    return Preview(
        looked,
        [(line, cells) for line, cells in shown if not isinstance(cells, str)],
        [(line, cells) for line, cells in shown if isinstance(cells, str)],
        len(found) <= count,
    )


def _first_rows(path: Path, looked: Looked, count: int) -> list[tuple[int, list[str] | str]]:
    """Lines with their cells; with the reason instead, if they cannot be read."""
    if looked.layout is None:
        return [(picture.number, [picture.name]) for picture in looked.pictures[:count]]
    if isinstance(looked.layout, XlsxLayout):
        with path.open("rb") as source, open_xlsx(source, looked.layout) as workbook:
            return [
                (line, cells.reason if isinstance(cells, BadRow) else list(cells))
                for line, cells, _ in islice(workbook.typed(), count)
            ]
    with read_rows(path, looked.layout) as reader:
        return [
            (row.line, list(row.cells.values()) if isinstance(row, Row) else row.reason)
            for row in islice(reader, count)
        ]


READ_PREVIEW = limited(preview, memory_mb=768, timeout=60, needs=("chardet", "webencodings"))
