"""How far back a look has to go: rows carry the time of their change, and are seen when its transaction commits."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.engine.db.changes import TransactionWindow

_LONGEST = timedelta(hours=1)  # who keeps a transaction open for longer is heard of in lists only


class Lookback:
    """Remembers when which transactions were under way. Once all that were so at some time have ended, whatever was
    changed by then is committed; who looks once more, back to `seen_to`, has seen it all."""

    def __init__(self, now: datetime, slack: timedelta, at_first: timedelta) -> None:
        self.seen_to = now - at_first  # as old as a transaction may be that was there before we were
        self._slack = slack  # between the time that a row is given and its transaction's first write
        self._past: deque[TransactionWindow] = deque()
        self._reached = self.seen_to

    def reached(self, now: TransactionWindow) -> datetime:
        """All that was changed before this time has been committed by `now`, or never will be."""
        self._past.append(now)
        while self._past and self._past[0].coming <= now.oldest:
            self._reached = max(self._reached, self._past.popleft().at - self._slack)
        self._reached = max(self._reached, now.at - _LONGEST)
        return self._reached
