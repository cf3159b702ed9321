"""Pages of jobs, items, attempts and dead letters, by keyset pagination, so that deep pages cost no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_core import from_json

from forebay.db.calls import fetch, fetch_value
from forebay.engine.db.sql import load
from forebay.engine.db.why import MOST_RUNS
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import datetime
    from typing import TypeAlias

    import asyncpg

    from forebay.db.pool import Connection

    AttemptKey: TypeAlias = tuple[datetime, int, int]  # end time, token, item
    DeadLetterKey: TypeAlias = tuple[datetime, int, int, int]  # time of failure, job, item, step

# Full items vary in size: after the first page, as many are fetched at a time as fit into this.
_FIRST_PAGE, _MOST_ROWS, _PAGE_BYTES = 100, 5000, 4 << 20
_MOST_FAILED = 20_000  # failed items that are read for a page of those of a step


@dataclass(frozen=True, slots=True)
class JobFilter:
    owner_id: int | None = None
    pipelines: Sequence[str] | None = None
    states: Sequence[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    words: str | None = None  # a part of the file or key
    min_items: int | None = None
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """How far a bounded search has looked: the rows that it read, and the time of the last one."""

    rows: int
    to: datetime | None


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """The times are those of the last update of an item."""

    statuses: Sequence[str] | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class PendingFilter:
    """Items of open jobs; with a job, items of it, whether it is open or not."""

    owner_id: int | None
    statuses: Sequence[str]
    pipeline: str | None = None
    job_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AttemptFilter:
    owner_id: int | None = None
    job_id: int | None = None
    n: int | None = None
    step: str | None = None
    outcome: str | None = None
    worker: str | None = None
    error_class: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """`error_class` "": letters without one. `reason` is a masked one, as groups have it."""

    owner_id: int | None = None
    pipeline: str | None = None
    job_id: int | None = None
    error_class: str | None = None
    step: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    owner_id: int | None = None
    job_id: int | None = None
    actor: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class WaitRow:
    """A task that waits for a signal."""

    n: int
    step: str
    signal: str
    key: str
    until: datetime | None  # None: without a limit


@dataclass(frozen=True, slots=True)
class FullItem:
    """An item with all its data; JSON as the database writes it."""

    n: int
    status: str
    key: str | None
    input: str
    result: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class ItemsPage:
    """A page of full items: the number after which it begins, and how many it has."""

    after: int
    size: int


FIRST_ITEMS = ItemsPage(0, _FIRST_PAGE)


async def jobs(
    conn: Connection, where: JobFilter, before: int | None, size: int
) -> tuple[list[asyncpg.Record], int | None, Searched]:
    """Jobs, newest first, and the key before which the next page begins. A page may be short before the end."""
    (found,) = await fetch(
        conn,
        "select * from forebay.search_jobs($1, $2, $3, $4::forebay.job_state[], $5, $6, $7, $8, $9, $10)",
        *_job_arguments(where, before),
        size,
    )
    rows = await jobs_by_id(conn, found["ids"])
    return rows, found["next_before"], Searched(found["looked_at"], found["looked_to"])


async def folded_jobs(
    conn: Connection, where: JobFilter, before: int | None, size: int
) -> tuple[list[asyncpg.Record], int | None, Searched]:
    """The same, with jobs of one item counted together by pipeline and hour: rows with job_id, or with hour."""
    rows = await fetch(conn, load("fold_jobs"), *_job_arguments(where, before), size)
    searched = Searched(rows[0]["looked_at"], rows[0]["looked_to"])
    return [row for row in rows if row["jobs"] is not None], rows[0]["next_before"], searched


def _job_arguments(where: JobFilter, before: int | None) -> tuple[object, ...]:
    return (
        where.owner_id,
        before,
        None if where.pipelines is None else list(where.pipelines),
        None if where.states is None else list(where.states),
        where.since,
        where.until,
        where.words,
        where.min_items,
        where.max_items,
    )


@dataclass(frozen=True, slots=True)
class CountedJobs:
    by_state: dict[str, int]
    searched: Searched
    is_exact: bool  # these are all
    last_id: int | None  # the newest job that was counted


async def count_jobs(conn: Connection, owner_id: int | None, most: int) -> CountedJobs:
    """Jobs by state, reading at most `most` rows twice."""
    rows = await fetch(conn, load("count_jobs_by_state"), owner_id, most)
    first = rows[0]
    counts = {row["state"]: row["jobs"] for row in rows if row["state"] is not None}
    return CountedJobs(counts, Searched(first["looked_at"], first["looked_to"]), first["is_exact"], first["last_id"])


async def jobs_by_id(conn: Connection, ids: Sequence[int]) -> list[asyncpg.Record]:
    """The jobs among these that the caller may see."""
    return await fetch(conn, load("show_jobs"), list(ids)) if ids else []


async def current_jobs(conn: Connection, owner_id: int | None, most: int) -> list[asyncpg.Record]:
    """The jobs in progress or next, and the newest ones; of one owner, or (None) of all."""
    if owner_id is None:
        found = await fetch(conn, load("list_current_jobs"), most)
    else:
        found = await fetch(conn, load("list_current_jobs_of"), most, owner_id)
    return await jobs_by_id(conn, [row["id"] for row in found])


async def job(conn: Connection, job_id: int) -> asyncpg.Record | None:
    """One job, if the caller may see it."""
    rows = await jobs_by_id(conn, [job_id])
    return rows[0] if rows else None


async def items(
    conn: Connection, job_id: int, after: int, where: ItemFilter, size: int
) -> tuple[list[asyncpg.Record], int | None]:
    """Items of a job in order, and the number after which the next page begins. A page may be short before the end."""
    (found,) = await fetch(
        conn,
        "select * from forebay.find_items($1, $2, $3::forebay.item_status[], $4, since => $5, until => $6)",
        job_id,
        after,
        where.statuses,
        size,
        where.since,
        where.until,
    )
    return await _show(conn, [job_id] * len(found["ns"]), found["ns"]), found["next_after"]


async def items_at_step(
    conn: Connection, job_id: int, step: str, after: int, size: int
) -> tuple[list[asyncpg.Record], int | None]:
    """Items of a job that wait or run in a step, or have ended there without being done; otherwise as `items()`.

    Raises:
        NotFoundError: The items of the job do not have this step.
    """
    (found,) = await fetch(conn, load("list_items_at_step"), job_id, step, after, size, MOST_RUNS, _MOST_FAILED)
    if not found["has_step"]:
        raise NotFoundError("step", f"the items of job {job_id} have no step {step!r}")
    return await _show(conn, [job_id] * len(found["ns"]), found["ns"]), found["next_after"]


async def pending(
    conn: Connection, where: PendingFilter, after: tuple[int, int], size: int
) -> tuple[list[asyncpg.Record], tuple[int, int] | None]:
    """Items by job and number, and the position of the next page. A page may be short before the end."""
    (found,) = await fetch(
        conn,
        "select * from forebay.find_pending($1, $2, $3, $4::forebay.item_status[], $5, $6, $7, $8, $9)",
        where.owner_id,
        *after,
        list(where.statuses),
        size,
        where.pipeline,
        where.job_id,
        where.since,
        where.until,
    )
    more = None if found["next_job"] is None else (found["next_job"], found["next_n"])
    return await _show(conn, found["job_ids"], found["ns"]), more


async def _show(conn: Connection, job_ids: Sequence[int], ns: Sequence[int]) -> list[asyncpg.Record]:
    return await fetch(conn, load("show_items"), list(job_ids), list(ns)) if ns else []


@dataclass(frozen=True, slots=True)
class Children:
    """The children of a job: how many there are, and the jobs that they are items of; `is_cut`: there are more."""

    total: int
    done: int
    failed: int
    job_ids: list[int]
    is_cut: bool


async def item(conn: Connection, job_id: int, n: int) -> asyncpg.Record | None:
    """One item, with all its data."""
    rows = await fetch(conn, load("get_item"), job_id, n)
    return rows[0] if rows else None


async def steps(conn: Connection, job_id: int, n: int) -> list[asyncpg.Record]:
    """The steps of an item in the order of declaration, with their states and last attempts."""
    return await fetch(conn, load("list_item_steps"), job_id, n)


async def waits(
    conn: Connection, job_id: int, n: int | None = None, *, most: int = 100, now: datetime | None = None
) -> list[WaitRow]:
    """What the tasks of a job, or of one item, wait for."""
    rows = await fetch(conn, load("list_waits"), job_id, n, now, most)
    return [WaitRow(*row.values()) for row in rows]


async def children(conn: Connection, job_id: int) -> Children | None:
    """The items that the steps of a job have mapped to; None if there are none."""
    text: str | None = await fetch_value(conn, load("get_children"), job_id)
    return None if text is None else Children(**from_json(text))


async def full_items(conn: Connection, job_id: int, statuses: Sequence[str] | None) -> AsyncGenerator[FullItem, None]:
    """All items of a job in order, page by page, so that neither memory nor a transaction grows with the job."""
    page: ItemsPage | None = FIRST_ITEMS
    while page is not None:
        found, page = await full_items_page(conn, job_id, page, statuses)
        for item in found:
            yield item


async def full_items_page(
    conn: Connection, job_id: int, page: ItemsPage, statuses: Sequence[str] | None
) -> tuple[list[FullItem], ItemsPage | None]:
    """One page of them, and the next one. A page may be short before the end."""
    rows = await fetch(conn, load("export_items"), job_id, page.after, statuses, page.size)
    found = [FullItem(*list(row.values())[1:]) for row in rows if row["n"] is not None]
    size = page.size
    if found:
        each = sum(len(item.input) + len(item.result or "") for item in found) / len(found)
        size = int(min(max(_PAGE_BYTES / each, 1), _MOST_ROWS))
    after: int | None = rows[0]["next_after"]
    return found, None if after is None else ItemsPage(after, size)


async def attempts(
    conn: Connection, where: AttemptFilter, before: AttemptKey | None, size: int
) -> tuple[list[asyncpg.Record], AttemptKey | None]:
    """Attempts, newest first, and the key before which the next page begins. A page may be short before the end."""
    rows = await fetch(
        conn,
        load("page_attempts"),
        where.owner_id,
        where.job_id,
        where.n,
        where.step,
        where.outcome,
        where.worker,
        where.error_class,
        where.since,
        where.until,
        *(before or (None, None, None)),
        size,
    )
    at, token, n = (rows[0][name] for name in ("next_at", "next_token", "next_n"))
    return [row for row in rows if row["job_id"] is not None], None if at is None else (at, token, n)


async def dead_letters(
    conn: Connection, where: DeadLetterFilter, before: DeadLetterKey | None, size: int
) -> tuple[list[asyncpg.Record], DeadLetterKey | None]:
    """Tasks that failed permanently, newest first, and the key before which the next page begins. A page may be short
    before the end."""
    rows = await fetch(
        conn,
        load("page_dead_letters"),
        where.owner_id,
        where.pipeline,
        where.job_id,
        where.error_class,
        *(before or (None, None, None, None)),
        size,
        where.step,
        where.reason,
    )
    at, job_id, n, step_id = (rows[0][name] for name in ("next_at", "next_job", "next_n", "next_step"))
    return [row for row in rows if row["job_id"] is not None], None if at is None else (at, job_id, n, step_id)


async def audit(
    conn: Connection, where: AuditFilter, before: int | None, size: int
) -> tuple[list[asyncpg.Record], int | None, Searched]:
    """The audit log, newest first, and the key before which the next page begins. A page may be short."""
    rows = await fetch(
        conn,
        load("page_audit"),
        where.owner_id,
        where.job_id,
        where.actor,
        where.action,
        where.since,
        where.until,
        before,
        size,
    )
    searched = Searched(rows[0]["looked_at"], rows[0]["looked_to"])
    return [row for row in rows if row["id"] is not None], rows[0]["next_before"], searched


async def suggested_jobs(conn: Connection, owner_id: int, text: str, most: int) -> list[asyncpg.Record]:
    """The job with this number, and newer jobs whose key or file begins with the text."""
    return await fetch(conn, load("suggest_jobs"), owner_id, text, most)
