"""Slots for long writes, so few that reads always get a connection."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class WriteSlots:
    """At most half of the connections, and half of these for one owner. Waiting requests hold no connection."""

    def __init__(self, connections: int, max_wait_s: float) -> None:
        self._most = max(1, connections // 2)
        self._each = max(1, self._most // 2)
        self._max_wait_s = max_wait_s
        self._all = asyncio.Semaphore(self._most)
        self._owners: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, owner_id: int) -> AsyncGenerator[None]:
        """Raises: Problem 429 when no slot is free soon."""
        own = self._owners.setdefault(owner_id, asyncio.Semaphore(self._each))
        async with (
            self._passed(own, f"{self._each} uploads of yours are being saved: send this one later"),
            self._passed(self._all, f"{self._most} uploads are being saved here: send this one later"),
        ):
            yield

    @asynccontextmanager
    async def _passed(self, gate: asyncio.Semaphore, otherwise: str) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(self._max_wait_s):
                await gate.acquire()
        except TimeoutError:
            raise Problem(429, otherwise, headers={"Retry-After": "5"}) from None
        try:
            yield
        finally:
            gate.release()
