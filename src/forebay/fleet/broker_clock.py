"""How long messages have been in the broker, by its own clock: those of the other hosts may differ."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from forebay.fleet.port import BrokerUnavailable
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = get_logger("broker")

_VALID_S = 30.0  # after which the clock is read again


class BrokerClock:
    """The clock of the broker, which is read from time to time."""

    def __init__(self, read: Callable[[], Awaitable[float]]) -> None:
        """`read`: the time of the broker in epoch seconds. Raises: BrokerUnavailable."""
        self._read = read
        self._ahead: float | None = None  # of the monotonic clock of this host
        self._read_at = float("-inf")

    async def now(self) -> float | None:
        """The time of the broker, never later than it is; None if it cannot be read."""
        if monotonic() - self._read_at >= _VALID_S:
            await self._read_again()
        return None if self._ahead is None else monotonic() + self._ahead

    async def age(self, at: float) -> float:
        """For how many seconds a message has been in the broker, at least."""
        now = await self.now()
        return 0.0 if now is None else max(0.0, now - at)

    async def _read_again(self) -> None:
        try:
            self._ahead = await self._read() - monotonic()
        except BrokerUnavailable as error:
            log.info("broker_clock_not_read", error=str(error))
            self._ahead = None
        self._read_at = monotonic()
