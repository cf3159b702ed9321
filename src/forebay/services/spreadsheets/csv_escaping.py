"""Escapes formulas in CSV that the database has written, in blocks of records.

Hardly any record has a formula, so a block is searched for what may begin one, and only the records that have it are
divided into cells. The search takes less than half of the time of a function in the query, and it runs while the
database makes the next records.
"""

from __future__ import annotations

import re

from forebay.services.spreadsheets.cells import escaped

# A cell, or a part of one, begins after a comma, a quote or a semicolon. If one of these bytes follows, it may be a
# formula; \xef is the first byte of the full-width signs.
_BEFORE, _SIGN = b',;"', b"=+-@\r'\xef"
_CLASSES = bytes(44 if byte in _BEFORE else 61 if byte in _SIGN else 120 for byte in range(256))  # a comma, =, x

_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"|[^",\n][^,\n]*')


def escape_records(block: bytes) -> bytes:
    """Escape the cells of whole records that a spreadsheet would run as formulas.

    The records end with line feeds, and their first cell is a number or empty.
    """
    searches = (
        _Search(block.translate(_CLASSES), b",="),
        _Search(block, b"\t"),  # also divides cells
        _Search(block, b',"\n'),
    )
    parts: list[bytes] = []
    done = 0
    while (place := min(search.after(done) for search in searches)) < len(block):
        start, end = _record_at(block, done, place)
        parts += (block[done:start], _escape_record(block[start:end]))
        done = end
    return b"".join((*parts, block[done:])) if parts else block


class _Search:
    """The places of some bytes in a block; what has been searched is not searched again."""

    def __init__(self, block: bytes, what: bytes) -> None:
        self._block = block
        self._what = what
        self._place = -1

    def after(self, start: int) -> int:
        """The first place from `start` on, or the end of the block. `start` does not decrease."""
        if self._place < start:
            found = self._block.find(self._what, start)
            self._place = len(self._block) if found < 0 else found
        return self._place


def _record_at(block: bytes, start: int, place: int) -> tuple[int, int]:
    """The start and end of the record with this place; `start` is that of a record before it, or its own."""
    end, quotes = start, 0
    while True:
        upto = block.index(b"\n", end) + 1
        quotes += block.count(b'"', end, upto)
        end = upto
        if quotes % 2 == 0:  # otherwise the line feed is in a cell
            if end > place:
                return start, end
            start = end


def _escape_record(record: bytes) -> bytes:
    return _CELL.sub(_escape_cell, record.decode()).encode()


def _escape_cell(cell: re.Match[str]) -> str:
    text = cell[0]
    if text[0] != '"':
        return escaped(text)
    value = text[1:-1].replace('""', '"')
    made = escaped(value)
    return text if made == value else '"' + made.replace('"', '""') + '"'
