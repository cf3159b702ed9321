"""Splits regular rows with a regular expression instead of the parser, which is more than twice as fast.

A block of whole rows is split when the parser is between rows and the expression matches all of the block. Otherwise
the parser reads it, as well as everything before the first row and after the last.
"""

from __future__ import annotations

import re
from functools import lru_cache

from forebay.services.spreadsheets.rows import MAX_COLUMNS, MAX_ROW_BYTES
from forebay.services.spreadsheets.xlsx_parts import Workbook
from forebay.services.spreadsheets.xlsx_rows import NOWHERE, NUMBER, TEXT, FoundRow, SheetMarkup

_LONGEST = 1 << 18  # maximum bytes without the end of a row
_BEGIN, _END = b"<sheetData>", b"</row>"
_DECLARED = re.compile(
    rb"""(?:\xef\xbb\xbf)?<\?xml\ version=["']1\.0["'](?:\ encoding=["'][Uu][Tt][Ff]-8["'])?
         (?:\ standalone=["'](?:yes|no)["'])?\ ?\?>""",
    re.VERBOSE,
)
_TEXT = r"[^<\x00-\x08\x0b-\x1f\ufffe\uffff]*"
_TOKEN = re.compile(
    r'<c r="([A-Z]{1,3})[0-9]+"(?: s="([0-9]*)")?(?: t="(?:n|([A-Za-z]+))")?'
    rf'(?:/>|>(<f>{_TEXT}</f>)?(?:<v>({_TEXT})</v>|<v ?/>|<is><t(?: xml:space="preserve")?>({_TEXT})</t></is>)?</c>)'
    r'|<row r="([0-9]{1,9})"((?: [A-Za-z][A-Za-z0-9:]*="[A-Za-z0-9.: -]*")*)(/?)>'
    r"|(</row>)|[ \t\r\n]+|(.)",
    re.DOTALL,
)
_ODD_TEXT = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)|\]\]>")
_NAME = re.compile(" ([^=]+)=")
_STRINGS = frozenset(("inlineStr", "str"))


class SheetRows:
    """The rows of a sheet, from its bytes."""

    def __init__(self, part: str, book: Workbook) -> None:
        self._markup = _Split(part, book)
        self._kept = b""
        self._depth: int | None = None  # depth of the tags around rows
        self._is_parsed = False  # from here on

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[FoundRow]:
        """Raises: DataError."""
        self._kept += piece
        if self._depth is None and not self._is_parsed:
            self._begin()
        if self._depth is not None and not self._is_parsed:
            self._go_on()
        if self._is_parsed or is_last or len(self._kept) > _LONGEST:
            self._is_parsed = True
            kept, self._kept = self._kept, b""
            self._markup.feed(kept, is_last=is_last)
        return self._markup.taken()

    def _begin(self) -> None:
        """The parser reads what comes before the first row."""
        place = self._kept.find(_BEGIN)
        if place < 0:
            return
        head, self._kept = self._kept[: place + len(_BEGIN)], self._kept[place + len(_BEGIN) :]
        self._markup.feed(head)
        declared = _DECLARED.match(head)
        self._is_parsed = _has_notes(head[declared.end() if declared else 0 :]) or self._markup.depth is None
        self._depth = self._markup.depth

    def _go_on(self) -> None:
        rows, end, rest = self._kept.rpartition(_END)
        if not end:
            return
        rows, self._kept = rows + end, rest
        if not self._markup.split(rows):
            self._markup.feed(rows)
            self._is_parsed = _has_notes(rows) or self._markup.depth != self._depth


def _has_notes(markup: bytes) -> bool:
    """Whether there are comments or CDATA, in which tags do not count."""
    return b"<!" in markup or b"<?" in markup


class _Split(SheetMarkup):
    """The parser with the fast path."""

    def split(self, rows: bytes) -> bool:
        """Split whole rows, or nothing if they are irregular."""
        try:
            text = rows.decode()
        except UnicodeDecodeError:
            return False
        if _ODD_TEXT.search(text):
            return False
        before = self._row, self._rows_begun
        found = self._rows(_TOKEN.findall(text))
        if found is None:
            self._row, self._rows_begun = before
            return False
        self._found += found
        return True

    def _rows(self, tokens: list[tuple[str, ...]]) -> list[FoundRow] | None:
        found: list[FoundRow] = []
        is_inside = False
        cell = self._cell
        for letters, style, kind, formula, value, inline, row, attributes, closed, end, odd in tokens:
            if letters and is_inside:
                if text := value or inline:
                    cell(letters, style, kind, text)
                elif formula:
                    self._no_result(letters, kind)
            elif end and is_inside:
                found.append(self._made())
                is_inside = False
            elif row and not is_inside and _is_plain(attributes):
                self._begin_row({"r": row})
                if closed:
                    found.append(self._made())
                is_inside = not closed
            elif letters or end or row or odd:
                return None
        return None if is_inside else found

    def _cell(self, letters: str, style: str, kind: str, text: str) -> None:
        """Does what the parser does from the start of a cell to its end; most cells need only a part of it."""
        if "&" in text:
            text = _unescaped(text)
        cells, self._column = self._cells, self._columns.get(letters, NOWHERE)
        self._size += len(text)
        is_usual = self._column == len(cells) + 1 <= MAX_COLUMNS and not self._fault and self._size <= MAX_ROW_BYTES
        if is_usual and ("_x" not in text if kind in _STRINGS else not kind and not style and _is_whole(text)):
            cells.append(text)
            self._kinds.append(TEXT if kind else NUMBER)
            return
        self._kind, self._style, self._text, self._has_formula = kind or "n", style, [text], False
        if self._add_size(""):
            self._end_cell()

    def _no_result(self, letters: str, kind: str) -> None:
        self._column = self._columns.get(letters, NOWHERE)
        self._kind, self._text, self._has_formula = kind or "n", [], True
        self._end_cell()


_is_whole = re.compile("[1-9][0-9]{0,14}").fullmatch


@lru_cache(256)
def _is_plain(attributes: str) -> bool:
    """Whether no attribute is repeated."""
    names = _NAME.findall(attributes)
    return "r" not in names and len(set(names)) == len(names)


def _unescaped(text: str) -> str:
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text
