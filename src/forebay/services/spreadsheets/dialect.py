"""Detects the dialect of a CSV file from a sample of its lines: delimiter, quote and escape.

Each possible dialect is scored by how many rows have the same number of cells, and by how clean the cells are: a
number, a date, an address or words, without other delimiters and stray quotes. So "Mug;1,50" has two cells.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

DELIMITERS = (",", ";", "\t", "|")
_SEPARATORS = ("\x1f", "\x1e")  # never part of text
# Only if they split nearly every row: in most files they are part of the text.
_UNUSUAL = (" ", "#", "+", ":", "~", "^", "*", "&")
_ROWS = 100
_FAULTS = 20  # invalid rows after which the rest is split without regard to quotes
_CELLS = 3000  # number of sample rows
_LONG = 200  # characters of a cell that are checked
_ENOUGH, _LITTLE = 0.3, 0.05  # with a lower score, the file has one column
_ESCAPED = re.compile(r"\\[\"']")


class Dialect(NamedTuple):
    """The parameters of Python's csv module."""

    delimiter: str
    quote: str = '"'  # None: quotes are part of the text, except around a cell
    escape: str | None = None  # a backslash before quotes
    spaced: bool = False  # spaces between quotes and delimiters


class SampleRow(NamedTuple):
    """A row of the sample: the number of lines before it, and its cells."""

    line: int
    cells: list[str]
    is_good: bool = True


class _Reading(NamedTuple):
    score: float
    dialect: Dialect


def find_dialect(lines: Sequence[str], delimiter: str | None = None) -> Dialect:
    """The most likely dialect of these lines, which have their ends; a given delimiter is not detected."""
    text = "".join(lines)
    tried = [one for one in ((delimiter,) if delimiter else (*DELIMITERS, *_SEPARATORS, *_UNUSUAL)) if one in text]
    readings = [reading for one in tried for reading in _readings(lines, text, one)]
    best = max(readings, key=lambda one: one.score, default=_Reading(0.0, Dialect(delimiter or ",")))
    if delimiter is None and best.score < (_ENOUGH if _is_punctuation(text, best.dialect.delimiter) else _LITTLE):
        return _one_column(lines, text)
    return best.dialect


def _readings(lines: Sequence[str], text: str, delimiter: str) -> Iterator[_Reading]:
    """The possible dialects with this delimiter; without quotes only if they break most rows."""
    for rest in _quotings(text, delimiter):
        dialect = Dialect(delimiter, *rest)
        rows = read_sample(lines, dialect)[:_ROWS]
        yield _Reading(_score(rows, dialect), dialect)
        if dialect == Dialect(delimiter) and sum(not row.is_good for row in rows) * 2 > len(rows) > 1:
            plain = Dialect(delimiter, "")
            yield _Reading(_score(read_sample(lines, plain)[:_ROWS], plain), plain)


def _is_punctuation(text: str, delimiter: str) -> bool:
    """Whether a space follows most of them, as in text."""
    return text.count(f"{delimiter} ") * 2 > text.count(delimiter)


def _one_column(lines: Sequence[str], text: str) -> Dialect:
    """A delimiter that does not split the only column."""
    comma = Dialect(",")
    if all(_width(row.cells) < 2 for row in read_sample(lines, comma)):
        return comma
    return Dialect("\t" if "\t" not in text else "\x1f")


def _quotings(text: str, delimiter: str) -> list[tuple[str, str | None, bool]]:
    """The plausible quotes, escapes and spaces around quotes."""
    escapes = (None, "\\") if _ESCAPED.search(text) else (None,)
    found: list[tuple[str, str | None, bool]] = []
    for quote in ('"', "'"):
        quoted = _quoted(text, delimiter, quote)
        if quote == '"' or (quoted * 3 >= min(text.count("\n"), 300) > 0 and text.count('"') * 2 < text.count("'")):
            found += [(quote, escape, False) for escape in escapes if escape is None or quote in text]
            if delimiter == " " or (quoted and _quoted(text, delimiter, quote, " {1,9}")):
                found.append((quote, None, True))
    return found


def _quoted(text: str, delimiter: str, quote: str, space: str = " {0,9}") -> int:
    """The number of first lines with a cell in these quotes, and with such spaces outside of them."""
    mark = re.escape(delimiter)
    cell = f"{quote}[^{quote}\r\n]*{quote}"
    pattern = rf"(?:^|{mark})(?:{space}{cell} {{0,9}}|{cell}{space})(?:{mark}|\r?$)"
    return sum(re.search(pattern, line) is not None for line in text[: 64 << 10].split("\n", 301)[:300])


def read_sample(lines: Iterable[str], dialect: Dialect) -> list[SampleRow]:
    """Rows of the sample; an invalid row, such as one with an unclosed quote, is split as well as possible."""
    source = [line.replace("\0", "") for line in lines]
    rows: list[SampleRow] = []
    at = faults = 0
    while at < len(source) and len(rows) <= _ROWS and faults < _FAULTS:
        reader = csv_reader(iter(source[at:]), dialect)
        begin = at
        try:
            for cells in islice(reader, _ROWS + 1):
                rows.append(SampleRow(at, cleaned(cells, dialect)))
                at = begin + reader.line_num
            break
        except csv.Error:
            rows.append(SampleRow(at, source[at].rstrip("\r\n").split(dialect.delimiter), is_good=False))
            at, faults = at + 1, faults + 1
    if faults >= _FAULTS:
        rest = source[at : at + _ROWS]
        rows += [SampleRow(at + n, line.rstrip("\r\n").split(dialect.delimiter), False) for n, line in enumerate(rest)]
    return [row for row in rows if any(cell.strip() for cell in row.cells)]


