"""Reads the parts of a workbook that precede its rows: sheets, number formats and shared strings."""

from __future__ import annotations

import mmap
import re
import tempfile
import zipfile
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO
from xml.parsers import expat

from forebay.errors import DataError
from forebay.services.spreadsheets.archives import pieces
from forebay.services.spreadsheets.rows import MAX_ROW_BYTES

MAX_PART_BYTES = 64 << 20  # bytes of a part in memory
MAX_STRINGS_BYTES = 1 << 30  # stored on disk
MAX_STRINGS = 1 << 24  # the end of each is kept in memory
_MAX_NAMES = 1 << 20  # the parser stores all names of tags and attributes
_HEX = re.compile("_x([0-9A-Fa-f]{4})_")


class Markup:
    """Parses XML incrementally, without document types (so no entities), with limits on names and attributes."""

    def __init__(self, what: str) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self._what = what
        self._fed = self._names = 0

    def feed(self, piece: bytes, *, is_last: bool = False) -> None:
        """Raises: DataError."""
        try:
            self.parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            raise DataError(f"{self._what} is damaged: {error}") from error
        self._fed += len(piece)
        if self._fed - self.parser.CurrentByteIndex > MAX_ROW_BYTES:
            raise DataError(f"{self._what} has a tag of more than {MAX_ROW_BYTES} bytes")
        known = self.parser.intern
        if len(known) != self._names:
            self._names = len(known)
            if sum(map(len, known)) > _MAX_NAMES:
                raise DataError(
                    f"{self._what} has names of more than {_MAX_NAMES} characters, which spreadsheets do not have"
                )

    def _refuse(self, *_: object) -> None:
        raise DataError(f"{self._what} declares a document type, which spreadsheets do not have")


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition(":")[2]


def plain(text: str) -> str:
    """Decode _xHHHH_ escapes of characters that XML cannot represent."""
    return _HEX.sub(_character, text) if "_x" in text else text


