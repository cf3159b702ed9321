"""Typed calls of the SQL functions that put the tasks of steps with `ordered_by` in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from forebay.db.calls import fetch, fetch_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.db.pool import Connection, Pool


@dataclass(frozen=True, slots=True)
class UnorderedTask:
    """A task whose place in the order of its key is not known yet; `input` is None if it has ended."""

    step_id: int
    lane_id: int
    job_id: int
    n: int
    attempt: int
    owner_id: int
    input: str | None
    owner: str | None
    meta: str | None


class Swept(NamedTuple):
    """How many tasks a sweep has changed, and where the next one continues."""

    changed: int
    job_id: int
    n: int


async def lock(conn: Connection, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Lock the order of these (step, lane) pairs until the transaction ends: locked, busy, or none for a step that has
    no order in the database."""
    rows = await fetch(conn, "select * from forebay.lock_order($1, $2)", *_columns(pairs))
    return {(row["step_id"], row["lane_id"]): row["state"] for row in rows}


async def take_unordered(
    conn: Connection, pairs: Sequence[tuple[int, int]], max_tasks: int, *, with_meta: bool
) -> list[UnorderedTask]:
    """Take tasks whose order is not known out of the queue, at most `max_tasks` of each step and owner."""
    rows = await fetch(
        conn, "select * from forebay.take_unordered($1, $2, $3, $4)", *_columns(pairs), max_tasks, with_meta
    )
    return [UnorderedTask(**row) for row in rows]


async def order_tasks(
    conn: Connection, tasks: Sequence[UnorderedTask], keys: Sequence[str | None], now: datetime | None
) -> list[tuple[int, int, int]]:
    """Put tasks back into the queue, in the order of their keys; return the lanes with ready tasks."""
    rows = await fetch(
        conn,
        "select * from forebay.order_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [task.step_id for task in tasks],
        [task.lane_id for task in tasks],
        [task.job_id for task in tasks],
        [task.n for task in tasks],
        [task.attempt for task in tasks],
        [task.owner_id for task in tasks],
        keys,
        [task.input is None for task in tasks],
        now,
    )
    return [(row["step_id"], row["lane_id"], row["seq"]) for row in rows]


async def sweep(pool: Pool, job_id: int, n: int, now: datetime | None) -> Swept:
    """Repair the order of some tasks, from this place on."""
    row = await fetch_row(pool, "select * from forebay.sweep_order($1, $2, $3)", job_id, n, now)
    assert row is not None  # noqa: S101 - the function always returns one row
    return Swept(row["changed"], row["next_job"] or 0, row["next_n"] or 0)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [step_id for step_id, _ in pairs], [lane_id for _, lane_id in pairs]
