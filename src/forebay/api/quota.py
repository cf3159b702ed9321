"""Limits on an owner's open jobs, open items and submits per minute. Counted once a second, not per request."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.identity import owners

if TYPE_CHECKING:
    from forebay.db.role_pool import RolePool
    from forebay.identity.owners import QuotaUsage
    from forebay.settings import Settings

_FRESH = 1.0
_LATER = {"Retry-After": "30"}
_MOST_REMEMBERED = 10_000


@dataclass(slots=True)
class Quota:
    """One owner's limits and usage, as known to this process."""

    settings: Settings
    usage: QuotaUsage | None = None
    counted_at: float = 0.0
    next_at: float = 0.0  # when the next submit is allowed: each submit moves it on by its share of a minute
    counting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def is_fresh(self) -> bool:
        return self.usage is not None and time.monotonic() - self.counted_at <= _FRESH

    def admit(self, items: int = 1) -> None:
        """Admit a submit.

        Raises: Problem 429 with the limit that is reached, and when to try again.
        """
        usage = self._known()
        self._check_jobs(usage)
        self._check_items(usage, items)
        self._check_rate(usage)
        self.usage = replace(usage, open_jobs=usage.open_jobs + 1, open_items=usage.open_items + items)

    def admit_more(self, items: int) -> None:
        """Admit more items of the same submit.

        Raises: Problem 429.
        """
        usage = self._known()
        self._check_items(usage, items)
        self.usage = replace(usage, open_items=usage.open_items + items)

    def _known(self) -> QuotaUsage:
        assert self.usage is not None  # noqa: S101 - set before the quota is returned
        return self.usage

    def _check_jobs(self, usage: QuotaUsage) -> None:
        most = self.settings.max_open_jobs if usage.max_open_jobs is None else usage.max_open_jobs
        if usage.open_jobs >= most:
            raise Problem(429, f"{usage.open_jobs} jobs are open already; {most} are allowed", headers=_LATER)

    def _check_items(self, usage: QuotaUsage, items: int) -> None:
        most = self.settings.max_open_items if usage.max_open_items is None else usage.max_open_items
        if usage.open_items + items > most:
            detail = f"{usage.open_items + items} items would be open; {most} are allowed"
            raise Problem(429, detail, headers=_LATER)

    def _check_rate(self, usage: QuotaUsage) -> None:
        """A burst may have a tenth of a minute's submits."""
        rate = self.settings.submits_per_minute if usage.submits_per_minute is None else usage.submits_per_minute
        now = time.monotonic()
        if rate <= 0:
            raise Problem(429, "no submits are allowed", headers={"Retry-After": "3600"})
        ahead = max(self.next_at, now) - now
        if ahead > 6.0:
            wait = max(1, round(ahead - 6.0))
            raise Problem(429, f"more than {rate} submits a minute", headers={"Retry-After": str(wait)})
        self.next_at = max(self.next_at, now) + 60.0 / rate


class Quotas:
    """The quotas of all owners, as known to this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._quotas: dict[int, Quota] = {}

    async def of(self, pool: RolePool, owner_id: int) -> Quota:
        """The quota of an owner. Call it before acquiring a connection, since counting needs one."""
        quota = self._quotas.get(owner_id) or self._remembered(owner_id)
        if not quota.is_fresh():
            async with quota.counting:  # concurrent callers share one count
                if not quota.is_fresh():
                    quota.usage = await owners.usage_for(pool, owner_id)
                    quota.counted_at = time.monotonic()
        return quota

    def _remembered(self, owner_id: int) -> Quota:
        while len(self._quotas) >= _MOST_REMEMBERED:
            del self._quotas[next(iter(self._quotas))]
        quota = self._quotas[owner_id] = Quota(self._settings)
        return quota
