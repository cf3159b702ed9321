"""A pool that several owners share: while all of its connections are in use, owners get the next ones in turn.

One owner's steps may want a hundred connections at once; the statement of another owner then waits for one of them, not
for a hundred. While several owners use the pool, each has at most half of it: not only connections are scarce, but also
the processors of the database and the event loop, which statements that run at the same time share. The process that
has the pool comes first: it claims and settles for all.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from forebay.db.measured_pool import MeasuredPool, opened
from forebay.owner_turns import NOBODY, WaitingLines, acting_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from asyncpg.pool import PoolConnectionProxy

_RECENT_S = 1.0  # seconds after its last statement for which an owner uses the pool


class FairPool(MeasuredPool):
    """The connections of one worker."""

    def __init__(self, dsn: str, *, size: int, **terms: Any) -> None:
        super().__init__(dsn, size=size, **terms)
        self._gate = Gate(size)
        self._held: dict[PoolConnectionProxy[Any], int] = {}  # the owners

    async def _acquire(self, timeout: float | None) -> PoolConnectionProxy[Any]:
        owner_id = acting_for.get()
        async with asyncio.timeout(timeout):
            await self._gate.enter(owner_id)
        try:
            acquire: Callable[[float | None], Awaitable[PoolConnectionProxy[Any]]] = getattr(super(), "_acquire")  # noqa: B009 - the stubs lack it
            conn = await acquire(timeout)
        except BaseException:
            self._gate.leave(owner_id)
            raise
        self._held[conn] = owner_id
        return conn

    async def release(self, connection: PoolConnectionProxy[Any], *, timeout: float | None = None) -> None:
        try:
            await super().release(connection, timeout=timeout)
        finally:
            if connection in self._held:  # otherwise it was released before
                self._gate.leave(self._held.pop(connection))


class Gate:
    """Lets `size` enter at a time."""

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = size
        self._share = max(1, size // 2)
        self._clock = clock
        self._waiting = WaitingLines()
        self._inside: Counter[int] = Counter()  # by owner
        self._recent: dict[int, float] = {}  # when each owner came last, the longest ago first

    async def enter(self, owner_id: int) -> None:
        """Enter as the owner for whom this task runs."""
        self._note(owner_id)
        if self._free and self._may_enter(owner_id):
            self._let_in(owner_id)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.add(turn, owner_id)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the same moment
                self.leave(owner_id)
            raise

    def leave(self, owner_id: int) -> None:
        """Let the next ones in: several if an owner may have more than before."""
        self._free += 1
        self._inside[owner_id] -= 1
        if not self._inside[owner_id]:
            del self._inside[owner_id]
        while self._free and (found := self._waiting.take(self._may_enter)) is not None:
            next_owner, turn = found
            self._let_in(next_owner)
            turn.set_result(None)

    def _let_in(self, owner_id: int) -> None:
        self._free -= 1
        self._inside[owner_id] += 1

    def _may_enter(self, owner_id: int) -> bool:
        return owner_id == NOBODY or self._inside[owner_id] < self._share or not self._is_used_by_others(owner_id)

    def _is_used_by_others(self, owner_id: int) -> bool:
        since = self._clock() - _RECENT_S
        while self._recent and (oldest := next(iter(self._recent.items())))[1] < since:
            del self._recent[oldest[0]]
        own = (NOBODY, owner_id)
        return any(each not in own for each in chain(self._recent, self._waiting.owners(), self._inside))

    def _note(self, owner_id: int) -> None:
        if owner_id != NOBODY:
            self._recent.pop(owner_id, None)
            self._recent[owner_id] = self._clock()


async def open_fair_pool(dsn: str, **terms: Any) -> FairPool:
    """Raises: DatabaseUnavailable with the reason and what to check."""
    return await opened(lambda: FairPool(dsn, **terms))
