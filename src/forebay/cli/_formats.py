"""Items as JSON Lines, CSV and workbooks."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, cast

from forebay.services.spreadsheets import XlsxFile, escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.engine.db.lists import FullItem

_HEAD = 100  # items that determine the columns
_PARTS = ("input", "result")
_LONG = 4000  # digits; Python rejects much longer integers


class Writes(Protocol):
    def write(self, text: str, /) -> object: ...


class WritesBytes(Protocol):
    def write_bytes(self, data: bytes, /) -> object: ...


class WritesRows(Protocol):
    def writerow(self, row: Iterable[object], /) -> object: ...


class JsonLines:
    """One JSON object per line. JSON from the database is copied unchanged, so that no number loses a digit."""

    incomplete = 0

    def __init__(self, sink: Writes) -> None:
        self._sink = sink

    def add(self, item: FullItem) -> None:
        head = f'"id": "{item.n}", "status": "{item.status}", "key": {json.dumps(item.key)}'
        rest = f'"input": {item.input}, "result": {item.result or "null"}, "error": {item.error or "null"}'
        self._sink.write(f"{{{head}, {rest}}}\n")

    def end(self) -> None:
        """Nothing is buffered."""


class Csv:
    """One line per item; the fields of objects in separate columns, one level deep, deeper values as JSON."""

    def __init__(self, sink: Writes, *, raw: bool = False) -> None:
        self.incomplete = 0  # items with fields that have no column
        self._writer: WritesRows = csv.writer(sink)
        self._raw = raw
        self._head: list[dict[str, Any]] = []
        self._columns: dict[str, None] | None = None

    def add(self, item: FullItem) -> None:
        cells = _cells(item)
        if self._columns is not None:
            self._write(cells)
            return
        self._head.append(cells)
        if len(self._head) == _HEAD:
            self._begin()

    def end(self) -> None:
        if self._columns is None:
            self._begin()

    def _begin(self) -> None:
        fields = [name for part in _PARTS for cells in self._head for name in cells if name.split(".")[0] == part]
        self._columns = dict.fromkeys(["id", "status", "key", *fields, "error"])
        self._writer.writerow(self._columns)
        for cells in self._head:
            self._write(cells)
        self._head.clear()

    def _write(self, cells: dict[str, Any]) -> None:
        columns = self._columns or {}
        self.incomplete += not cells.keys() <= columns.keys()
        self._writer.writerow([self._value(cells.get(name)) for name in columns])

    def _value(self, value: Any) -> object:
        return text(value, raw=self._raw)


class Xlsx(Csv):
    """The same as a workbook; texts are never formulas."""

    def __init__(self, sink: WritesBytes) -> None:
        super().__init__(io.StringIO(), raw=True)
        self._rows = self._writer = _Workbook(sink)

    def end(self) -> None:
        super().end()
        self._rows.close()

    def _value(self, value: Any) -> object:
        """Numbers and booleans keep their types."""
        if isinstance(value, _Exact):
            return Decimal(value.written)
        return value if isinstance(value, int) else super()._value(value)


class _Workbook:
    """The rows of a workbook; the first one has the names of the columns."""

    def __init__(self, sink: WritesBytes) -> None:
        self._sink = sink
        self._file: XlsxFile | None = None

    def writerow(self, row: Iterable[object], /) -> None:
        if self._file is None:
            self._file = XlsxFile([str(name) for name in row])
        else:
            self._sink.write_bytes(self._file.write([list(row)]))

    def close(self) -> None:
        if self._file is not None:
            self._sink.write_bytes(self._file.close())


def _cells(item: FullItem) -> dict[str, Any]:
    """Column → value."""
    cells: dict[str, Any] = {"id": item.n, "status": item.status, "key": item.key}
    cells |= _flat("input", _parsed(item.input))
    cells |= _flat("result", _parsed(item.result))
    error = _parsed(item.error)
    return cells | {"error": cast("dict[str, Any]", error).get("reason", error) if isinstance(error, dict) else error}


def _flat(part: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"{part}.{name}", inner) for name, inner in cast("dict[str, Any]", value).items()]
    return [] if value is None else [(part, value)]


class _Exact(float):
    """A number with its original text: PostgreSQL stores more digits than a float has."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, written: str) -> _Exact:
        made = super().__new__(cls, written)
        made.written = written
        return made


def _whole(written: str) -> float:
    return int(written) if len(written) < _LONG else _Exact(written)


_decode = json.JSONDecoder(parse_float=_Exact, parse_int=_whole).decode
_encode = json.JSONEncoder(ensure_ascii=False).encode


def _parsed(document: str | None) -> Any:
    return None if document is None else _decode(document)


def text(value: Any, *, raw: bool) -> str:
    """A value as a cell; a text that a spreadsheet would run as a formula is prefixed with ', unless `raw`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if raw else escaped(value)
    return value.written if isinstance(value, _Exact) else _encode(value)
