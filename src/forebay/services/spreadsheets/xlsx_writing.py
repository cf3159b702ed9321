"""Writes XLSX as a stream. Why no package is used: docs/decisions/0018."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, time
from decimal import Decimal
from typing import IO

from forebay.errors import DataError
from forebay.services.spreadsheets.cells import DateTimeText, Percent, cell_text, moment_days
from forebay.services.spreadsheets.rows import MAX_COLUMNS

MAX_ROWS = 1_048_576
MAX_TEXT = 32_767  # UTF-16 units per cell
CUT = "… [cut]"
_MAX_SHEET_BYTES = 1 << 31  # larger entries need ZIP64, which not every reader supports
_SHOWN_WHOLE = 11  # characters of a number that a spreadsheet shows without a format
_MOST_DIGITS = 15  # significant digits of a number in a spreadsheet
_WIDTHS = (8, 60)  # minimum and maximum width of a column in characters
_SAMPLE = 100  # rows that determine the widths of columns, unless they are long
_MOST_KEPT = 8 << 20
_PIECE = 1 << 16
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SHEET_HEAD = (
    f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
)

# Characters that XML cannot represent are written as _xHHHH_; so are texts that look like such an escape.
_SPECIAL = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class XlsxFile:
    """Writes a workbook; rows beyond the maximum of a sheet go to further sheets, each with the header."""

    def __init__(self, columns: Sequence[str], *, sheet: str = "Rows", max_rows: int = MAX_ROWS) -> None:
        """Raises: DataError when there are more columns than a sheet can have."""
        if len(columns) > MAX_COLUMNS:
            raise DataError(f"{len(columns)} columns exceed the maximum of {MAX_COLUMNS} of a sheet: export CSV")
        self._columns = list(columns)
        self._letters = [letters(number) for number in range(len(columns))]
        self._sheet = sheet
        self._max_rows = max_rows
        self.cut = 0  # number of truncated cells
        self._styles = Styles()
        self._out = _Pieces()
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._last_rows: list[int] = []  # of each sheet
        self._begin_sheet()

    def write(self, rows: Iterable[Sequence[object]]) -> bytes:
        """Add rows; returns the next piece of the file, which may be empty."""
        for row in rows:
            if self._row >= self._max_rows or self._bytes > _MAX_SHEET_BYTES - (64 << 20):
                self._end_sheet()
                self._begin_sheet()
            self._add(row)
        return self._out.taken()

    def close(self) -> bytes:
        """The end of the file."""
        self._end_sheet()
        names = [self._sheet, *(f"{self._sheet} {number}" for number in range(2, len(self._last_rows) + 1))]
        areas = [self._area(last) for last in self._last_rows]
        for name, text in _frame(names, areas, self._styles).items():
            self._zip.writestr(_entry(name), text, compresslevel=1)
        self._zip.close()
        return self._out.taken()

    def _area(self, last: int) -> str:
        return f"A1:{self._letters[-1] if self._letters else 'A'}{last}"

    def _begin_sheet(self) -> None:
        self._row = self._bytes = self._size = 0
        self._waiting: list[str] = []
        self._widths: list[int] | None = [0] * len(self._columns)  # not written yet
        self._open: IO[bytes] = self._zip.open(f"xl/worksheets/sheet{len(self._last_rows) + 1}.xml", "w")
        self._add(self._columns, style=' s="1"')

    def _end_sheet(self) -> None:
        self._last_rows.append(self._row)
        filters = f'<autoFilter ref="{self._area(self._row)}"/>' if self._columns else ""
        self._waiting.append(f"</sheetData>{filters}</worksheet>")
        self._flush()
        self._open.close()

    def _add(self, row: Sequence[object], style: str = "") -> None:
        self._row += 1
        number = self._row
        cells = "".join(
            self._cell(f"{letter}{number}", value, style)
            for letter, value in zip(self._letters, row, strict=True)
            if value is not None
        )
        line = f'<row r="{number}">{cells}</row>'
        self._waiting.append(line)
        self._size += len(line)
        if self._widths is not None:
            self._widths = [max(width, _width(value)) for width, value in zip(self._widths, row, strict=True)]
        if self._size > _PIECE:
            self._flush()

    def _cell(self, place: str, value: object, style: str) -> str:
        if type(value) is not str and (made := self._typed(place, value)):
            return made
        text = cell_text(value)
        if not text:
            return ""
        if len(text) > MAX_TEXT // 2 and (cut := fitting(text)) is not text:
            text = cut
            self.cut += 1
        if "&" in text or "<" in text or ">" in text or "_x" in text or not text.isprintable():
            text = _SPECIAL.sub(_written, text)
        return f'<c r="{place}"{style} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'

    def _typed(self, place: str, value: object) -> str | None:
        """A typed cell; None for a value that must be a text."""
        match value:
            case bool():
                return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
            case int() | float() | Decimal():
                return self._number(place, value)
            case date() | time() | DateTimeText():
                found = moment_days(str(value) if isinstance(value, DateTimeText) else value.isoformat())
                return None if found is None else f'<c r="{place}" s="{self._styles[found[1]]}"><v>{found[0]!r}</v></c>'
            case _:
                return None

    def _number(self, place: str, value: float | Decimal) -> str | None:
        text = cell_text(value)
        rest = text.partition(".")[2]
        digits = len(text) - (text[0] == "-") - (rest != "")
        if digits > _MOST_DIGITS or not text[-1].isdigit() or "e" in text:
            return None  # not finite, or with more digits than spreadsheets keep
        if isinstance(value, Percent):
            code = f"0{_decimals(len(rest) - 2)}%"
        elif len(text) <= _SHOWN_WHOLE and not rest.endswith("0"):
            return f'<c r="{place}"><v>{text}</v></c>'
        else:
            code = f"0{_decimals(len(rest))}"
        return f'<c r="{place}" s="{self._styles[code]}"><v>{text}</v></c>'

    def _flush(self) -> None:
        if self._widths is not None:
            is_whole = self._waiting[-1].endswith("</worksheet>")
            if self._row <= _SAMPLE and self._size < _MOST_KEPT and not is_whole:
                return  # the widths of columns are not known yet
            self._waiting.insert(0, f"{_SHEET_HEAD}{_cols(self._widths)}<sheetData>")
            self._widths = None
        data = "".join(self._waiting).encode()
        self._waiting.clear()
        self._size = 0
        self._bytes += len(data)
        self._open.write(data)


def _width(value: object) -> int:
    return 0 if value is None else min(len(cell_text(value).partition("\n")[0]), _WIDTHS[1])


def _cols(widths: Sequence[int]) -> str:
    listed = "".join(
        f'<col min="{place}" max="{place}" width="{max(width + 2, _WIDTHS[0])}" customWidth="1"/>'
        for place, width in enumerate(widths, 1)
    )
    return f"<cols>{listed}</cols>" if listed else ""


def _decimals(count: int) -> str:
    return f".{'0' * count}" if count else ""


class Styles(dict[str, int]):
    """Style numbers by number format; missing ones are added."""

    def __missing__(self, code: str) -> int:
        self[code] = len(self) + 2  # after the default style and that of headers
        return self[code]


class _Pieces(io.RawIOBase):
    """Collects what zipfile writes, to be passed on in pieces."""

    def __init__(self) -> None:
        super().__init__()
        self._buffer = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override]
        self._buffer += data
        return len(data)

    def taken(self) -> bytes:
        piece = bytes(self._buffer)
        self._buffer.clear()
        return piece


def letters(number: int) -> str:
    """The name of a column, counted from 0: A … Z, AA …"""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name


def fitting(text: str) -> str:
    """A text that fits into a cell; a truncated text is marked."""
    wide = text.encode("utf-16-le")
    if len(wide) <= MAX_TEXT * 2:
        return text
    return wide[: (MAX_TEXT - len(CUT)) * 2].decode("utf-16-le", "ignore") + CUT


def _written(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) > 1:
        return f"_x005F_{text[1:]}"
    return _MARKUP.get(text) or f"_x{ord(text):04X}_"


def _entry(name: str) -> zipfile.ZipInfo:
    """With a fixed time, so that the same rows give the same file."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _absolute(area: str) -> str:
    return re.sub("([A-Z]+)([0-9]+)", r"$\1$\2", area)


