"""Time that a host may take in all, over several waits for it."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class TimeBudgetSpent(TimeoutError):
    """The host has taken all of its time."""


class TimeBudget:
    """Counts the time within its blocks. What happens between them, such as a slow reader, costs nothing."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self._left = seconds

    @asynccontextmanager
    async def spend(self) -> AsyncGenerator[None]:
        """Raises: TimeBudgetSpent."""
        began = time.monotonic()
        limit = asyncio.timeout(self._left)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise TimeBudgetSpent from None
        finally:
            self._left -= time.monotonic() - began
