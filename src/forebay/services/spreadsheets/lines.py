"""Reads lines of an untrusted file, with a maximum length."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import IO, TypeAlias

from forebay.services.spreadsheets.rows import MAX_ROW_BYTES, Cursor

CHUNK = 1 << 18

Line: TypeAlias = bytes | int  # with its end; an integer is the length of a line that is too long


class LineReader:
    """The lines from a position on, one by one or many at a time. Lines can be put back."""

    def __init__(self, source: IO[bytes], start: Cursor, end: bytes, chunk: int = CHUNK) -> None:
        source.seek(start.offset)
        self._source = source
        self._end = end
        self._size = chunk
        self._ready: deque[Line] = deque()
        self._rest = b""
        self._skipped = 0  # bytes of a too long line so far
        self._is_over = False
        self.offset = start.offset
        self.count = start.line

    @property
    def are_split(self) -> bool:
        """Whether there are lines that must be taken one by one."""
        return bool(self._ready)

    def take(self) -> Line | None:
        """The next line; None at the end."""
        while not self._ready:
            if self._is_over and not self._rest:
                return None
            self._read_on()
        line = self._ready.popleft()
        self.offset += line if isinstance(line, int) else len(line)
        self.count += 1
        return line

    def put_back(self, lines: list[Line]) -> None:
        """Put back the lines that were taken last."""
        self._ready.extendleft(reversed(lines))
        self.offset -= sum(line if isinstance(line, int) else len(line) for line in lines)
        self.count -= len(lines)

    def take_many(self) -> bytes:
        """The complete lines in the buffer, as one block; empty when a line is longer, or at the end."""
        if self._skipped:
            return b""
        self._rest += self._chunk()
        whole = len(self._rest) if self._is_over else self._last_end()
        block, self._rest = self._rest[:whole], self._rest[whole:]
        self.offset += len(block)
        return block

    def put_back_many(self, block: bytes, *, split: bool) -> None:
        """Put back the end of the last block; as single lines, if it is to be split."""
        self.offset -= len(block)
        if split:
            self._ready.extend(self.parts(block))
        else:
            self._rest = block + self._rest

    def parts(self, block: bytes) -> list[bytes]:
        """The lines of a block, with their ends."""
        *whole, rest = self._split(block)
        return [line + self._end for line in whole] + ([rest] if rest else [])

    def _read_on(self) -> None:
        chunk = self._chunk()
        if self._is_over:
            last, self._rest = self._rest, b""
            self._keep([last] if last or self._skipped else [])
            return
        *whole, self._rest = self._split(self._rest + chunk)
        self._keep(line + self._end for line in whole)
        if len(self._rest) > MAX_ROW_BYTES or self._skipped:
            # Keep the bytes that may be half of a line end.
            dropped = max(0, (len(self._rest) // len(self._end) - 1) * len(self._end))
            self._skipped += dropped
            self._rest = self._rest[dropped:]

    def _chunk(self) -> bytes:
        chunk = b"" if self._is_over else self._source.read(self._size)
        self._is_over = not chunk
        return chunk

    def _keep(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            length = len(line) + self._skipped
            self._skipped = 0
            self._ready.append(line if length <= MAX_ROW_BYTES else length)

    def _last_end(self) -> int:
        """The end of the last complete line in the buffer."""
        found = len(self._rest)
        while (found := self._rest.rfind(self._end, 0, found + len(self._end) - 1)) >= 0:
            if found % len(self._end) == 0:
                return found + len(self._end)
        return 0

    def _split(self, data: bytes) -> list[bytes]:
        """Split at line ends; a match that is not aligned to two-byte characters is not a line end."""
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
