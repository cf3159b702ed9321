"""Samples of the last hour, one a minute: the controllers of each step, and the shares of owners."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class ControllerSample:
    """What the running workers did with a step, summed; the lease time is the longest."""

    minute: datetime | None  # None: to be added now
    pipeline: str
    step: str
    running: int
    concurrency: float
    claim_size: float
    item_ms: float | None
    lease_s: float | None


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """The work of an owner, and what it got of the workers."""

    minute: datetime
    owner: str
    ready: int
    running: int
    attempts_per_s: float
    fair_share: float


async def add_controllers(conn: Connection, now: datetime | None, samples: Sequence[ControllerSample]) -> None:
    """Add the samples of this minute; a minute has one for each step."""
    await execute(
        conn,
        load("add_controller_samples"),
        now,
        [one.pipeline for one in samples],
        [one.step for one in samples],
        [one.running for one in samples],
        [one.concurrency for one in samples],
        [one.claim_size for one in samples],
        [one.item_ms for one in samples],
        [one.lease_s for one in samples],
    )


async def add_owners(
    conn: Connection, now: datetime | None, samples: Sequence[tuple[int, int, int, float, float]]
) -> None:
    """Add the samples of this minute: owner, ready and running tasks, attempts per second, fair share."""
    columns = [list(column) for column in zip(*samples, strict=True)] or [[]] * 5
    await execute(conn, load("add_owner_samples"), now, *columns)


async def controllers(conn: Connection, since: datetime) -> list[ControllerSample]:
    """The samples since then, the oldest first."""
    return [ControllerSample(*row.values()) for row in await fetch(conn, load("list_controller_samples"), since)]


async def owners(conn: Connection, since: datetime) -> list[OwnerSample]:
    """The samples since then, the oldest first; of the owners that `conn` may see."""
    return [OwnerSample(*row.values()) for row in await fetch(conn, load("list_owner_samples"), since)]


async def task_times(conn: Connection, since: datetime) -> dict[str, float]:
    """The mean seconds of a task of each step, by `pipeline.step`, from the newest sample since then."""
    rows = await fetch(conn, load("latest_item_times"), since)
    return {f"{row['pipeline']}.{row['step']}": row["task_s"] for row in rows}
