"""Passes wake-ups on to the other workers, for tasks that this one has no room for.

What is passed on about one lane at the same time becomes one message: it goes on for as long as something is ready.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.db.pool import REJECTED, UNAVAILABLE
from forebay.engine.db import tasks
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from typing import NoReturn

    from forebay.db.pool import Pool

log = get_logger("claimer")

_PAUSE = 0.02  # seconds between two statements; what comes meanwhile is sent together


class PassingOn:
    """The wake-ups that are to be sent again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: dict[tuple[int, int], tuple[int, int]] = {}  # by step and lane: the first number and round
        self._news = asyncio.Event()

    def add(self, step_id: int, lane_id: int, seq: int, round_no: int) -> None:
        first, lowest = self._waiting.get((step_id, lane_id), (seq, round_no))
        self._waiting[step_id, lane_id] = min(seq, first), min(round_no, lowest)
        self._news.set()

    async def run(self) -> NoReturn:
        """Send forever. What cannot be sent is found by the next polls."""
        while True:
            await self._news.wait()
            self._news.clear()
            waiting, self._waiting = self._waiting, {}
            try:
                await tasks.pass_on(self._pool, [(*lane, *place) for lane, place in waiting.items()])
            except REJECTED + UNAVAILABLE as error:
                log.warning("wake_ups_not_passed_on", count=len(waiting), error=one_line(error))
            await asyncio.sleep(_PAUSE)
