"""How much an owner may have open, and how fast it may come in. Counted anew once a second, not with every request."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.db import owners

if TYPE_CHECKING:
    from forebay.db.owners import Usage
    from forebay.db.pool import Connection, Pool
    from forebay.settings import Settings

_FRESH = 1.0
_LATER = {"Retry-After": "30"}
_MOST_REMEMBERED = 10_000


@dataclass(slots=True)
class _Known:
    usage: Usage
    at: float
    next_at: float = 0.0  # when the next submit may come: each moves it on by its share of a minute


class Allowance:
    """The limits of all owners, as this process sees them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[int, _Known] = {}

    async def admit(self, conn: Connection | Pool, owner_id: int, items: int = 1) -> None:
        """Lets a submit in.

        Raises: Problem 429 with what is too much, and when to come again.
        """
        known = await self._look(conn, owner_id)
        self._check_jobs(known.usage)
        self._check_items(known.usage, items)
        self._check_rate(known)
        known.usage = replace(
            known.usage, open_jobs=known.usage.open_jobs + 1, open_items=known.usage.open_items + items
        )

    async def admit_more(self, conn: Connection, owner_id: int, items: int) -> None:
        """Lets more items of the same submit in.

        Raises: Problem 429.
        """
        known = await self._look(conn, owner_id)
        self._check_items(known.usage, items)
        known.usage = replace(known.usage, open_items=known.usage.open_items + items)

    async def _look(self, conn: Connection | Pool, owner_id: int) -> _Known:
        now = time.monotonic()
        known = self._known.get(owner_id)
        if known is None or now - known.at > _FRESH:
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
            next_at = known.next_at if known else 0.0
            known = self._known[owner_id] = _Known(await owners.usage(conn, owner_id), now, next_at)
        return known

    def _check_jobs(self, usage: Usage) -> None:
        most = self._settings.max_open_jobs if usage.max_open_jobs is None else usage.max_open_jobs
        if usage.open_jobs >= most:
            raise Problem(429, f"there are {usage.open_jobs} open jobs already; {most} are allowed", headers=_LATER)

    def _check_items(self, usage: Usage, items: int) -> None:
        most = self._settings.max_open_items if usage.max_open_items is None else usage.max_open_items
        if usage.open_items + items > most:
            detail = f"with these there would be {usage.open_items + items} open items; {most} are allowed"
            raise Problem(429, detail, headers=_LATER)

    def _check_rate(self, known: _Known) -> None:
        """A tenth of a minute's worth may come at once."""
        rate = self._settings.submits_per_minute
        if known.usage.submits_per_minute is not None:
            rate = known.usage.submits_per_minute
        now = time.monotonic()
        if rate <= 0:
            raise Problem(429, "no submits are allowed", headers={"Retry-After": "3600"})
        ahead = max(known.next_at, now) - now
        if ahead > 6.0:
            wait = max(1, round(ahead - 6.0))
            raise Problem(429, f"more than {rate} submits a minute", headers={"Retry-After": str(wait)})
        known.next_at = max(known.next_at, now) + 60.0 / rate
