"""Leases of tasks that run elsewhere: split, taken over from another worker, and ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch
from forebay.engine.db import tasks
from forebay.engine.db.sql import load
from forebay.engine.db.tasks import Lease

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.engine.db.tasks import Claim


async def claim_apart(
    conn: Connection, worker_id: int, claims: Sequence[Claim], reading: list[int], lease_s: float, now: datetime | None
) -> list[Lease]:
    """Claim tasks with a lease for each of them."""
    leases = await tasks.claim(conn, worker_id, claims, reading, lease_s, now)
    several = [lease.token for lease in leases if lease.size > 1]
    if not several:
        return leases
    rows = await fetch(conn, "select * from forebay.split_leases($1, $2)", worker_id, several)
    tokens = {(row["token"], row["n"]): row["new_token"] for row in rows}
    return [part for lease in leases for part in _parts(lease, tokens)]


def _parts(lease: Lease, tokens: Mapping[tuple[int, int], int]) -> list[Lease]:
    if lease.size == 1:
        return [lease]
    places = {n: place for place, n in enumerate(lease.ns)}
    parts: list[Lease] = []
    for n in range(lease.first_n, lease.last_n + 1):
        here = [places[n]] if n in places else []  # otherwise its item has ended
        parts.append(
            replace(
                lease,
                token=tokens.get((lease.token, n), lease.token),
                first_n=n,
                last_n=n,
                rest=lease.rest + lease.last_n - n,
                ns=[lease.ns[place] for place in here],
                inputs=[lease.inputs[place] for place in here],
                results=None if lease.results is None else [lease.results[place] for place in here],
            )
        )
    return parts


async def end_leases(pool: Pool, worker_id: int, tokens: Sequence[int], now: datetime | None) -> None:
    """Let leases expire now: what ran their tasks is lost."""
    await execute(pool, load("end_leases"), worker_id, list(tokens), now)


async def adopt_leases(
    pool: Pool,
    worker_id: int,
    tokens: Sequence[int],
    *,
    steps: Sequence[int],
    silent_s: float,
    lease_s: float,
    now: datetime | None,
) -> list[Lease]:
    """Take leases of these steps over from dispatchers that have stopped, or have been silent for so long; return those
    that this worker has now."""
    rows = await fetch(pool, load("adopt_leases"), worker_id, list(tokens), silent_s, lease_s, now, list(steps))
    return [_lease(row) for row in rows]


async def read_leases(pool: Pool, worker_id: int, tokens: Sequence[int]) -> list[Lease]:
    """The leases of these tokens that other dispatchers than this one have, without inputs."""
    return [_lease(row) for row in await fetch(pool, load("read_leases"), list(tokens), worker_id)]


async def find_dead_dispatchers(
    pool: Pool, names: Mapping[str, int], *, silent_s: float, now: datetime | None
) -> set[str]:
    """Which of these dispatchers, given with the ids of their workers, have stopped or been silent for so long."""
    ids = list(names.values())
    return {row["name"] for row in await fetch(pool, load("find_dead_dispatchers"), ids, list(names), silent_s, now)}


def _lease(row: asyncpg.Record) -> Lease:
    first, last = row["first_n"], row["last_n"]
    ns = list(range(first, last + 1))
    return Lease(
        token=row["token"],
        step_id=row["step_id"],
        lane_id=row["lane_id"],
        job_id=row["job_id"],
        owner_id=row["owner_id"],
        attempt=row["attempt"],
        seq=0,
        rest=0,
        first_n=first,
        last_n=last,
        ns=ns,
        inputs=[None] * len(ns),
        results=None,
        version_id=row["version_id"],
    )
