"""Parses the rows of a sheet."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import TypeAlias, TypeVar

from forebay.errors import DataError
from forebay.services.spreadsheets.cells import moment_text, number_shown
from forebay.services.spreadsheets.rows import MAX_COLUMNS, MAX_ROW_BYTES
from forebay.services.spreadsheets.xlsx_parts import Markup, Workbook, local, plain
from forebay.services.spreadsheets.xlsx_writing import MAX_ROWS, letters

FoundRow: TypeAlias = tuple[int, list[str], str | None, str]  # its number, cells, error, and the types of its cells

# The types of cells, one letter per cell.
TEXT, NUMBER, TRUTH, MOMENT, PERCENT, NO_RESULT = "snbdpf"

_DIGITS = "0123456789"
_OUTSIDE = "is outside of all rows"  # the fault of cells that no row has, which are ignored
NOWHERE = MAX_COLUMNS + 1


@cache
def _columns() -> dict[str, int]:
    return {letters(number): number + 1 for number in range(MAX_COLUMNS)}


_Handler = TypeVar("_Handler", bound=Callable[..., None])


class _ByName(dict[str, _Handler | None]):
    """Handlers of tags by name; names with a prefix are resolved once."""

    def __missing__(self, name: str) -> _Handler | None:
        self[name] = self.get(local(name))
        return self[name]


class SheetMarkup(Markup):
    """Collects rows from the markup."""

    def __init__(self, part: str, book: Workbook) -> None:
        super().__init__(part)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add
        text = {"v": self._begin_text, "t": self._begin_text, "f": self._begin_formula}
        self._starts = _ByName({"c": self._begin_cell, "row": self._begin_row, "rPh": self._begin_spoken, **text})
        text_end = {"v": self._end_text, "t": self._end_text}
        self._ends = _ByName({"c": self._end_cell, "row": self._end_row, "rPh": self._end_spoken, **text_end})
        self._columns = _columns()
        self._book = book
        self._found: list[FoundRow] = []
        self._row = self._column = self._size = self._spoken = self._open = self._rows_begun = 0
        self._cells: list[str] = []
        self._kinds: list[str] = []
        self._fault: str | None = _OUTSIDE
        self._kind = self._style = ""
        self._text: list[str] = []
        self._is_text = self._has_formula = False

    def taken(self) -> list[FoundRow]:
        found, self._found = self._found, []
        return found

    @property
    def depth(self) -> int | None:
        """The number of open tags; None within a text."""
        return None if self._is_text or self._spoken else self._open

    def _start(self, name: str, given: dict[str, str]) -> None:
        self._open += 1
        if begin := self._starts[name]:
            begin(given)

    def _end(self, name: str) -> None:
        self._open -= 1
        if end := self._ends[name]:
            end()

    def _begin_text(self, _: dict[str, str]) -> None:
        self._is_text = not self._spoken

    def _end_text(self) -> None:
        self._is_text = False

    def _begin_spoken(self, _: dict[str, str]) -> None:
        self._spoken += 1

    def _end_spoken(self) -> None:
        self._spoken -= 1

    def _begin_formula(self, _: dict[str, str]) -> None:
        self._has_formula = True

    def _end_row(self) -> None:
        self._found.append(self._made())

    def _made(self) -> FoundRow:
        made = self._row, self._cells, self._fault, "".join(self._kinds)
        self._cells, self._fault = [], _OUTSIDE
        return made

    def _begin_row(self, given: dict[str, str]) -> None:
        self._rows_begun += 1
        if self._rows_begun > MAX_ROWS:  # empty rows count: millions of them compress to almost nothing
            raise DataError(f"the sheet has more than {MAX_ROWS} rows, the maximum of spreadsheets")
        number = given.get("r", "")
        told = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        self._row = max(told, self._row + 1)  # row numbers must increase
        self._column = self._size = 0
        self._cells, self._kinds, self._fault = [], [], None

    def _begin_cell(self, given: dict[str, str]) -> None:
        place = given.get("r")
        # Other names are out of order, or beyond the last column.
        self._column = self._columns.get(place.rstrip(_DIGITS), NOWHERE) if place else self._column + 1
        self._kind, self._style = given.get("t", "n"), given.get("s", "")
        self._text = []
        self._has_formula = False

    def _add(self, text: str) -> None:
        if self._is_text and self._add_size(text):
            self._text.append(text)

    def _add_size(self, text: str) -> bool:
        """Whether the row is still within its maximum size; all cells may share a long string."""
        self._size += len(text)
        if self._size > MAX_ROW_BYTES:
            self._fault = f"is longer than {MAX_ROW_BYTES >> 20} MiB"
            return False
        return True

    def _end_cell(self) -> None:
        text = "".join(self._text)
        # The saved result of a formula may be an empty text, which is marked as a text.
        is_missing = not text and self._has_formula and self._kind != "str"
        if (not text and not is_missing) or self._fault:
            return
        missing = self._column - len(self._cells) - 1
        if missing < 0 or self._column > MAX_COLUMNS:
            self._fault = "has cells out of order" if missing < 0 else f"has more than {MAX_COLUMNS} cells"
            return
        kind, value = (NO_RESULT, "") if is_missing else self._value(text)
        if self._kind == "s" and not self._add_size(value):
            return
        if "\0" in value:
            self._fault = "has a NUL character"
        if missing:
            self._cells.extend([""] * missing)
            self._kinds.append(TEXT * missing)
        self._cells.append(value)
        self._kinds.append(kind)

    def _value(self, text: str) -> tuple[str, str]:
        """The type and the text of the cell."""
        match self._kind:
            case "s":
                return TEXT, self._shared(text)
            case "n" | "":
                return self._number(text)
            case "b":
                return TRUTH, "true" if text.strip() in {"1", "true"} else "false"
            case "d":
                return MOMENT, plain(text)
            case _:  # inlineStr, str, e
                return TEXT, plain(text)

    def _shared(self, text: str) -> str:
        try:
            return self._book.strings[int(text)]
        except (ValueError, IndexError):
            self._fault = "refers to a string that is not in the file"
            return ""

    def _number(self, text: str) -> tuple[str, str]:
        if not self._style and len(text) < 16 and text.isascii() and text.isdigit() and text[0] != "0":
            return NUMBER, text
        try:
            value = float(text)
        except ValueError:
            return TEXT, text
        style = int(self._style) if self._style.isascii() and self._style.isdigit() and len(self._style) < 9 else 0
        formats = self._book.formats
        meaning = formats[style] if style < len(formats) else None
        if meaning is None:
            return NUMBER if isfinite(value) else TEXT, number_shown(value)
        if meaning.has_date or meaning.has_time:
            shown = moment_text(
                value,
                has_date=meaning.has_date,
                has_time=meaning.has_time,
                since_1904=self._book.since_1904,
                is_duration=meaning.is_duration,
            )
            return MOMENT, shown
        shown = number_shown(
            value,
            decimals=meaning.decimals,
            digits=meaning.digits,
            gaps=meaning.gaps,
            is_percent=meaning.is_percent,
        )
        if meaning.digits:
            return TEXT, shown  # a code: its zeros are part of it
        kind = PERCENT if meaning.is_percent else NUMBER
        return kind if isfinite(value) else TEXT, shown
