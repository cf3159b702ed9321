"""Which steps of which lanes need no wake-ups from submitters, because this worker is processing their backlog."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forebay.engine.db import tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock

_FRESH = 2.0  # seconds; a backlog from which nothing has been claimed for longer is not being processed
MARKED_FOR = 10.0  # seconds; a mark that its worker does not renew ends by itself


class BusyLanes:
    """The (step, lane) pairs whose last claim was full, and which of them are marked in the database."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        request_poll: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool, self._clock, self._request_poll, self._monotonic = pool, clock, request_poll, monotonic
        self._busy: dict[tuple[int, int], float] = {}  # monotonic time of the last claim
        self._marked: dict[tuple[int, int], float] = {}  # monotonic time of the mark

    def note(self, step_id: int, lane_id: int, *, is_full: bool) -> None:
        """Record whether a claim returned as much as requested. Another step of the lane has its own mark."""
        pair = (step_id, lane_id)
        if is_full:
            self._busy[pair] = self._monotonic()
            return
        self._busy.pop(pair, None)
        if pair in self._marked:
            self._request_poll()  # submits may have sent no wake-up

    async def write(self) -> None:
        """Mark the pairs that are busy, renew old marks, and remove those of pairs that are not busy any more: while
        the slots of this worker are full of long tasks, others may have room for what is submitted."""
        now = self._monotonic()
        self._busy = {pair: at for pair, at in self._busy.items() if at > now - _FRESH}
        if idle := [pair for pair in self._marked if pair not in self._busy]:
            await self._mark(idle, 0)
            for pair in idle:
                del self._marked[pair]
            self._request_poll()
        old = now - MARKED_FOR / 2
        if due := [pair for pair in self._busy if self._marked.get(pair, old) <= old]:
            await self._mark(due, MARKED_FOR)
            self._marked |= dict.fromkeys(due, now)

    async def _mark(self, pairs: list[tuple[int, int]], seconds: float) -> None:
        await tasks.mark_busy_lanes(self._pool, sorted(pairs), seconds, self._clock.stamp())
