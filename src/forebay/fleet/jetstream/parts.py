"""Messages that are larger than what the server takes: divided into parts, and joined again."""

from __future__ import annotations

import itertools
import secrets
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = "Forebay-Part"
_KEEP_S = 60.0  # that parts wait for the others


class Parts:
    """Divides messages, and joins those that others have divided."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._id = secrets.token_hex(8)
        self._numbers = itertools.count()
        self._open: dict[str, tuple[float, dict[int, bytes]]] = {}

    def divide(self, data: bytes) -> Iterator[tuple[bytes, dict[str, str] | None]]:
        """The parts with their headers."""
        if len(data) <= self._size:
            yield data, None
            return
        name, count = f"{self._id}-{next(self._numbers)}", -(-len(data) // self._size)
        for place in range(count):
            yield data[place * self._size : (place + 1) * self._size], {_HEADER: f"{name} {place} {count}"}

    def join(self, data: bytes, headers: Mapping[str, str] | None) -> bytes | None:
        """The message; None while parts are missing."""
        header = (headers or {}).get(_HEADER)
        if header is None:
            return data
        name, place, count = header.split()
        now = time.monotonic()
        self._open = {each: parts for each, parts in self._open.items() if parts[0] > now - _KEEP_S}
        _, parts = self._open.setdefault(name, (now, {}))
        parts[int(place)] = data
        if len(parts) < int(count):
            return None
        del self._open[name]
        return b"".join(parts[number] for number in range(int(count)))