def _character(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A sheet: its name, its part, and whether it is visible."""

    name: str
    part: str
    is_visible: bool


@dataclass(frozen=True, slots=True)
class CellFormat:
    """The meaning and the format of a number."""

    has_date: bool = False
    has_time: bool = False
    is_percent: bool = False
    is_duration: bool = False  # hours, minutes or seconds may exceed a day
    digits: int = 0  # digits of a code, such as an article number, padded with zeros
    gaps: tuple[str, ...] = ()  # the text before, between and after them
    decimals: int = 0  # minimum decimals


@dataclass(slots=True)
class Workbook:
    """The parsed parts."""

    sheets: list[Worksheet]
    formats: list[CellFormat | None]
    strings: SharedStrings
    since_1904: bool

    def sheet(self, name: str | None) -> Worksheet:
        """The sheet of that name; by default the first visible one.

        Raises: DataError when there is none.
        """
        for one in self.sheets:
            if one.name == name or (name is None and one.is_visible):
                return one
        names = ", ".join(repr(one.name) for one in self.sheets[:20])
        raise DataError(f"the workbook has no sheet {name!r}; it has {names}" if name else "the workbook has no sheet")


def read_workbook(archive: zipfile.ZipFile) -> Workbook:
    """Raises: DataError when it is not a workbook."""
    main = _main_part(archive)
    relations = _relations(archive, main)
    sheets, since_1904 = _sheets(archive, main, {key: part for key, (_, part) in relations.items()})
    others = dict(relations.values())
    formats = _formats(archive, others.get("styles"))
    strings = SharedStrings()
    if (part := others.get("sharedStrings")) and part in archive.NameToInfo:
        try:
            _read_strings(archive, part, strings)
        except BaseException:
            strings.close()
            raise
    return Workbook(sheets, formats, strings, since_1904)


def _main_part(archive: zipfile.ZipFile) -> str:
    for kind, part in _relations(archive, "").values():
        if kind == "officeDocument":
            return part
    raise DataError("the file is not a workbook: its main part is missing")


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The relations of a part: type and target by id."""
    path = PurePosixPath(part)
    found: dict[str, tuple[str, str]] = {}

    def start(name: str, given: dict[str, str]) -> None:
        if local(name) == "Relationship" and given.get("TargetMode") != "External":
            target = given.get("Target", "")
            full = target if target.startswith("/") else str(path.parent / target)
            found[given.get("Id", "")] = given.get("Type", "").rpartition("/")[2], _normal(full)

    _parse(archive, str(path.parent / "_rels" / f"{path.name}.rels") if part else "_rels/.rels", start)
    return found


def _normal(path: str) -> str:
    parts: list[str] = []
    for one in path.split("/"):
        if one == ".." and parts:
            parts.pop()
        elif one not in {"", ".", ".."}:
            parts.append(one)
    return "/".join(parts)


def _sheets(archive: zipfile.ZipFile, main: str, parts: dict[str, str]) -> tuple[list[Worksheet], bool]:
    found: list[Worksheet] = []
    since_1904 = False

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal since_1904
        if local(name) == "sheet":
            key = next((value for attribute, value in given.items() if attribute.endswith(":id")), "")
            if part := parts.get(key):
                found.append(Worksheet(given.get("name", ""), part, given.get("state", "visible") == "visible"))
        elif local(name) == "workbookPr":
            since_1904 = given.get("date1904", "0") in {"1", "true"}

    _parse(archive, main, start)
    return found, since_1904


def _parse(archive: zipfile.ZipFile, part: str, start: Callable[[str, dict[str, str]], None]) -> None:
    entry = archive.NameToInfo.get(part)
    if entry is None:
        raise DataError(f"the file is not a workbook: {part!r} is missing")
    if entry.file_size > MAX_PART_BYTES:
        raise DataError(f"{part!r} has {entry.file_size} bytes; {MAX_PART_BYTES} are allowed")
    markup = Markup(part)
    markup.parser.StartElementHandler = start
    for piece in pieces(archive, entry):
        markup.feed(piece)
    markup.feed(b"", is_last=True)


# Formats.

_BUILT_IN = {
    **dict.fromkeys(
        (*range(14, 18), *range(27, 32), 34, 35, 36, *range(50, 59)), CellFormat(has_date=True, has_time=False)
    ),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47), CellFormat(has_date=False, has_time=True)),
    46: CellFormat(has_time=True, is_duration=True),
    22: CellFormat(has_date=True, has_time=True),
    **dict.fromkeys((2, 4, 7, 8, 39, 40, 43, 44), CellFormat(decimals=2)),
    9: CellFormat(is_percent=True),
    10: CellFormat(is_percent=True, decimals=2),
}
_MAX_FORMATS = 1 << 16
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)


def _formats(archive: zipfile.ZipFile, part: str | None) -> list[CellFormat | None]:
    """The format of each style: None for a plain number."""
    custom: dict[str, CellFormat | None] = {}
    found: list[CellFormat | None] = []
    inside = False

    def start(name: str, given: dict[str, str]) -> None:
        nonlocal inside
        match local(name):
            case "numFmt" if len(custom) < _MAX_FORMATS:
                custom[given.get("numFmtId", "")] = format_of(given.get("formatCode", ""))
            case "cellXfs":
                inside = True
            case "cellStyles" | "dxfs":
                inside = False
            case "xf" if inside and len(found) < _MAX_FORMATS:
                number = given.get("numFmtId", "0")
                found.append(custom[number] if number in custom else _BUILT_IN.get(_whole(number)))
            case _:
                pass

    if part and part in archive.NameToInfo:
        _parse(archive, part, start)
    return found


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


_FIXED = re.compile(r"[#,?]*0*(?:\.(0*)[#?]*)?")
_CODE = re.compile("0{2,40}")
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]")
_UNSEEN = re.compile(r"_.|\*.|\[[^\]]*\]")
_SPELLED = re.compile(r"""(0)|\\(.)|"([^"]*)"|([- ()])""")
_MAX_DECIMALS = 15


