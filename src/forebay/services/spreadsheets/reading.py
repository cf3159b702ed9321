"""One interface for all tables: detect the layout once, and read rows from any cursor on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, TypeAlias

from pydantic import Field

from forebay.errors import DataError
from forebay.services.spreadsheets.csv_file import CsvLayout, CsvReader, look_at_csv
from forebay.services.spreadsheets.kinds import Detected, detect
from forebay.services.spreadsheets.rows import Cursor, RowReader
from forebay.services.spreadsheets.xlsx_file import XlsxLayout, look_at_xlsx, open_xlsx

Layout: TypeAlias = Annotated[CsvLayout | XlsxLayout, Field(discriminator="kind")]
Readable: TypeAlias = IO[bytes] | Path  # a file must be seekable


def look_at(
    source: Readable,
    *,
    header: bool | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
) -> CsvLayout | XlsxLayout:
    """Detect the layout of a table; given values are not detected.

    Raises: DataError when it is not a table, or cannot be read.
    """
    with _opened(source) as file:
        found = detect(file)
        if found.kind == "xlsx":
            return look_at_xlsx(file, sheet=sheet, header=header)
        if found.kind == "csv":
            return look_at_csv(file, header=header, encoding=encoding, delimiter=delimiter)
        raise DataError(_refused(found))


def _refused(found: Detected) -> str:
    """The reason as a sentence; reasons about entries of archives are sentences already."""
    reason = found.reason or f"is not a table but {_NAMES[found.kind]}"
    return f"the file {reason}" if reason.startswith(("is ", "has ")) else reason


_NAMES = {"jsonl": "JSON Lines", "image": "a picture", "images": "an archive of images"}


@contextmanager
def read_rows(source: Readable, layout: CsvLayout | XlsxLayout, start: Cursor | None = None) -> Generator[RowReader]:
    """The rows of a table, from the first or from a cursor on.

    Raises: DataError when the rest of the file cannot be read, also later.
    """
    with _opened(source) as file:
        if isinstance(layout, CsvLayout):
            yield CsvReader(file, layout, start)
        else:
            with open_xlsx(file, layout, start) as reader:
                yield reader


@contextmanager
def _opened(source: Readable) -> Generator[IO[bytes]]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        yield source