def csv_reader(lines: Iterable[str], dialect: Dialect) -> Reader:
    """A parser of the csv module; its cells must be `cleaned` if the dialect requires it."""
    if not dialect.quote:
        return csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        skipinitialspace=dialect.spaced,
        strict=not dialect.spaced,
    )


def cleaned(cells: list[str], dialect: Dialect) -> list[str]:
    """Cells without surrounding spaces and quotes."""
    if dialect.spaced:
        return [cell.rstrip(" ") for cell in cells]
    if not dialect.quote:
        return [cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell for cell in cells]
    return cells


# Scores.


def _score(rows: Sequence[SampleRow], dialect: Dialect) -> float:
    """From 0 to 1; rows before the first one of the usual width may be a title and count little."""
    widths = Counter(len(row.cells) for row in rows)
    width = max(widths, key=lambda wide: (wide > 1, widths[wide], wide), default=1)
    if width == 1:
        return 0.0
    first = next(at for at, row in enumerate(rows) if len(row.cells) == width)
    is_named = first > 0 and all(len(row.cells) == 1 for row in rows[:first])
    if is_named and all(_is_typed(dialect.delimiter.join(row.cells)) for row in rows[first:]):
        return 0.0  # below a header without a delimiter: numbers with a decimal comma, times
    if first == 1 and is_named and _are_phrases(rows[first:]):
        return 0.0  # Smith, John
    table = 0.9 * _table_score(rows[first:], dialect, width) if first and len(rows) - first > 1 else 0.0
    return max(_table_score(rows, dialect, width), table)


def _are_phrases(rows: Sequence[SampleRow]) -> bool:
    """Whether each delimiter is followed by a space and words."""
    rest = [cell for row in rows for cell in row.cells[1:]]
    return all(cell.startswith(" ") and cell.strip() and not _is_typed(cell) for cell in rest)


def _table_score(rows: Sequence[SampleRow], dialect: Dialect, width: int) -> float:
    wide = [row for row in rows if len(row.cells) > 1 and row.is_good]
    if not wide:
        return 0.0
    same = sum(len(row.cells) == width for row in wide)
    share = same / len(rows)
    cells = [cell for row in wide for cell in row.cells][:_CELLS]
    clean = sum(map(_cleanness, cells)) / len(cells)
    score = (share + 0.3 * (len(wide) - same) / len(rows)) * clean * (0.8 + 0.2 * (width - 1) / width)
    score *= _RARER.get(dialect.quote, 1.0)
    if dialect.delimiter not in _UNUSUAL:
        return score
    # All rows match and the cells are clean; a common delimiter with the same score is more likely.
    filled = [cell for cell in cells if cell]
    is_sure = share > 0.9 and clean > 0.8 and len(filled) > 0.8 * len(cells) and len(rows) > 2
    if dialect.delimiter == " ":  # between words it is only a space
        is_sure = is_sure and sum(map(_is_typed, filled)) > 0.3 * len(filled)
    is_sure = is_sure and not all(_IN_PARTS.fullmatch(dialect.delimiter.join(row.cells)) for row in rows)
    return score * 0.75 if is_sure else 0.0


_RARER = {"'": 0.99, "": 0.8}


def _width(cells: Sequence[str]) -> int:
    """The number of cells up to the last non-empty one."""
    return max((at for at, cell in enumerate(cells, 1) if cell), default=0)


_TYPED = re.compile(
    r"""
    \s*(?:
    [-+]?[$€£¥]?\s?\d+(?:[.,' ]\d+)*(?:[eE][-+]?\d+)?\s?[%$€£¥]?   # a number, also 1.234,50 or 12 %
    | \d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:[AaPp][Mm]|Z|[-+]\d\d(?::?\d\d)?)?)?
    | \d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?
    | [a-zA-Z]{2,10}://\S+ | [^@\s,;|]+@[^@\s,;|]+
    | (?:n/?a|nan|null|none|true|false|yes|no|-)
    )?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
# Values with spaces or colons: phone numbers, and dates with times. Columns of these need a header.
_IN_PARTS = re.compile(
    r"""
    \+?[\d\ ()]+
    | (?:\d{1,4}([-./])\d{1,2}\1\d{1,4}\ +)?
      \d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?(?:[AaPp][Mm]|Z|[-+]\d\d:?\d\d))?""",
    re.VERBOSE,
)
_WORDS = re.compile(r"[^,;\t|\"\x1e\x1f]*")
_LEFT_OVER = re.compile(r"\s*([\"']).*\1\s*", re.DOTALL)
_MARK = re.compile(r"\s*[^\w\s-]\s*")
_HALF_QUOTED = re.compile(r"\s*(?:[\"'][^\"']*|[^\"']*[\"'])\s*")


def _is_typed(cell: str) -> bool:
    return len(cell) < _LONG and _TYPED.fullmatch(cell) is not None


def _cleanness(cell: str) -> float:
    """How much a cell looks like a single value."""
    cell = cell[:_LONG]
    if _TYPED.fullmatch(cell):
        return 1.0
    if _LEFT_OVER.fullmatch(cell) or _MARK.fullmatch(cell) or _HALF_QUOTED.fullmatch(cell):
        return 0.3
    balance = [cell.count(one) - cell.count(other) for one, other in ("()", "[]", "{}")]
    if any(balance):
        return 0.4
    if _WORDS.fullmatch(cell):
        return 0.9
    return 0.8 if "(" in cell or "[" in cell or "{" in cell else 0.5


class Reader(Protocol):
    """The type of csv.reader."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...
