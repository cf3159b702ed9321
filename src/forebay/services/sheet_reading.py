"""Reading files of rows: functions for processes with limits of their own, as nobody vouches for the files.

A workbook is first written out as CSV, so that any batch of its rows can be read without all that come before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice, repeat
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from forebay.errors import DataError, InvalidField
from forebay.services import images
from forebay.services.products import Columns, Suggestion, choose_columns, suggest
from forebay.services.products.columns import SAMPLE
from forebay.services.spreadsheets import (
    PICTURES,
    BadRow,
    Cells,
    CsvLayout,
    Picture,
    Place,
    Row,
    detect,
    look_at,
    new_file,
    opened,
    pictures,
    read_picture,
    read_rows,
    take,
)
from forebay.services.spreadsheets.csv_file import look_at_csv
from forebay.services.spreadsheets.reading import Layout

MAX_COLUMNS = 1000  # more than a table of the database, or a person, can take in
MAX_INPUT_BYTES = 8 << 20
_GROWTH = 200  # times its own size that a file may grow when it is read, as for what is packed in archives
_SMALL_GROWTH = 256 << 20  # bytes up to which growth does not matter
_TOO_LARGE = f"has more than {MAX_INPUT_BYTES >> 20} MiB"
_NUMBER, _FAULT = "line", "fault"  # the columns before the others in a workbook that was written out
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
    layout: CsvLayout | Any
    columns: list[str]
    mapping: Columns
    suggestions: list[Suggestion]
    pictures: list[Picture]


class ReadBatch(NamedTuple):
    """Rows as they are stored, side by side: inputs as JSON, keys if there are any, and why some could not be read."""

    data: list[bytes]
    keys: list[str | None] | None
    faults: dict[int, str]  # by place
    next: Place
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
            return _no_table("image", [Picture(1, "", path.stat().st_size)])
        if found.kind == "images":
            with opened(file, PICTURES) as archive:
                return _no_table("images", pictures(archive))
    layout = look_at(
        path, header=options.header, encoding=options.encoding, delimiter=options.delimiter, sheet=options.sheet
    )
    columns = list(layout.columns)
    if len(columns) > MAX_COLUMNS:
        raise DataError(f"the file has {len(columns)} columns; {MAX_COLUMNS} are allowed")
    for name in options.key:
        if name not in columns:
            raise DataError(f"key: there is no column {name!r}; the columns are {', '.join(columns[:20])}")
    with read_rows(path, layout) as reader:
        sample = [row.cells for row in islice(reader, SAMPLE) if isinstance(row, Row)]
    mapping = _mapping(columns, sample, options)
    return Looked(layout.kind, layout, columns, mapping, suggest(columns, sample), [])


def _mapping(columns: Sequence[str], sample: Sequence[dict[str, str]], options: SheetOptions) -> Columns:
    try:
        return choose_columns(columns, sample, options.columns, mark=options.decimal_mark, currency=options.currency)
    except InvalidField as error:
        raise DataError(f"{error.field.replace('mapping.', 'columns.')}: {error.reason}") from error


def _no_table(kind: Literal["image", "images"], listed: list[Picture]) -> Looked:
    return Looked(kind, None, ["Name"], Columns(fields={}), [], listed)


class ByteBudget:
    """How many bytes a file may take once it is read: a few that refer to long strings, or to long names of columns,
    would otherwise fill the disk."""

    def __init__(self, size: int, most: int) -> None:
        """Of a file of `size` bytes; `most` for any file."""
        self._size = size
        self.allowed = min(most, max(_SMALL_GROWTH, size * _GROWTH))
        self._left = self.allowed

    def spend(self, count: int) -> None:
        """Raises: DataError when these are too many."""
        self._left -= count
        if self._left < 0:
            raise DataError(
                f"the rows of the file take more than {self.allowed} bytes, which is the most for a file of "
                f"{self._size} bytes (FOREBAY_SHEETS_MAX_READ_BYTES at most): split the file"
            )


def write_out(path: Path, layout: Layout, target: Path, most_bytes: int) -> CsvLayout:
    """Writes the rows of a workbook as CSV, each after its number and what is wrong with it.

    Raises: DataError, also when they take more bytes than a file of this size may.
    """
    columns = (_NUMBER, _FAULT, *layout.columns)
    file = new_file("csv", columns, escape=False)
    budget = ByteBudget(path.stat().st_size, most_bytes)
    with target.open("wb") as out, read_rows(path, layout) as reader:
        while True:
            batch = take(reader, 1000)
            piece = file.write(_written(row) for row in batch.rows)
            budget.spend(len(piece))
            out.write(piece)
            if batch.is_last:
                break
        out.write(file.close())
    with target.open("rb") as written:
        found = look_at_csv(written, header=True, encoding="utf-8", delimiter=",")
    return found.model_copy(update={"columns": columns})


def _written(row: Row | BadRow) -> Sequence[object]:
    if isinstance(row, BadRow):
        return (str(row.line), row.reason, row.excerpt)
    return (str(row.line), "", *row.cells.values())


def read_batch(
    path: Path, layout: CsvLayout, place: Place | None, most: int, most_bytes: int, key: Sequence[str]
) -> ReadBatch:
    """The next rows from a place on, ready to be stored."""
    with read_rows(path, layout, place) as reader:
        cells = reader.take(most, most_bytes)
    columns, lines = layout.columns, cells.lines
    if columns[:2] == (_NUMBER, _FAULT):
        cells = _written_out(cells)
        columns, lines = columns[2:], cells.lines
    data = _encoded(lines, cells.rows, columns)
    keys = _keys(cells.rows, columns, key)
    broken = [BadRow(line, _TOO_LARGE) for line, each in zip(lines, data, strict=True) if len(each) > MAX_INPUT_BYTES]
    if not cells.bad and not broken:
        return ReadBatch(data, keys, {}, cells.next, cells.is_last)
    return _with_bad(lines, data, keys, [*cells.bad, *broken], cells)


def _encoded(lines: Sequence[int], rows: Sequence[Sequence[str]], columns: Sequence[str]) -> list[bytes]:
    """Inputs as JSON. Many rows of few columns: the names are written once, into a form that cells are filled into."""
    names = ", ".join(f"{_quoted(name).replace('%', '%%')}: %s" for name in columns)
    form = f'{{"line": %d, "row": {{{names}}}}}'
    return [(form % (line, *map(_quoted, row))).encode() for line, row in zip(lines, rows, strict=True)]


def _keys(rows: Sequence[Sequence[str]], columns: Sequence[str], key: Sequence[str]) -> list[str | None] | None:
    places = [columns.index(name) for name in key]
    return [_key_of([row[place] for place in places]) for row in rows] if places else None


def _with_bad(
    lines: Sequence[int], data: Sequence[bytes], keys: Sequence[str | None] | None, bad: Sequence[BadRow], cells: Cells
) -> ReadBatch:
    """The same with the rows that cannot be read at their places."""
    good = dict(zip(lines, zip(data, keys or repeat(None), strict=False), strict=True))
    broken = {row.line: row for row in bad}
    order = sorted(good.keys() | broken.keys())
    faults = {place: f"line {line} {broken[line].reason}" for place, line in enumerate(order) if line in broken}
    inputs = [
        to_json({"line": line, "excerpt": broken[line].excerpt}) if line in broken else good[line][0] for line in order
    ]
    named = None if keys is None else [None if line in broken else good[line][1] for line in order]
    return ReadBatch(inputs, named, faults, cells.next, cells.is_last)


def _written_out(cells: Cells) -> Cells:
    """What was written out of a workbook, with the numbers of its rows, and those that could not be read."""
    made = Cells([], [], list(cells.bad), cells.next, cells.is_last)
    for number, fault, *row in cells.rows:
        line = int(number)
        made.add(line, BadRow(line, fault, row[0] if row else "") if fault else row)
    return made


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
