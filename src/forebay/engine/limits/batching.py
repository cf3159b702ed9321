"""Batches the requests of limiters to the database."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from forebay.engine.limits.limiters import RateLimiter, SlotLimiter
from forebay.owner_turns import act_for_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_BATCH = 500  # keys in one call

L = TypeVar("L", RateLimiter, SlotLimiter)


class RequestBatcher(Generic[L]):
    """Batches requests to the database: one call at a time, for all limiters that made a request during the last
    one."""

    def __init__(self, ask: Callable[[list[L]], Awaitable[None]]) -> None:
        self.calls = 0
        self._ask: Callable[[list[L]], Awaitable[None]] = ask
        self._queue: deque[L] = deque()
        self._task: asyncio.Task[None] | None = None

    def queue(self, limiter: L) -> None:
        if limiter.asking:
            return
        limiter.asking = True
        self._queue.append(limiter)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="limits")

    async def wait_until_idle(self) -> None:
        """Wait until no request is pending."""
        while self._task is not None:
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        act_for_all()
        try:
            while self._queue:
                limiters = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                self.calls += 1
                await self._ask(limiters)
                for limiter in limiters:
                    limiter.asking = False
                    if limiter.waiters:
                        self.queue(limiter)
        finally:
            self._task = None
