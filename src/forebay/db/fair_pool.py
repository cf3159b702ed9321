"""A pool that several owners share: while all of its connections are in use, owners get the next ones in turn.

One owner's steps may want a hundred connections at once; the statement of another owner then waits for one of them, not
for a hundred. The process that has the pool comes first: it claims and settles for all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from forebay.db.measured_pool import MeasuredPool, opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from asyncpg.pool import PoolConnectionProxy

_NOBODY = 0

acting_for: ContextVar[int] = ContextVar("acting_for", default=_NOBODY)  # the owner whose task runs


def act_for_all() -> None:
    """Let the present task work for all owners, although a task of one of them has started it."""
    acting_for.set(_NOBODY)


class FairPool(MeasuredPool):
    """The connections of one worker."""

    def __init__(self, dsn: str, *, size: int, **terms: Any) -> None:
        super().__init__(dsn, size=size, **terms)
        self._gate = Gate(size)
        self._held: set[PoolConnectionProxy[Any]] = set()

    async def _acquire(self, timeout: float | None) -> PoolConnectionProxy[Any]:
        async with asyncio.timeout(timeout):
            await self._gate.enter(acting_for.get())
        try:
            acquire: Callable[[float | None], Awaitable[PoolConnectionProxy[Any]]] = getattr(super(), "_acquire")  # noqa: B009 - the stubs lack it
            conn = await acquire(timeout)
        except BaseException:
            self._gate.leave()
            raise
        self._held.add(conn)
        return conn

    async def release(self, connection: PoolConnectionProxy[Any], *, timeout: float | None = None) -> None:
        try:
            await super().release(connection, timeout=timeout)
        finally:
            if connection in self._held:  # otherwise it was released before
                self._held.remove(connection)
                self._gate.leave()


class Gate:
    """Lets `size` enter at a time."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._lines: dict[int, deque[asyncio.Future[None]]] = {}  # by owner, the next owner first

    async def enter(self, owner_id: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(owner_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the same moment
                self.leave()
            raise

    def leave(self) -> None:
        """Let the next one in."""
        while self._lines:
            owner_id = _NOBODY if _NOBODY in self._lines else next(iter(self._lines))
            line = self._lines.pop(owner_id)
            while line and line[0].done():  # nobody waits for it any more
                line.popleft()
            if not line:
                continue
            line.popleft().set_result(None)
            if line:
                self._lines[owner_id] = line
            return
        self._free += 1


async def open_fair_pool(dsn: str, **terms: Any) -> FairPool:
    """Raises: DatabaseUnavailable with the reason and what to check."""
    return await opened(lambda: FairPool(dsn, **terms))
