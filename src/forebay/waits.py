"""Waiting: pauses that grow while a failure lasts, and a wait that ends early when an event comes."""

from __future__ import annotations

import asyncio


class Backoff:
    """Pauses that double from `first` up to `most` while a failure lasts, and start again after a success."""

    def __init__(self, first: float, most: float) -> None:
        self.first, self.most = first, most
        self.pause = 0.0

    def grow(self) -> float:
        """The next pause in seconds."""
        self.pause = min(self.most, self.pause * 2 or self.first)
        return self.pause

    def reset(self) -> None:
        self.pause = 0.0


async def wait_for(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, at most `timeout` seconds; whether it came."""
    try:
        async with asyncio.timeout(timeout):
            await event.wait()
    except TimeoutError:
        return False
    return True
