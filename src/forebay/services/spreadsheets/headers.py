"""Detects where a table begins, and whether its first row is a header, by comparing it with the rows below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

_LOOKED_AT = 50  # rows below the first
_NUMBER = re.compile(r"[-+]?[$€£¥]?\s?[\d.,'\s]*\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%$€£¥]?")
_DATE = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*|\d{1,2}:\d\d(?::\d\d.*)?|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}.*"
)
_YEAR = re.compile(r"(?:19|20)\d\d")  # a year may be the name of a column of numbers
_ADDRESS = re.compile(r"https?://.*|[^@\s]+@[^@\s]+")
_WORD = re.compile(r"true|false|yes|no|n/?a|null|none|nan|-", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9][\w./:#-]*")  # letters and digits mixed, as in an article number
_NAME = re.compile(r"[^\W\d][\w .()/%#€$*?:&+-]{0,39}")
_COUNT = re.compile(r"\s\d|(?:\S+\s+){4}")  # "Blue mug 300 ml" and sentences are not names of columns
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[_.][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z]+)+|id|ID")
_NUMBERED = re.compile(r"(?:c|col|column|f|field|v|var|x|y|attr|feature|key|pk)[ _]?\d{1,4}", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:#|//|%|--|;;|\*)")


def looks_like_header(first: Sequence[str], below: Sequence[Sequence[str]] = ()) -> bool:
    """Whether the first row is a header: its cells differ in type from those below.

    Without rows below: whether no cell is a number, a date or an address.
    """
    names = [cell.strip() for cell in first]
    given = [name for name in names if name]
    if not given:
        return False
    rows = [row for row in below[:_LOOKED_AT] if any(row)]
    if not rows:
        return len(set(given)) == len(given) and not any(_kind(name) in _DATA for name in given)
    votes = [_vote(name, [row[at].strip() for row in rows if at < len(row)]) for at, name in enumerate(names)]
    return sum(votes) + _prior(given) - _vote_of_repeats(names, rows) > 0


def widened(header: list[str], below: Sequence[Sequence[str]]) -> list[str]:
    """The header with as many cells as most rows have. R writes no name for the column of row numbers."""
    widths = [_width(row) for row in below]
    wider = [width for width in widths if width > len(header)]
    if len(wider) * 2 <= len(widths):
        return header
    missing = max(sorted(set(wider)), key=wider.count) - len(header)
    is_numbered = missing == 1 and all(row[0] == str(number) for number, row in enumerate(below, 1) if row)
    return ["", *header] if is_numbered else [*header, *[""] * missing]


def _width(row: Sequence[str]) -> int:
    return max((at for at, cell in enumerate(row, 1) if cell), default=0)


def table_start(rows: Sequence[Sequence[str]]) -> int:
    """The number of rows before the table: titles, dates, comments, which have fewer cells than the rows below."""
    start = 0
    while start < len(rows) - 1 and _is_comment(rows[start]) and not _is_comment(rows[-1]):
        start += 1
    widths = [_filled(row) for row in rows[start:]]
    if len(widths) < 3:
        return start
    usual = median(widths[len(widths) // 2 :])
    if usual < 2:
        return start
    enough = max(2, usual * 0.5)
    narrow = next((at for at, width in enumerate(widths) if width >= enough), 0)
    return start + narrow if sum(width >= enough for width in widths[narrow:]) >= 2 else start


def _is_comment(row: Sequence[str]) -> bool:
    return bool(row) and _COMMENT.match(row[0]) is not None


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


_DATA = frozenset(("number", "date", "address", "word"))


def _kind(cell: str) -> str:
    cell = cell[:200]  # limited, because the patterns below are quadratic in the worst case
    for kind, pattern in (
        ("number", _NUMBER),
        ("date", _DATE),
        ("address", _ADDRESS),
        ("word", _WORD),
        ("code", _CODE),
    ):
        if pattern.fullmatch(cell):
            return kind
    return "text"


def _vote(name: str, cells: Sequence[str]) -> float:
    """The vote of a column: above 0 for a header, below 0 against."""
    given = [cell for cell in cells if cell]
    if not name or not given:
        return 0.0
    kinds = [_kind(cell) for cell in given]
    usual = max(sorted(set(kinds)), key=kinds.count)
    kind = _kind(name)
    if _YEAR.fullmatch(name):
        return -1.5 if sum(_YEAR.fullmatch(cell) is not None for cell in given) * 2 > len(given) else 0.5
    return _vote_of_datum(kind, kinds, usual) if kind in _DATA else _vote_of_text(name, given, kinds, usual)


def _vote_of_text(name: str, given: Sequence[str], kinds: Sequence[str], usual: str) -> float:
    if _share_prefix(name, given):
        return -2.0
    is_code = _kind(name) == "code"
    if usual in _DATA or (usual == "code" and not is_code):
        return 1.5 * kinds.count(usual) / len(kinds)
    if name in given:
        return -1.0 if given.count(name) * 20 > len(given) else -0.4
    return _vote_of_shape(name, given) + _vote_of_lengths(name, given) - 0.4 * (is_code and usual == "code")


def _vote_of_datum(kind: str, kinds: Sequence[str], usual: str) -> float:
    """A number above numbers is one of them; above booleans or words it may be a name."""
    if kind == usual:
        return -1.5
    if kind == "word" or (usual in _DATA and kind not in kinds and len(kinds) > 2):
        return 0.3
    return -0.7


def _share_prefix(name: str, given: Sequence[str]) -> bool:
    """Whether the cell has the prefix of most others, as "SKU-1" and "SKU-2"; but not as "Comment" and "Comment 1"."""
    length = max(4, len(name) // 3)
    alike = sum(cell[:length] == name[:length] and not cell.startswith(name) for cell in given)
    return len(given) > 1 and alike * 3 > len(given) * 2


def _vote_of_shape(name: str, given: Sequence[str]) -> float:
    """Identifiers above text are names, unless the whole column has that form."""
    pattern = _NUMBERED if _NUMBERED.fullmatch(name) else _IDENTIFIER
    if not pattern.fullmatch(name):
        return 0.0
    return -0.5 if sum(pattern.fullmatch(cell) is not None for cell in given) * 2 > len(given) else 0.6


def _vote_of_lengths(name: str, given: Sequence[str]) -> float:
    """Text above text: cells of a column often have the same length, and their header differs."""
    lengths = [len(cell) for cell in given]
    if len(set(given)) > 2 and len(set(lengths)) == 1:
        return 0.5 if len(name) != lengths[0] else -0.6
    if len(name) > 2 * max(lengths) or len(name) * 3 < min(lengths):
        return 0.4
    return 0.0


def _vote_of_repeats(names: Sequence[str], rows: Sequence[Sequence[str]]) -> float:
    """Repeated names are unusual; if the value is also repeated below, it is data."""
    places: dict[str, int] = {}
    repeated = [(at, first) for at, name in enumerate(names) if name and (first := places.setdefault(name, at)) < at]
    if not repeated:
        return 0.0
    same = sum(all(max(pair) < len(row) and row[pair[0]] == row[pair[1]] for pair in repeated) for row in rows)
    return 1.0 if same * 2 > len(rows) else 0.3


def _prior(given: Sequence[str]) -> float:
    """How much the cells look like names, without the rows below."""
    if any(_kind(name) in _DATA - {"word"} and not _YEAR.fullmatch(name) for name in given):
        return -0.2
    named = sum(_NAME.fullmatch(name) is not None and not _COUNT.search(name) for name in given) / len(given)
    is_long = any(len(name) > 60 for name in given)
    return 0.5 * named - 0.1 - is_long