def format_of(code: str) -> CellFormat | None:
    """The meaning of a custom format: None for a plain number."""
    positive = _QUOTED.sub("", code[:1000]).partition(";")[0].lower().replace("general", "")
    is_duration = _ELAPSED.search(positive) is not None
    has_time = is_duration or re.search("[hs]", positive) is not None
    has_date = re.search("[dy]", positive) is not None or ("m" in positive and not has_time)
    if has_date or has_time:
        return CellFormat(has_date=has_date, has_time=has_time, is_duration=is_duration)
    if gaps := _gaps(code[:1000]):
        return CellFormat(digits=len(gaps) - 1, gaps=gaps)
    if _CODE.fullmatch(positive.strip()):
        return CellFormat(digits=len(positive.strip()))
    is_percent = positive.count("%") == 1
    # The text around the digits, such as a currency sign, is not part of the number.
    fixed = _FIXED.fullmatch("".join(sign for sign in positive if sign in "#0?.,e/"))
    decimals = min(len(fixed[1] or ""), _MAX_DECIMALS) if fixed else 0
    return CellFormat(is_percent=is_percent, decimals=decimals) if is_percent or decimals else None


def _gaps(code: str) -> tuple[str, ...]:
    """The text before, between and after the zeros of a format such as 000-00-0000; None if there is none between."""
    gaps = [""]
    at = 0
    text = _UNSEEN.sub("", code)
    while at < len(text) and text[at] != ";":
        found = _SPELLED.match(text, at)
        if found is None:
            return ()
        if found[1]:
            gaps.append("")
        else:
            gaps[-1] += found[2] or found[3] or found[4] or ""
        at = found.end()
    return tuple(gaps) if len(gaps) <= 41 and any(gaps[1:-1]) else ()


# Strings.


class SharedStrings:
    """Strings by number, in an unnamed temporary file, because they may not fit into memory."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._map: mmap.mmap | None = None
        self._ends = array("Q", [0])
        self._near: dict[int, str] = {}

    def fill(self, texts: Iterable[str]) -> None:
        self._file = self._file or tempfile.TemporaryFile(prefix="forebay-strings-")  # noqa: SIM115
        end = self._ends[-1]
        for text in texts:
            end += self._file.write(text.encode("utf-8", "replace"))
            self._ends.append(end)
        if len(self) > MAX_STRINGS:
            raise DataError(f"the workbook shares more than {MAX_STRINGS} strings between its cells")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        """Raises: IndexError."""
        if number < 0 or number >= len(self):
            raise IndexError(number)
        known = self._near.get(number)
        if known is None:
            known = self._bytes(self._ends[number], self._ends[number + 1]).decode()
            if len(known) < 256:
                if len(self._near) >= 1 << 15:
                    self._near.clear()
                self._near[number] = known
        return known

    def _bytes(self, begin: int, end: int) -> bytes:
        if begin == end or self._file is None:
            return b""
        if self._map is None:
            self._file.flush()
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._map[begin:end]

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
        if self._file is not None:
            self._file.close()


def _read_strings(archive: zipfile.ZipFile, part: str, strings: SharedStrings) -> None:
    entry = archive.NameToInfo[part]
    if entry.file_size > MAX_STRINGS_BYTES:
        raise DataError(f"{part!r} has {entry.file_size} bytes; {MAX_STRINGS_BYTES} are allowed")
    reading = _Strings(part)
    for piece in pieces(archive, entry):
        reading.feed(piece)
        strings.fill(reading.taken())
    reading.feed(b"", is_last=True)
    strings.fill(reading.taken())


class _Strings(Markup):
    """The texts of all runs of a string, without phonetic runs."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self._found: list[str] = []
        self._text: list[str] = []
        self._spoken = self._size = 0

    def taken(self) -> list[str]:
        found, self._found = self._found, []
        return found

    def _start(self, name: str, _: dict[str, str]) -> None:
        match local(name):
            case "si":
                self._text, self._size = [], 0
            case "rPh":
                self._spoken += 1
            case "t" if not self._spoken:
                self.parser.CharacterDataHandler = self._add
            case _:
                pass

    def _end(self, name: str) -> None:
        match local(name):
            case "t":
                self.parser.CharacterDataHandler = None
            case "rPh":
                self._spoken -= 1
            case "si":
                self._found.append(plain("".join(self._text)))
            case _:
                pass

    def _add(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_ROW_BYTES:
            raise DataError(f"{self._what} has a string of more than {MAX_ROW_BYTES} characters")
        self._text.append(text)
