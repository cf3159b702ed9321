"""Lines of a file that nobody vouches for, none longer than memory should have to hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import IO, TypeAlias

from forebay.services.spreadsheets.rows import MAX_ROW_BYTES, Place

_CHUNK = 1 << 18

Line: TypeAlias = bytes | int  # with its end; an integer is the length of a line that is too long to be kept


class Lines:
    """The lines from a place on. Lines that were taken can be put back."""

    def __init__(self, source: IO[bytes], start: Place, end: bytes) -> None:
        source.seek(start.offset)
        self._source = source
        self._end = end
        self._ready: deque[Line] = deque()
        self._rest = b""
        self._skipped = 0  # bytes of a line that is too long, so far
        self._is_over = False
        self.offset = start.offset
        self.count = start.line

    def take(self) -> Line | None:
        """The next line; None at the end."""
        while not self._ready:
            if self._is_over:
                return None
            self._read_on()
        line = self._ready.popleft()
        self.offset += line if isinstance(line, int) else len(line)
        self.count += 1
        return line

    def put_back(self, lines: list[Line]) -> None:
        """These lines, the last that were taken, come again."""
        self._ready.extendleft(reversed(lines))
        self.offset -= sum(line if isinstance(line, int) else len(line) for line in lines)
        self.count -= len(lines)

    def _read_on(self) -> None:
        chunk = self._source.read(_CHUNK)
        if not chunk:
            self._is_over = True
            self._keep([self._rest] if self._rest or self._skipped else [])
            return
        *whole, self._rest = self._split(self._rest + chunk)
        self._keep(line + self._end for line in whole)
        if len(self._rest) > MAX_ROW_BYTES or self._skipped:
            # The bytes that could be the half of an end stay.
            dropped = max(0, (len(self._rest) // len(self._end) - 1) * len(self._end))
            self._skipped += dropped
            self._rest = self._rest[dropped:]

    def _keep(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            length = len(line) + self._skipped
            self._skipped = 0
            self._ready.append(line if length <= MAX_ROW_BYTES else length)

    def _split(self, data: bytes) -> list[bytes]:
        """The data between ends; an end that lies across two characters of two bytes is none."""
        if len(self._end) == 1:
            return data.split(self._end)
        parts: list[bytes] = []
        begin = looked = 0
        while (found := data.find(self._end, looked)) >= 0:
            if (found - begin) % len(self._end) == 0:
                parts.append(data[begin:found])
                begin = looked = found + len(self._end)
            else:
                looked = found + 1
        return [*parts, data[begin:]]
