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
        *,
        on_unmarked: Callable[[int, int], None] = lambda _step, _lane: None,
    ) -> None:
        """`on_unmarked`: the mark of a step and lane has been removed."""
        self._pool, self._clock, self._request_poll, self._monotonic = pool, clock, request_poll, monotonic
        self._on_unmarked = on_unmarked
        self._busy: dict[tuple[int, int], float] = {}  # monotonic time of the last claim
        self._marked: dict[tuple[int, int], float] = {}  # monotonic time of the mark
        self._all_full: dict[tuple[int, int], float] = {}  # monotonic time at which no worker had room
        self._to_mark: set[tuple[int, int]] = set()
        self._to_unmark: set[tuple[int, int]] = set()  # others have marked them

    def note(self, step_id: int, lane_id: int, *, is_full: bool, is_long: bool = False) -> None:
        """Record whether a claim returned as much as requested. Another step of the lane has its own mark. Of tasks
        that take long (`is_long`), none are claimed ahead: a full claim may be one task, and others may be idle."""
        pair = (step_id, lane_id)
        if is_full:
            if not is_long or pair in self._marked:
                self._busy[pair] = self._monotonic()
            return
        self._busy.pop(pair, None)
        if pair in self._marked:
            self._request_poll()  # submits may have sent no wake-up
        elif self._all_full.pop(pair, -MARKED_FOR) > self._monotonic() - MARKED_FOR:
            self._to_mark.discard(pair)
            self._to_unmark.add(pair)
            self._request_poll()

    def note_all_full(self, step_id: int, lane_id: int, marks: bool) -> None:
        """Record that no worker had room for a task of this lane. One of them marks it: until a worker finds the lane
        empty, each claims from it when a slot is free."""
        self._all_full[step_id, lane_id] = self._monotonic()
        if marks:
            self._to_mark.add((step_id, lane_id))

    async def write(self) -> None:
        """Mark the pairs that are busy, renew old marks, and remove those of pairs that are not busy any more: while
        the slots of this worker are full of long tasks, others may have room for what is submitted."""
        now = self._monotonic()
        self._busy = {pair: at for pair, at in self._busy.items() if at > now - _FRESH}
        await self._unmark([pair for pair in self._marked if pair not in self._busy])
        await self._write_all_full(now)
        old = now - MARKED_FOR / 2
        if due := [pair for pair in self._busy if self._marked.get(pair, old) <= old]:
            await self._mark(due, MARKED_FOR)
            self._marked |= dict.fromkeys(due, now)

    async def _unmark(self, idle: list[tuple[int, int]]) -> None:
        if not idle:
            return
        await self._mark(idle, 0)
        for pair in idle:
            del self._marked[pair]
            self._on_unmarked(*pair)
        self._request_poll()

    async def _write_all_full(self, now: float) -> None:
        """These marks end by themselves."""
        self._all_full = {pair: at for pair, at in self._all_full.items() if at > now - MARKED_FOR}
        if due := [*self._to_mark]:
            await self._mark(due, MARKED_FOR)
            self._to_mark.difference_update(due)
        if ended := [*self._to_unmark]:
            await self._mark(ended, 0)
            self._to_unmark.difference_update(ended)
            self._request_poll()

    async def _mark(self, pairs: list[tuple[int, int]], seconds: float) -> None:
        await tasks.mark_busy_lanes(self._pool, sorted(pairs), seconds, self._clock.stamp())
