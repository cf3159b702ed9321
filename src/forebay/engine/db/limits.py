"""Typed calls for limits across all workers: lease starts and slots, many keys in one round trip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.db.pool import Pool


@dataclass(frozen=True, slots=True)
class TokenAsk:
    """How many starts of one key a worker can use within `reach` seconds, and how many of its tasks wait for them."""

    name: str
    key: str
    interval: float
    want: int
    waiters: int
    reach: float


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """Starts from `starts_at` on, one per interval; and when the tasks that got none should retry."""

    granted: int
    starts_at: float  # epoch seconds of the server, like `at`
    back_in: float
    at: float


@dataclass(frozen=True, slots=True)
class SlotAsk:
    """How many slots of one key a worker wants to hold from now on; 0 returns them."""

    name: str
    key: str
    capacity: int
    want: int
    used: int = 0
    waiters: int = 0
    started: int = 0
    hold: float | None = None  # average seconds that a slot was used; None: no new measurement


@dataclass(frozen=True, slots=True)
class SlotGrant:
    """How many slots the worker holds, how many it should use while others are short of them, the expected interval
    between free slots, and when waiters should retry."""

    granted: int
    fair: int
    turn_s: float
    back_in: float
    step_s: float


async def take_tokens(
    pool: Pool, asks: Sequence[TokenAsk], ahead_s: float, slack_s: float, now: datetime | None
) -> list[TokenGrant]:
    """Lease starts; the grants are in the order of the requests."""
    rows = await fetch(
        pool,
        "select * from forebay.take_tokens($1, $2, $3, $4, $5, $6, $7, $8, $9) order by place",
        [ask.name for ask in asks],
        [ask.key for ask in asks],
        [ask.interval for ask in asks],
        [ask.want for ask in asks],
        [ask.waiters for ask in asks],
        [ask.reach for ask in asks],
        ahead_s,
        slack_s,
        now,
    )
    return [TokenGrant(row["granted"], row["starts_at"], row["back_in"], row["at"]) for row in rows]


async def lease_slots(
    pool: Pool, worker_id: int, asks: Sequence[SlotAsk], lease_s: float, now: datetime | None
) -> list[SlotGrant]:
    """Lease, renew or return slots; the grants are in the order of the requests."""
    rows = await fetch(
        pool,
        "select * from forebay.lease_slots($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) order by place",
        worker_id,
        [ask.name for ask in asks],
        [ask.key for ask in asks],
        [ask.capacity for ask in asks],
        [ask.want for ask in asks],
        [ask.used for ask in asks],
        [ask.waiters for ask in asks],
        [ask.started for ask in asks],
        [ask.hold for ask in asks],
        lease_s,
        now,
    )
    return [SlotGrant(row["granted"], row["fair"], row["turn_s"], row["back_in"], row["step_s"]) for row in rows]


async def adopt_slots(pool: Pool, worker_id: int, others: Sequence[int]) -> None:
    """Take the slots over that workers have left, so that nobody else gets them while their tasks run on."""
    await execute(pool, load("adopt_slots"), worker_id, list(others))
