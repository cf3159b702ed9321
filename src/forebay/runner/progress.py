"""Progress of a function in a separate process. Standard library only."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, cast

from forebay.runner.frames import PROGRESS

if TYPE_CHECKING:
    from forebay.runner.frames import Channel

_GAP = 0.01  # seconds; the pool throttles as well, this only prevents a tight loop from flooding it
_LONGEST_NOTE = 1000


class Reporter:
    """Sends progress to the pool: every new note, and fractions at a limited rate."""

    def __init__(self, link: Channel) -> None:
        self._link = link
        self._sent, self._note = 0.0, ""

    def report(self, fraction: float | None, note: str | None, done: int | None, total: int | None) -> None:
        now, text = time.monotonic(), str(note or "")
        if text == self._note and now - self._sent < _GAP:
            return
        self._sent, self._note = now, text
        fields: list[object] = [
            None if fraction is None else float(fraction),
            None if note is None else text[:_LONGEST_NOTE],
        ]
        fields += [None if size is None else int(size) for size in (done, total)]
        self._link.send(PROGRESS, json.dumps(fields).encode())


_reporter: Reporter | None = None


def connect(link: Channel) -> None:
    """In a child: set the connection for `report`."""
    global _reporter  # noqa: PLW0603 - one pool per process
    _reporter = Reporter(link)


def report(
    fraction: float | None = None,
    note: str | None = None,
    *,
    bytes_done: int | None = None,
    bytes_total: int | None = None,
) -> None:
    """Report the progress of this function to the worker; has no effect if the function is called directly."""
    if _reporter is not None:
        _reporter.report(fraction, note, bytes_done, bytes_total)


def read(body: bytes) -> tuple[float | None, str | None, int | None, int | None]:
    """In the worker: parse a progress frame.

    Raises: ValueError or TypeError if it is invalid.
    """
    fraction, note, done, total = cast("tuple[Any, Any, Any, Any]", json.loads(body))
    numbers = isinstance(fraction, float | int | None) and all(isinstance(size, int | None) for size in (done, total))
    if not numbers or not isinstance(note, str | None):
        raise ValueError("fraction and sizes must be numbers, and note must be text")
    return fraction, note, done, total
