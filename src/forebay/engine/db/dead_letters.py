"""Dead letters in groups, and the items that a reprocess of a group would run again. Both read a bounded number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from forebay.db.calls import fetch
from forebay.engine.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection

Span: TypeAlias = tuple[int, int, int]  # job, first and last item
_Key: TypeAlias = tuple[str, str | None, str | None, str | None]  # pipeline, step, class of error, reason

MOST_READ = 20_000
HOURS = 24


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """`error_class` "": letters without one. `reason` is a masked one, as groups have it; see mask_reason() in SQL."""

    owner_id: int | None = None
    job_id: int | None = None
    pipeline: str | None = None
    step: str | None = None
    error_class: str | None = None
    reason: str | None = None

    @property
    def args(self) -> tuple[object, ...]:
        return (self.owner_id, self.job_id, self.pipeline, self.step, self.error_class, self.reason, MOST_READ)


@dataclass(slots=True)
class LetterGroup:
    """Dead letters with the same step, class of error and masked reason, as far as the groups are made by these."""

    pipeline: str
    step: str | None
    error_class: str | None
    reason: str | None
    letters: int
    first_at: datetime
    last_at: datetime
    hours: list[int] = field(default_factory=lambda: [0] * HOURS)  # the last day by hour, the oldest first


@dataclass(frozen=True, slots=True)
class LetterGroups:
    """The groups, the largest first, how many dead letters were read, and the time of the oldest of them."""

    groups: list[LetterGroup]
    read: int
    read_to: datetime | None

    @property
    def is_complete(self) -> bool:
        return self.read < MOST_READ


@dataclass(frozen=True, slots=True)
class ChosenItems:
    """Items by job, how many others have another status, and whether there may be more."""

    by_job: dict[int, list[int]]
    left_out: int
    read: int
    is_complete: bool


async def groups(conn: Connection, where: LetterFilter, by: Sequence[str], now: datetime) -> LetterGroups:
    """Group the newest dead letters by some of `step`, `errorClass` and `reason`; always by pipeline."""
    rows = await fetch(conn, load("group_dead_letters"), *where.args, *_chosen(by), now)
    found: dict[_Key, LetterGroup] = {}
    read, read_to = 0, None
    for row in rows:
        if row["pipeline"] is None:
            read, read_to = row["letters"], row["first_at"]
        else:
            _add(found, row)
    largest = sorted(found.values(), key=lambda group: (-group.letters, group.last_at))
    return LetterGroups(largest, read, read_to)


def _chosen(by: Sequence[str]) -> tuple[bool, bool, bool]:
    return "step" in by, "errorClass" in by, "reason" in by


def _add(found: dict[_Key, LetterGroup], row: asyncpg.Record) -> None:
    key: _Key = (row["pipeline"], row["step"], row["error_class"], row["reason"])
    group = found.get(key)
    if group is None:
        group = found[key] = LetterGroup(*key, 0, row["first_at"], row["last_at"])
    group.letters += row["letters"]
    group.first_at, group.last_at = min(group.first_at, row["first_at"]), max(group.last_at, row["last_at"])
    if row["hour"] < HOURS:
        group.hours[HOURS - 1 - row["hour"]] += row["letters"]


async def choose(conn: Connection, where: LetterFilter, statuses: Sequence[str], most_jobs: int) -> ChosenItems:
    """The items with these statuses whose dead letters match, of at most so many jobs."""
    rows = await fetch(conn, load("choose_dead_letters"), *where.args, list(statuses), most_jobs + 1)
    read = next(row["left_out"] for row in rows if row["job_id"] is None)
    jobs = [row for row in rows if row["job_id"] is not None]
    by_job = {row["job_id"]: list(row["ns"]) for row in jobs[:most_jobs] if row["ns"] is not None}
    left_out = sum(row["left_out"] for row in jobs[:most_jobs])
    return ChosenItems(by_job, left_out, read, read < MOST_READ and len(jobs) <= most_jobs)


async def choose_items(
    conn: Connection, spans: Sequence[Span], owner_id: int | None, statuses: Sequence[str]
) -> ChosenItems:
    """The items in these spans that have dead letters and one of the statuses."""
    rows = await fetch(conn, load("choose_dead_letters_of_items"), *_columns(spans), owner_id, list(statuses))
    by_job = {row["job_id"]: list(row["ns"]) for row in rows if row["ns"] is not None}
    left_out, read = (sum(row[name] for row in rows) for name in ("left_out", "letters"))
    return ChosenItems(by_job, left_out, read, is_complete=True)


def _columns(spans: Sequence[Span]) -> tuple[list[int], list[int], list[int]]:
    return [job for job, _, _ in spans], [first for _, first, _ in spans], [last for _, _, last in spans]


async def results(conn: Connection, spans: Sequence[Span]) -> Counter[str]:
    """The number of items by status in these spans."""
    rows = await fetch(conn, load("count_results"), *_columns(spans))
    return Counter({row["status"]: row["items"] for row in rows})
