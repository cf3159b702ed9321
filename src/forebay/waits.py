"""Waiting: pauses that grow while a failure lasts, waits with an early end, and threads."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


class Backoff:
    """Pauses that double from `first` up to `most` while a failure lasts, and restart after a success."""

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
    """Wait for an event, at most `timeout` seconds; return whether it was set."""
    try:
        async with asyncio.timeout(timeout):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def finish_in_thread(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a call in a thread, and wait for its end even if this is cancelled repeatedly.

    The call uses descriptors that the caller closes afterwards: a closed number may refer to another file.
    """
    running = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    finally:
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
