"""The steps of a job with the numbers of their tasks, and the items of a job by status, in slices of their numbers.

No read grows with the job: tasks that wait or run are ranges, failed items have an index, and the rest is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.engine.db.sql import load
from forebay.engine.db.why import MOST_RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection

_MOST_FAILED = 50_000  # items whose steps are counted
_MOST_FAILED_IN_SLICES = 100_000


@dataclass(frozen=True, slots=True)
class StepCounts:
    """A step of a job. `done` includes tasks that skipped their step, and those of optional steps that failed;
    `skipped` are those that never run, because a step before has failed or the item was skipped."""

    name: str
    after: Sequence[str]
    optional: bool
    after_all: bool
    queue: str
    paused: bool
    parked: str | None
    waiting: int
    scheduled: int
    running: int
    on_hold: int
    done: int
    failed: int
    not_found: int
    skipped: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """The items first_n … last_n of a job, by status."""

    first_n: int
    last_n: int
    pending: int
    processing: int
    done: int
    skipped: int
    not_found: int
    error: int
    exact: bool


async def graph(conn: Connection, job_id: int) -> list[StepCounts]:
    """The steps of a job in the order of declaration; none if there is no such job."""
    rows = await fetch(conn, load("job_graph"), job_id, MOST_RUNS, _MOST_FAILED)
    return [StepCounts(**dict(row)) for row in rows]


async def ribbon(conn: Connection, job_id: int, slices: int) -> list[Slice]:
    """The items of a job in at most so many slices; none if it has no items."""
    rows = await fetch(conn, load("job_ribbon"), job_id, slices, MOST_RUNS, _MOST_FAILED_IN_SLICES)
    return [Slice(**dict(row)) for row in rows]
