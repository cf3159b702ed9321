"""Owners take turns where their tasks wait for something that all tasks of a worker share.

One owner's tasks may wait a hundred at a time; the task of another owner then waits for one of them, not for a hundred.
"""

from __future__ import annotations

from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

NOBODY = 0

acting_for: ContextVar[int] = ContextVar("acting_for", default=NOBODY)  # the owner whose task runs


def act_for_all() -> None:
    """Let the present task work for all owners, although a task of one of them has started it."""
    acting_for.set(NOBODY)


class WaitingLines:
    """Those who wait: owners go round, and the tasks of each are in order. What a worker does for all comes first."""

    def __init__(self) -> None:
        self._lines: dict[int, deque[asyncio.Future[None]]] = {}  # by owner, the next owner first

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def add(self, turn: asyncio.Future[None], owner_id: int) -> None:
        self._lines.setdefault(owner_id, deque()).append(turn)

    def owners(self) -> Iterable[int]:
        return self._lines

    def take(self, may: Callable[[int], bool] = lambda _: True) -> tuple[int, asyncio.Future[None]] | None:
        """The next one of an owner who `may`, and the owner; None if there is none."""
        for owner_id in (NOBODY, *self._lines):
            line = self._lines.get(owner_id, deque())
            while line and line[0].done():  # nobody waits for it any more
                line.popleft()
            if not line:
                self._lines.pop(owner_id, None)
            elif may(owner_id):
                turn = line.popleft()
                del self._lines[owner_id]
                if line:
                    self._lines[owner_id] = line  # behind the others
                return owner_id, turn
        return None

    def discard(self, turn: asyncio.Future[None]) -> None:
        """Stop waiting."""
        for owner_id, line in self._lines.items():
            if turn in line:
                line.remove(turn)
                if not line:
                    del self._lines[owner_id]
                return
