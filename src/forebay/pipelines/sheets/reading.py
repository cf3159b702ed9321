"""Reads files of rows: functions for limited processes, because the files are untrusted.

A workbook is first converted to CSV, so that any batch of rows can be read without the rows before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice, repeat
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from forebay.errors import DataError, InvalidField
from forebay.pipelines.sheets.workbook_reading import (
    WrittenOut,
    sample_of_workbook,
    typed_cells,
    typed_inputs,
    write_out,
)
from forebay.services import images
from forebay.services.products import Columns, ColumnSuggestion, choose_columns, suggest
from forebay.services.products.columns import SAMPLE
from forebay.services.spreadsheets import (
    PICTURES,
    ArchivePicture,
    BadRow,
    Cells,
    CsvLayout,
    Cursor,
    Row,
    XlsxLayout,
    detect,
    look_at,
    opened,
    pictures,
    read_picture,
    read_rows,
)
from forebay.services.spreadsheets.reading import Layout

MAX_COLUMNS = 1000  # more than a database table can have
MAX_NAMES = 1 << 17  # characters of all column names, which are stored with each row
MAX_INPUT_BYTES = 8 << 20
_MOST_ENCODED = 32 << 20  # bytes of column names in a batch of rows
_TOO_LARGE = f"has more than {MAX_INPUT_BYTES >> 20} MiB"
_NO_ROWS = "the file has a header but no rows; set header=false if the first line is a row"
_LONGEST_KEY = 200


class SheetOptions(BaseModel):
    """Options for reading a file; what is not set is detected."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    columns: dict[str, str | None] = Field(
        default={}, description="the column of each field, such as {title: Name}; null: no column"
    )
    header: bool | None = Field(default=None, description="whether the first row has the column names")
    encoding: Annotated[str, Field(max_length=40)] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    sheet: Annotated[str, Field(max_length=200)] | None = Field(default=None, description="name of the worksheet")
    key: list[str] = Field(
        default=[], max_length=20, description="columns that identify duplicate rows, of which only the first is kept"
    )
    currency: Annotated[str, Field(max_length=40)] | None = Field(default=None, description="if prices have none")
    decimal_mark: Literal[".", ","] | None = None
    providers: list[Annotated[str, Field(max_length=50)]] = Field(
        default=[], max_length=50, description="providers to query first, in this order"
    )
    catalogue: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")] | None = Field(
        default=None, description="load the rows into the catalogue of this name instead of looking them up"
    )
    paused: bool = Field(default=False, description="start the job paused, for example to check the columns first")


class Looked(NamedTuple):
    """The kind of a file; `layout` is that of a table."""

    kind: Literal["csv", "xlsx", "image", "images"]
    layout: CsvLayout | XlsxLayout | None
    columns: list[str]
    mapping: Columns
    suggestions: list[ColumnSuggestion]
    pictures: list[ArchivePicture]


class ReadBatch(NamedTuple):
    """Rows ready to store, as parallel lists: inputs as JSON, keys, and why some could not be read."""

    data: list[bytes]
    keys: list[str | None] | None
    faults: dict[int, str]  # by position
    next: Cursor
    is_last: bool


class Unpacked(NamedTuple):
    """An image and its media type, or why it cannot be read."""

    data: bytes = b""
    media_type: str = ""
    fault: str = ""


def look(path: Path, options: SheetOptions) -> Looked:
    """Detect the kind of a file and the mapping of its columns.

    Raises: DataError for a file that cannot be read.
    """
    with path.open("rb") as file:
        found = detect(file)
        if found.kind == "image":
            return _no_table("image", [ArchivePicture(1, "", path.stat().st_size)])
        if found.kind == "images":
            with opened(file, PICTURES) as archive:
                return _no_table("images", pictures(archive))
    layout = look_at(
        path, header=options.header, encoding=options.encoding, delimiter=options.delimiter, sheet=options.sheet
    )
    columns = list(layout.columns)
    if len(columns) > MAX_COLUMNS:
        raise DataError(f"the file has {len(columns)} columns; {MAX_COLUMNS} are allowed")
    if (length := sum(map(len, columns))) > MAX_NAMES:
        raise DataError(f"the names of the columns have {length} characters; {MAX_NAMES} are allowed: shorten them")
    for name in options.key:
        if name not in columns:
            raise DataError(f"key: there is no column {name!r}; the columns are {', '.join(columns[:20])}")
    sample, is_empty = _sample(path, layout)
    if is_empty:
        raise DataError(_NO_ROWS)
    mapping = _mapping(columns, sample, options)
    return Looked(layout.kind, layout, columns, mapping, suggest(columns, sample), [])


def _sample(path: Path, layout: Layout) -> tuple[Sequence[Mapping[str, object]], bool]:
    """The first valid rows, with typed numbers of a workbook; and whether there are no rows at all."""
    if isinstance(layout, XlsxLayout):
        return sample_of_workbook(path, layout, SAMPLE)
    with read_rows(path, layout) as reader:
        rows = list(islice(reader, SAMPLE))
    return [row.cells for row in rows if isinstance(row, Row)], not rows


