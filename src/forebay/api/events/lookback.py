"""How far back a poll must read: rows carry the time of their change, but become visible when it commits."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.engine.db.changes import TransactionWindow

_LONGEST = timedelta(hours=1)  # changes of longer transactions appear in lists only, not as events


class Lookback:
    """Remembers which transactions were open when. Once all that were open at a time have ended, every change made
    by then is committed: a poll that reads back to `seen_to` sees all of them."""

    def __init__(self, now: datetime, slack: timedelta, at_first: timedelta) -> None:
        self.seen_to = now - at_first  # transactions that began earlier may still be open
        self._slack = slack  # between a row's time and the first write of its transaction
        self._past: deque[TransactionWindow] = deque()
        self._reached = self.seen_to

    def reached(self, now: TransactionWindow) -> datetime:
        """The time before which every change is committed or rolled back by `now`."""
        self._past.append(now)
        while self._past and self._past[0].coming <= now.oldest:
            self._reached = max(self._reached, self._past.popleft().at - self._slack)
        self._reached = max(self._reached, now.at - _LONGEST)
        return self._reached
