"""A limit on the bytes per second of several connections together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BURST_S = 0.1  # seconds of the rate that may be read at once


class ByteRate:
    """Counts the bytes of connections; each waits after its read, until the bytes of all of them are paid for."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_second
        self._clock = clock
        self._paid_until = clock()

    def take(self, size: int) -> float:
        """Count received bytes; returns the seconds until this connection may be read again."""
        now = self._clock()
        self._paid_until = max(self._paid_until, now - _BURST_S) + size / self.per_second
        return max(0.0, self._paid_until - now)
