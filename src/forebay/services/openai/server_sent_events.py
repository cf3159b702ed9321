"""Parses server-sent events from a stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)  # a CR at the end of a chunk may be half of a CRLF
_MAX_BYTES = 4 << 20  # bytes of an event


class EventReader:
    """Reads the `data` of events; `event`, `id`, `retry` and comments are ignored."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that end in this chunk.

        Raises: DataError when an event is too large.
        """
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            if line:
                self._add(line)
            elif self._data:
                yield b"\n".join(self._data)
                self._data, self._size = [], 0
        if self._size + len(self._rest) > _MAX_BYTES:
            raise DataError(f"{self._name} sent an event of more than {_MAX_BYTES} bytes")

    def _add(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
