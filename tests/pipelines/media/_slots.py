"""The slots of inspections, held by a test."""

from __future__ import annotations

import asyncio
from typing import Literal


class InspectionSlots(asyncio.Semaphore):
    """One slot. Tells when it is asked for, and lets nobody have it before `free`."""

    def __init__(self) -> None:
        super().__init__(1)
        self.taken, self.waiting, self.free = 0, asyncio.Event(), asyncio.Event()

    async def acquire(self) -> Literal[True]:
        self.waiting.set()
        await self.free.wait()
        self.taken += 1
        return await super().acquire()