def _mapping(columns: Sequence[str], sample: Sequence[Mapping[str, object]], options: SheetOptions) -> Columns:
    try:
        return choose_columns(columns, sample, options.columns, mark=options.decimal_mark, currency=options.currency)
    except InvalidField as error:
        raise DataError(f"{error.field.replace('mapping.', 'columns.')}: {error.reason}") from error


def _no_table(kind: Literal["image", "images"], listed: list[ArchivePicture]) -> Looked:
    return Looked(kind, None, ["Name"], Columns(fields={}), [], listed)


def read_batch(
    path: Path, layout: CsvLayout, place: Cursor | None, most: int, most_bytes: int, key: Sequence[str]
) -> ReadBatch:
    """The next rows from a cursor on, ready to store."""
    most = min(most, max(1, _MOST_ENCODED // (1 + sum(map(len, layout.columns)))))
    with read_rows(path, layout, place) as reader:
        cells = reader.take(most, most_bytes)
    columns = layout.columns
    if isinstance(layout, WrittenOut):
        columns = layout.own_columns
        cells, kinds = typed_cells(cells)
        data = typed_inputs(cells, kinds, columns)
    else:
        data = _encoded(cells.lines, cells.rows, columns)
    lines = cells.lines
    keys = _keys(cells.rows, columns, key)
    if not cells.bad and max(map(len, data), default=0) <= MAX_INPUT_BYTES:
        return ReadBatch(data, keys, {}, cells.next, cells.is_last)
    return _with_bad(lines, data, keys, cells)


def _encoded(lines: Sequence[int], rows: Sequence[Sequence[str]], columns: Sequence[str]) -> list[bytes]:
    """Inputs as JSON, from a template with the column names: faster for many rows of few columns."""
    names = ", ".join(f"{_quoted(name).replace('%', '%%')}: %s" for name in columns)
    form = f'{{"line": %d, "row": {{{names}}}}}'
    return [(form % (line, *map(_quoted, row))).encode() for line, row in zip(lines, rows, strict=True)]


def _keys(rows: Sequence[Sequence[str]], columns: Sequence[str], key: Sequence[str]) -> list[str | None] | None:
    places = [columns.index(name) for name in key]
    return [_key_of([row[place] for place in places]) for row in rows] if places else None


def _with_bad(
    lines: Sequence[int], data: Sequence[bytes], keys: Sequence[str | None] | None, cells: Cells
) -> ReadBatch:
    """The same, with the invalid rows at their positions."""
    rows = [
        _StoredRow(line, each, key) if len(each) <= MAX_INPUT_BYTES else _broken(BadRow(line, _TOO_LARGE))
        for line, each, key in zip(lines, data, keys or repeat(None), strict=False)
    ]
    rows += map(_broken, cells.bad)
    rows.sort(key=lambda row: row.line)  # two rows may have the same line; neither replaces the other
    faults = {place: row.fault for place, row in enumerate(rows) if row.fault}
    named = None if keys is None else [row.key for row in rows]
    return ReadBatch([row.data for row in rows], named, faults, cells.next, cells.is_last)


class _StoredRow(NamedTuple):
    """A row ready to store, and its error."""

    line: int
    data: bytes
    key: str | None = None
    fault: str = ""


def _broken(row: BadRow) -> _StoredRow:
    data = to_json({"line": row.line, "excerpt": row.excerpt})
    return _StoredRow(row.line, data, fault=f"line {row.line} {row.reason}")


def _key_of(cells: Sequence[str]) -> str | None:
    """The key of a row, ignoring white space and case; None when all its cells are empty."""
    parts = [" ".join(cell.split()).casefold() for cell in cells]
    if not any(parts):
        return None
    text = "\x1f".join(parts)
    if len(text) <= _LONGEST_KEY:
        return text
    return f"{text[:_LONGEST_KEY]}…{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def unpack_pictures(path: Path, names: Sequence[str]) -> list[Unpacked]:
    """Images of an archive, which is opened once for all of them, or the file itself for the name "".

    Raises: DataError when the archive cannot be opened.
    """
    if not any(names):
        return [_unpacked(partial(_whole, path))]
    with path.open("rb") as file, opened(file, PICTURES) as archive:
        return [_unpacked(partial(read_picture, archive, name)) for name in names]


def _whole(path: Path) -> bytes:
    if (size := path.stat().st_size) > images.MAX_BYTES:
        raise DataError(f"the image has {size} bytes; {images.MAX_BYTES} are allowed")
    return path.read_bytes()


def _unpacked(read: Callable[[], bytes]) -> Unpacked:
    try:
        data = read()
        return Unpacked(data, images.inspect(data).media_type)
    except DataError as error:
        return Unpacked(fault=str(error))


_FUNCTIONS: dict[str, Callable[..., Any]] = {fn.__name__: fn for fn in (look, write_out, read_batch, unpack_pictures)}


def run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call one of these functions by name, so that one process can run all of them."""
    return _FUNCTIONS[name](*args, **kwargs)