def _attribute(text: str) -> str:
    return _SPECIAL.sub(_written, text).replace('"', "&quot;")


def _frame(names: list[str], areas: list[str], styles: Styles) -> dict[str, str]:
    """The parts of a workbook besides its sheets."""
    numbers = range(1, len(names) + 1)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
        for number in numbers
    )
    sheets = "".join(
        f'<sheet name="{_SPECIAL.sub(_written, name)}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(names, 1)
    )
    relations = "".join(
        f'<Relationship Id="rId{number}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    filters = "".join(  # spreadsheets also read the area of a filter here
        f'<definedName name="_xlnm._FilterDatabase" localSheetId="{place}" hidden="1">'
        f"'{_SPECIAL.sub(_written, name)}'!{_absolute(area)}</definedName>"
        for place, (name, area) in enumerate(zip(names, areas, strict=True))
    )
    codes = "".join(
        f'<numFmt numFmtId="{162 + number}" formatCode="{_attribute(code)}"/>' for code, number in styles.items()
    )
    formats = "".join(
        f'<xf numFmtId="{162 + number}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        for number in styles.values()
    )
    return {
        "xl/styles.xml": f'{_XML}<styleSheet xmlns="{_MAIN}">'
        + (f'<numFmts count="{len(styles)}">{codes}</numFmts>' if styles else "")
        + '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{len(styles) + 2}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        f'<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>{formats}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
        f"<bookViews><workbookView/></bookViews><sheets>{sheets}</sheets><definedNames>{filters}</definedNames></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{relations}'
        f'<Relationship Id="rId{len(names) + 1}" Type="{_RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>{overrides}'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>',
    }
