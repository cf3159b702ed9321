"""Typed calls for periodic maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from forebay.db.calls import fetch_row, fetch_value
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection, Pool


@dataclass(frozen=True, slots=True)
class Promoted:
    moved: int
    at: datetime  # the database's time
    next_at: datetime | None
    woken: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Expired:
    leases: int
    requeued: int
    failed: int
    cancelled: int


@dataclass(frozen=True, slots=True)
class Due:
    """What the sweep has to do."""

    at: datetime  # the database's time
    next_at: datetime | None  # of the next scheduled run
    lowest_token: int  # from which on leases are to be looked at next
    has_expired: bool
    has_cancelled: bool
    has_schedule: bool


@dataclass(frozen=True, slots=True)
class Rare:
    """Whether there is anything for the rarer sweeps."""

    signals: bool
    children: bool
    ordered: bool


async def is_leader_missing(pool: Pool) -> bool:
    """Whether no worker is the leader."""
    return bool(await fetch_value(pool, load("is_leader_missing")))


async def take_lead(conn: Connection, silence: str) -> bool:
    """Make this session the leader's, if there is no other; it ends when it sends nothing for so long."""
    return bool(await fetch_value(conn, load("take_lead"), silence))


async def find_due(
    conn: Connection, now: datetime | None, promoted_to: datetime | None, lowest_token: int, *, leases: bool
) -> Due:
    """What is due; scheduled runs and leases are read from their watermarks on, leases only if asked."""
    row = await fetch_row(conn, load("find_due"), now, promoted_to, leases, lowest_token)
    assert row is not None  # noqa: S101 - the statement always returns one row
    return Due(**row)


async def find_rare(pool: Pool) -> Rare:
    """Whether there are kept signals, changes of children, and tasks in order."""
    row = await fetch_row(pool, load("find_rare"))
    assert row is not None  # noqa: S101 - the statement always returns one row
    return Rare(**row)


async def promote(pool: Connection | Pool, now: datetime | None, after: datetime | None) -> Promoted:
    """Make due scheduled tasks ready, from the watermark `after` on (None: from the start)."""
    row = await fetch_row(
        pool,
        "select p.*, coalesce($1, clock_timestamp()) as at"
        " from forebay.promote($1, after => coalesce($2::timestamptz, '-infinity')) p",
        now,
        after,
    )
    assert row is not None  # noqa: S101 - the function always returns one row
    woken = list(zip(row["steps"], row["lanes"], row["seqs"], strict=True))
    return Promoted(row["moved"], row["at"], row["next_at"], woken)


async def expire(pool: Connection | Pool, now: datetime | None, lowest_token: int = 0) -> Expired:
    """Expire leases, from this token on."""
    row = await fetch_row(pool, "select * from forebay.expire($1, first_token => $2)", now, lowest_token)
    assert row is not None  # noqa: S101 - the function always returns one row
    return Expired(row["leases"], row["requeued"], row["failed"], row["cancelled"])


async def close_cancelled_items(pool: Connection | Pool, now: datetime | None) -> int:
    """Close some items of cancelled jobs."""
    return await _count(pool, "select forebay.reap_cancelled($1)", now)


async def make_partitions(pool: Pool, now: datetime | None) -> None:
    await _count(pool, "select cardinality(forebay.make_partitions($1))", now)


async def drop_partitions(pool: Pool, now: datetime | None, days: int) -> int:
    """Drop old partitions; return how many are left because they are in use."""
    keep = timedelta(days=days)
    await _count(pool, "select cardinality(forebay.drop_partitions($1, $2))", now, keep)
    return await _count(pool, load("count_old_partitions"), now, keep)


async def delete_finished(
    pool: Pool,
    now: datetime | None,
    days: int,
    *,
    only: Sequence[str] | None = None,
    but: Sequence[str] = (),
) -> int:
    """Delete some of the jobs that finished long ago, of these pipelines or of all except these; return the number of
    deleted rows."""
    statement = "select forebay.delete_finished($1, $2, of_pipelines => $3, but_pipelines => $4)"
    return await _count(pool, statement, now, timedelta(days=days), None if only is None else list(only), list(but))


async def adopt_jobs(pool: Pool, now: datetime | None, after_s: float) -> int:
    """Move some jobs of versions that no worker has run for so long to the present one; return how many."""
    return await _count(pool, "select forebay.adopt_jobs($1, $2)", now, timedelta(seconds=after_s))


async def repair_stranded(pool: Pool, now: datetime | None) -> int:
    """Give items that have no task the tasks that they should have; return how many tasks."""
    return await _count(pool, "select forebay.repair_stranded($1)", now)


async def sweep_signals(pool: Pool, now: datetime | None) -> int:
    """Delete expired signals, and give others to the tasks that wait for them; return how many were given."""
    return await _count(pool, "select forebay.sweep_signals($1)", now)


async def sweep_children(pool: Pool, now: datetime | None) -> int:
    """Do to some children what was done to their jobs, and delete some that will never start; return how many."""
    return await _count(pool, "select forebay.sweep_children($1)", now)


async def cancel_idle_streams(pool: Pool, now: datetime | None, days: int) -> int:
    """Cancel some jobs whose stream was neither continued nor ended for so long; return how many."""
    return await _count(pool, "select forebay.cancel_idle_streams($1, $2)", now, timedelta(days=days))


async def delete_audit(pool: Pool, now: datetime | None, days: int) -> int:
    """Delete some of the oldest audit records; return how many."""
    return await _count(pool, "select forebay.delete_audit($1, $2)", now, timedelta(days=days))


async def tidy(pool: Pool, now: datetime | None) -> None:
    """Assign orphaned runs to a lane, drop idle lanes, close the rows of dead workers, fold tallies."""
    await _count(pool, "select forebay.adopt_orphans($1)", now)
    await _count(pool, "select forebay.tidy_lanes($1, '1 day')", now)
    await _count(pool, "select forebay.tidy_limits(now => $1)", now)
    await _count(pool, "select forebay.close_workers($1)", now)
    await _count(pool, "select forebay.fold_tallies()")


async def remove_undeclared(pool: Connection | Pool, now: datetime | None) -> list[str]:
    """Remove the declared schedules that no living worker declares; return their names."""
    return list(await fetch_value(pool, load("remove_undeclared"), now))


async def _count(pool: Connection | Pool, sql: str, *args: Any) -> int:
    return int(await fetch_value(pool, sql, *args) or 0)
