"""The findings of `forebay doctor`, for the API: they take seconds, so callers share them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from forebay.hooks import Finding

Examine: TypeAlias = Callable[[], Awaitable[Sequence[Finding]]]

_FRESH = 60.0


class Doctor:
    """Examines the installation at most once a minute."""

    def __init__(self, examine: Examine) -> None:
        self._examine = examine
        self._lock = asyncio.Lock()
        self._found: tuple[Sequence[Finding], datetime] | None = None
        self._found_at = 0.0

    async def findings(self) -> tuple[Sequence[Finding], datetime]:
        """The findings, and when they were made."""
        async with self._lock:
            if self._found is None or time.monotonic() - self._found_at > _FRESH:
                self._found = (await self._examine(), datetime.now(UTC))
                self._found_at = time.monotonic()
            return self._found
