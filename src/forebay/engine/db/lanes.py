"""What waits and runs in each lane, and how the owners share the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forebay.db.pool import Connection
    from forebay.engine.db.overview import WorkerRow


@dataclass(frozen=True, slots=True)
class LaneRow:
    """A lane; `job_id` is 0 for a lane that an owner's small jobs share. `limit_name` and `limit_key` are empty unless
    it is the lane of one key of a limit."""

    owner: str
    job_id: int
    priority: int
    weight: float
    paused: bool
    ready: int
    running: int
    limit_name: str
    limit_key: str
    owner_id: int


@dataclass(frozen=True, slots=True)
class OwnerWork:
    """An owner with tasks that may run, and its share of the workers by weight among `owners` such owners."""

    id: int
    owner: str
    weight: float
    ready: int
    running: int
    fair_share: float
    owners: int


@dataclass(frozen=True, slots=True)
class AttemptRates:
    """Attempts per second that the workers settled in the last seconds, by owner; each worker names its busiest."""

    by_owner: dict[int, float]
    total: float

    def share(self, owner_id: int) -> float | None:
        """The owner's part of all attempts; None if nothing was settled."""
        return self.by_owner.get(owner_id, 0.0) / self.total if self.total > 0 else None


async def lanes(conn: Connection, most: int) -> list[LaneRow]:
    """The lanes with the most work."""
    return [LaneRow(*row.values()) for row in await fetch(conn, load("show_lanes"), most)]


async def owner_work(conn: Connection, most: int) -> list[OwnerWork]:
    """The owners with the most work."""
    return [OwnerWork(*row.values()) for row in await fetch(conn, load("show_owner_work"), most)]


def attempt_rates(workers: Iterable[WorkerRow]) -> AttemptRates:
    """What the running workers reported; workers of the release before report nothing."""
    by_owner: dict[int, float] = {}
    total = 0.0
    for worker in workers:
        told = worker.recent.get("attempts_per_s") if worker.alive else None
        if told is not None:
            total += told["others"]
            for owner, rate in told["owners"].items():
                by_owner[int(owner)] = by_owner.get(int(owner), 0.0) + rate
                total += rate
    return AttemptRates(by_owner, total)
