"""Reading files of rows: functions for processes with limits of their own, as nobody vouches for the files.

A workbook is first written out as CSV, so that any batch of its rows can be read without all that come before it.
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
from forebay.services.products import Columns, Suggestion, choose_columns, suggest
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

MAX_COLUMNS = 1000  # more than a table of the database, or a person, can take in
MAX_NAMES = 1 << 17  # characters of all names of columns: each row is stored with them
MAX_INPUT_BYTES = 8 << 20
_MOST_ENCODED = 32 << 20  # bytes of names in a batch of rows
_TOO_LARGE = f"has more than {MAX_INPUT_BYTES >> 20} MiB"
_NO_ROWS = "there is a header, and no rows below it; say header=false if the first line is a row"
_LONGEST_KEY = 200


class SheetOptions(BaseModel):
    """What may be said about a file; what is not said is found out."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    columns: dict[str, str | None] = Field(
        default={}, description="which column holds which field, as {title: Name}; null: none does"
    )
    header: bool | None = Field(default=None, description="whether the first row names the columns")
    encoding: Annotated[str, Field(max_length=40)] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    sheet: Annotated[str, Field(max_length=200)] | None = Field(default=None, description="of a workbook")
    key: list[str] = Field(
        default=[], max_length=20, description="columns that make a row the same as another: only the first is kept"
    )
    currency: Annotated[str, Field(max_length=40)] | None = Field(default=None, description="of prices that name none")
    decimal_mark: Literal[".", ","] | None = None
    providers: list[Annotated[str, Field(max_length=50)]] = Field(
        default=[], max_length=50, description="whom to ask first, in this order"
    )
    catalogue: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")] | None = Field(
        default=None, description="rows are not looked up, but become the catalogue of this name"
    )
    paused: bool = Field(default=False, description="rows wait for a resume, for example until the columns are checked")


class Looked(NamedTuple):
    """What a file is. `layout` is that of a table."""

    kind: Literal["csv", "xlsx", "image", "images"]
    layout: CsvLayout | XlsxLayout | None
    columns: list[str]
    mapping: Columns
    suggestions: list[Suggestion]
    pictures: list[ArchivePicture]


class ReadBatch(NamedTuple):
    """Rows as they are stored, side by side: inputs as JSON, keys if there are any, and why some could not be read."""

    data: list[bytes]
    keys: list[str | None] | None
    faults: dict[int, str]  # by place
    next: Cursor
    is_last: bool


class Unpacked(NamedTuple):
    """A picture and its media type, or why it is none."""

    data: bytes = b""
    media_type: str = ""
    fault: str = ""


def look(path: Path, options: SheetOptions) -> Looked:
    """What a file is, and what its columns hold.

    Raises: DataError with a reason that its owner can act on.
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
    """The first rows that can be read, with numbers where a workbook says so; and whether there is no row at all."""
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
    """The next rows from a place on, ready to be stored."""
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
    """Inputs as JSON. Many rows of few columns: the names are written once, into a form that cells are filled into."""
    names = ", ".join(f"{_quoted(name).replace('%', '%%')}: %s" for name in columns)
    form = f'{{"line": %d, "row": {{{names}}}}}'
    return [(form % (line, *map(_quoted, row))).encode() for line, row in zip(lines, rows, strict=True)]


def _keys(rows: Sequence[Sequence[str]], columns: Sequence[str], key: Sequence[str]) -> list[str | None] | None:
    places = [columns.index(name) for name in key]
    return [_key_of([row[place] for place in places]) for row in rows] if places else None


def _with_bad(
    lines: Sequence[int], data: Sequence[bytes], keys: Sequence[str | None] | None, cells: Cells
) -> ReadBatch:
    """The same with the rows that cannot be read at their places."""
    rows = [
        _StoredRow(line, each, key) if len(each) <= MAX_INPUT_BYTES else _broken(BadRow(line, _TOO_LARGE))
        for line, each, key in zip(lines, data, keys or repeat(None), strict=False)
    ]
    rows += map(_broken, cells.bad)
    rows.sort(key=lambda row: row.line)  # two may have the same line: none takes the place of the other
    faults = {place: row.fault for place, row in enumerate(rows) if row.fault}
    named = None if keys is None else [row.key for row in rows]
    return ReadBatch([row.data for row in rows], named, faults, cells.next, cells.is_last)


class _StoredRow(NamedTuple):
    """A row as it is stored, and what is wrong with it."""

    line: int
    data: bytes
    key: str | None = None
    fault: str = ""


def _broken(row: BadRow) -> _StoredRow:
    data = to_json({"line": row.line, "excerpt": row.excerpt})
    return _StoredRow(row.line, data, fault=f"line {row.line} {row.reason}")


def _key_of(cells: Sequence[str]) -> str | None:
    """What makes a row the same as another, however it is spaced and capitalized; None where all of it is empty."""
    parts = [" ".join(cell.split()).casefold() for cell in cells]
    if not any(parts):
        return None
    text = "\x1f".join(parts)
    if len(text) <= _LONGEST_KEY:
        return text
    return f"{text[:_LONGEST_KEY]}…{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def unpack_pictures(path: Path, names: Sequence[str]) -> list[Unpacked]:
    """Pictures of an archive, which is opened once for all of them, or the file itself for the name "".

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
    """One of these functions by its name, so that one process does for all."""
    return _FUNCTIONS[name](*args, **kwargs)
