"""Messages that are larger than what the server takes: divided into parts, and joined again."""

from __future__ import annotations

import itertools
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.fleet.wire import LONGEST
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

log = get_logger("broker")

_HEADER = "Forebay-Part"
_FORM = re.compile(r"([0-9a-zA-Z-]{1,64}) ([0-9]{1,6}) ([0-9]{1,6})")  # name, place, number of parts
_KEEP_S = 60.0  # that parts wait for the others
_KEEP = 10_000  # messages that are not complete
_KEEP_BYTES = 4 * LONGEST  # of all of them


@dataclass(slots=True)
class _Message:
    """A message of which parts are missing."""

    since: float
    count: int
    parts: dict[int, bytes] = field(default_factory=dict[int, bytes])
    size: int = 0  # bytes

    def add(self, place: int, data: bytes) -> None:
        self.size += len(data) - len(self.parts.get(place, b""))
        self.parts[place] = data


class Parts:
    """Divides messages, and joins those that others have divided."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._id = secrets.token_hex(8)
        self._numbers = itertools.count()
        self._open: dict[str, _Message] = {}  # by name, the oldest first

    def divide(self, data: bytes) -> Iterator[tuple[bytes, dict[str, str] | None]]:
        """The parts with their headers."""
        if len(data) <= self._size:
            yield data, None
            return
        name, count = f"{self._id}-{next(self._numbers)}", -(-len(data) // self._size)
        for place in range(count):
            yield data[place * self._size : (place + 1) * self._size], {_HEADER: f"{name} {place} {count}"}

    def join(self, data: bytes, headers: Mapping[str, str] | None) -> bytes | None:
        """The message; None while parts are missing, and for what is no part of a message."""
        header = (headers or {}).get(_HEADER)
        if header is None:
            return data
        form = _FORM.fullmatch(header)
        if form is None:
            log.warning("part_dropped", reason="the header is malformed")
            return None
        return self._add(form[1], int(form[2]), int(form[3]), data)

    def _add(self, name: str, place: int, count: int, data: bytes) -> bytes | None:
        self._forget_old()
        message = self._open.setdefault(name, _Message(time.monotonic(), count))
        if place >= count or count != message.count or message.size + len(data) > LONGEST:
            del self._open[name]
            log.warning("part_dropped", reason="it does not belong to its message")
            return None
        message.add(place, data)
        if len(message.parts) < count:
            return None
        del self._open[name]
        return b"".join(message.parts[number] for number in range(count))

    def _forget_old(self) -> None:
        """Forget messages that wait for too long, and the oldest ones of too many."""
        before, size = time.monotonic() - _KEEP_S, sum(message.size for message in self._open.values())
        for name, message in list(self._open.items()):
            if message.since > before and size <= _KEEP_BYTES and len(self._open) < _KEEP:
                return
            size -= message.size
            del self._open[name]
