"""Typed calls of the SQL functions with which workers claim, settle and renew tasks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
from pydantic_core import from_json

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.engine.db.sql import load
from forebay.engine.declare.limit import TaskInfo
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection, Pool

    ClaimCall: TypeAlias = Callable[..., Awaitable[list["Lease"]]]

_RECORD = chr(30)
_YIELD_EVERY = 500  # leases after which a claim yields to the event loop


@dataclass(slots=True)
class Claim:
    """What a worker requests from one step of one lane."""

    step_id: int
    lane_id: int
    head: int
    quota: int
    max_rows: int


@dataclass(slots=True, eq=False)
class Lease:
    """The right to execute a run of tasks, and their inputs. Items that have ended are missing in `ns`."""

    token: int
    step_id: int
    lane_id: int
    job_id: int
    owner_id: int
    attempt: int
    seq: int
    rest: int
    first_n: int
    last_n: int
    ns: Sequence[int]
    inputs: Sequence[str | None]  # None: large, read when its task starts
    results: Sequence[str | None] | None
    version_id: int = 0  # of the job's pipeline
    names: Mapping[str, str] | None = None  # of steps with another name in that version, by the worker's names
    key: tuple[str, str] | None = None  # the limit and key in whose lane its tasks have waited
    task: TaskInfo | None = None  # set if the key of a limit of its step depends on it
    open: int = 0  # unsettled tasks, as far as the worker knows
    held_since: float = 0.0  # monotonic; updated by each renewal
    trace_context: Any = None  # set by tracing

    @property
    def size(self) -> int:
        return self.last_n - self.first_n + 1

    def missing(self) -> list[int]:
        """The tasks of the run whose items have ended."""
        return sorted(set(range(self.first_n, self.last_n + 1)).difference(self.ns))


@dataclass(slots=True)
class Reports:
    """The ends of attempts, as the columns that settle takes. An empty column means the default for all rows."""

    tokens: list[int] = field(default_factory=list[int])
    ns: list[int] = field(default_factory=list[int])
    outcomes: list[str | None] = field(default_factory=list[str | None])
    results: list[str | None] = field(default_factory=list[str | None])
    elapsed: list[float] = field(default_factory=list[float])  # seconds since the start
    retry_ins: list[float | None] = field(default_factory=list[float | None])  # seconds
    count_as_attempts: list[bool | None] = field(default_factory=list[bool | None])
    ends_items: list[bool | None] = field(default_factory=list[bool | None])
    classes: list[str | None] = field(default_factory=list[str | None])
    reasons: list[str | None] = field(default_factory=list[str | None])


@dataclass(frozen=True, slots=True)
class Settled:
    settled: int
    stale: list[tuple[int, int]]
    woken: list[tuple[int, int, int]]  # step, lane, seq
    finished_jobs: list[int]


@dataclass(frozen=True, slots=True)
class LaneInfo:
    lane_id: int
    owner_id: int
    priority: int
    weight: float
    paused: bool = False


async def claim(
    conn: Connection, worker_id: int, claims: Sequence[Claim], reading: list[int], lease_s: float, now: datetime | None
) -> list[Lease]:
    """Claim tasks for a worker in one round trip."""
    rows = await fetch(
        conn,
        "select * from forebay.claim_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        worker_id,
        [c.step_id for c in claims],
        [c.lane_id for c in claims],
        [c.head for c in claims],
        [c.quota for c in claims],
        [c.max_rows for c in claims],
        reading,
        lease_s,
        now,
    )
    leases: list[Lease] = []
    for start in range(0, len(rows), _YIELD_EVERY):
        if start:
            await asyncio.sleep(0)
        leases += [_lease(row) for row in rows[start : start + _YIELD_EVERY]]
    return leases


async def prepare_claims(conn: Connection) -> None:
    """Claim nothing, so that the first claim of this session finds its statement prepared and the function planned."""
    await claim(conn, 0, [Claim(0, 0, 0, 1, 1)], [], 1.0, None)


def _lease(row: asyncpg.Record) -> Lease:
    token, step_id, lane_id, job_id, owner_id, attempt, seq, rest, first_n, last_n, ns, inputs, results, version = row
    return Lease(
        token,
        step_id,
        lane_id,
        job_id,
        owner_id,
        attempt,
        seq,
        rest,
        first_n,
        last_n,
        ns or (),
        inputs or (),
        results,
        version,
    )


async def read_task(pool: Pool, job_id: int, n: int) -> tuple[str, str | None]:
    """The input of one item and the results of its earlier steps, for tasks that are too large to be claimed with them.

    Raises: NotFoundError if the item does not exist.
    """
    row = await fetch_row(pool, load("read_task"), job_id, n)
    if row is None:
        raise NotFoundError("item", f"there is no item {n} in job {job_id}")
    return row[0], row[1]


@dataclass(frozen=True, slots=True)
class ChildCounts:
    """The children that a task has waited for: how many there are, and how they have ended."""

    job_id: int
    is_over: bool
    pipeline: str
    total: int
    done: int
    skipped: int
    not_found: int
    error: int


@dataclass(frozen=True, slots=True)
class WaitRecord:
    """What a task has waited for; `came`: the signal came; `expired`: the time is up; `children`: not for a signal."""

    name: str
    key: str
    payload: str | None
    came: bool
    expired: bool
    children: ChildCounts | None


MAP_WAIT = "forebay.map"  # the name for which a task waits until its children have ended


async def read_wait(
    pool: Connection | Pool, job_id: int, n: int, step_id: int, now: datetime | None
) -> WaitRecord | None:
    """What a task has waited for; None if it has not waited."""
    row = await fetch_row(pool, load("read_wait"), job_id, n, step_id, now)
    if row is None:
        return None
    name, key, payload, came, expired, child_id, *counts = row
    if name == MAP_WAIT and child_id is None:
        return None  # somebody has deleted the children: the step runs anew
    return WaitRecord(name, key, payload, came, expired, None if child_id is None else ChildCounts(child_id, *counts))


async def traces(pool: Pool, job_ids: Sequence[int]) -> dict[int, str]:
    """The traces of jobs that belong to one."""
    return {row["id"]: row["trace"] for row in await fetch(pool, load("list_traces"), list(job_ids))}


async def task_infos(pool: Pool, job_ids: Sequence[int]) -> dict[int, TaskInfo]:
    """What the keys of limits may depend on, by job."""
    rows = await fetch(pool, load("list_task_infos"), list(job_ids))
    return {row["id"]: TaskInfo(row["id"], row["owner_id"], row["owner"], _object(row["meta"])) for row in rows}


def _object(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else from_json(text)


async def settle(conn: Connection, worker_id: int, reports: Reports, now: datetime | None) -> Settled:
    """End many attempts in one round trip; stale reports change nothing and are listed in the result."""
    try:
        return await _settle(conn, worker_id, reports, now)
    except asyncpg.CheckViolationError as error:
        # The partition of the day was created at this moment, while the row was routed to the default partition.
        if (error.table_name or "").startswith("attempt"):
            raise asyncpg.SerializationError(str(error)) from error
        raise


async def _settle(conn: Connection, worker_id: int, reports: Reports, now: datetime | None) -> Settled:
    row = await conn.fetchrow(
        "select * from forebay.settle_reports($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        worker_id,
        ",".join([str(token) for token in reports.tokens]),
        ",".join([str(n) for n in reports.ns]),
        ",".join([str(int(seconds * 1e6)) for seconds in reports.elapsed]),
        _RECORD.join([result or "" for result in reports.results]),
        reports.outcomes,
        reports.retry_ins,
        reports.count_as_attempts,
        reports.ends_items,
        reports.classes,
        reports.reasons,
        now,
    )
    assert row is not None  # noqa: S101 - the function always returns one row
    return Settled(
        settled=row["settled"],
        stale=list(zip(row["stale_tokens"], row["stale_ns"], strict=True)),
        woken=list(zip(row["steps"], row["lanes"], row["seqs"], strict=True)),
        finished_jobs=row["finished_jobs"],
    )


async def hold(conn: Connection, tokens: Sequence[int], ns: Sequence[int]) -> set[tuple[int, int]]:
    """Lock leases and items until the transaction ends; return the tasks (token, n) that a settle would save."""
    rows = await conn.fetch("select * from forebay.hold_tasks($1, $2)", tokens, ns)
    return {(row["token"], row["n"]) for row in rows}


async def note_throttled(
    conn: Connection, throttled: Sequence[tuple[Lease, int, float | None]], now: datetime | None
) -> dict[int, float]:
    """Record tasks (lease, n, longest) that were throttled; return the seconds that each has been throttled without a
    break, by its index. Of the time until the next attempt, at most `longest` counts; None: the task snoozes, which is
    a break."""
    rows = await conn.fetch(
        "select * from forebay.note_throttled($1, $2, $3, $4, $5, $6, $7)",
        [lease.job_id for lease, _, _ in throttled],
        [n for _, n, _ in throttled],
        [lease.step_id for lease, _, _ in throttled],
        [lease.owner_id for lease, _, _ in throttled],
        [lease.attempt for lease, _, _ in throttled],
        [longest for _, _, longest in throttled],
        now,
    )
    return {row["place"] - 1: row["waited_s"] for row in rows}


async def count_not_found(pool: Pool, job_id: int, n: int, step: str, attempts: int) -> int:
    """The number of NotFound outcomes of a task with this many attempts, since its start or its last reprocess."""
    found: int = await fetch_value(pool, load("count_not_found"), job_id, n, step, attempts)
    return found


async def find_ready_lanes(pool: Pool, steps: Sequence[int], now: datetime | None) -> Iterator[tuple[int, LaneInfo]]:
    """The lanes with ready tasks, for each of these steps whose queue is neither paused nor parked."""
    rows = await fetch(pool, "select * from forebay.discover($1, $2)", list(steps), now)
    return ((row["step_id"], LaneInfo(row["lane_id"], row["owner_id"], row["priority"], row["weight"])) for row in rows)


async def describe_lanes(pool: Pool, lanes: Sequence[int]) -> list[LaneInfo]:
    rows = await fetch(pool, "select * from forebay.describe_lanes($1)", list(lanes))
    return [LaneInfo(r["lane_id"], r["owner_id"], r["priority"], r["weight"], r["paused"]) for r in rows]


async def limit_keys(pool: Pool, lanes: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The limit and key of each of these lanes in which tasks wait for a key."""
    rows = await fetch(pool, "select * from forebay.limit_keys($1)", list(lanes))
    return {row["lane_id"]: (row["limit_name"], row["limit_key"]) for row in rows}


@dataclass(frozen=True, slots=True)
class Woken:
    """A lane to which tasks were returned, and the first place to look at; `key`: the limit and key, or empty."""

    step_id: int
    lane_id: int
    seq: int
    key: tuple[str, str]


async def wait_for_limits(
    conn: Connection | Pool, worker_id: int, held_back: Sequence[tuple[Lease, int, str, str]], now: datetime | None
) -> list[Woken]:
    """Return tasks (lease, n, limit, key) that a limit does not admit to the queue, without an attempt."""
    rows = await fetch(
        conn,
        "select * from forebay.wait_for_limits($1, $2, $3, $4, $5, $6, $7)",
        worker_id,
        [lease.token for lease, _, _, _ in held_back],
        [n for _, n, _, _ in held_back],
        [lease.seq for lease, _, _, _ in held_back],
        [limit for _, _, limit, _ in held_back],
        [key for _, _, _, key in held_back],
        now,
    )
    return [Woken(r["step_id"], r["lane_id"], r["seq"], (r["limit_name"], r["limit_key"])) for r in rows]


async def mark_busy_lanes(pool: Pool, pairs: Sequence[tuple[int, int]], seconds: float, now: datetime | None) -> None:
    """Set for how long these (step, lane) pairs need no wake-ups; 0: they need them."""
    steps, lanes = [step_id for step_id, _ in pairs], [lane_id for _, lane_id in pairs]
    await execute(pool, "select forebay.mark_busy_lanes($1, $2, $3, $4)", steps, lanes, seconds, now)


async def pass_on(pool: Pool, wake_ups: Sequence[tuple[int, int, int, int]]) -> None:
    """Tell all workers about those of these (step, lane, number, round) of which something is ready still."""
    await execute(pool, load("pass_on"), *(list(column) for column in zip(*wake_ups, strict=True)))


async def renew_leases(
    conn: Connection | Pool, worker_id: int, tokens: Sequence[int], lease_s: Sequence[float], now: datetime | None
) -> dict[int, bool]:
    """Renew leases; return those still held, and whether each was cancelled."""
    rows = await fetch(
        conn, "select * from forebay.heartbeat($1, $2, $3, $4)", worker_id, list(tokens), list(lease_s), now
    )
    return {row["token"]: row["cancelled"] for row in rows}


async def held_tokens(pool: Pool, worker_id: int) -> list[int]:
    """The tokens of all leases of a worker."""
    rows = await fetch(pool, "select l.token from forebay.lease l where l.worker_id = $1", worker_id)
    return [row["token"] for row in rows]


async def release(pool: Pool, worker_id: int, tokens: Sequence[int], now: datetime | None) -> int:
    """Release leases of a worker without using an attempt; return the number of their tasks."""
    return int(await fetch_value(pool, "select forebay.release($1, $2, $3)", worker_id, list(tokens), now) or 0)


async def release_all(pool: Pool, worker_id: int, now: datetime | None) -> int:
    """Release all leases of a worker without using an attempt."""
    held = "array(select l.token from forebay.lease l where l.worker_id = $1)"
    return int(await fetch_value(pool, f"select forebay.release($1, {held}, $2)", worker_id, now) or 0)


async def report_progress(
    pool: Pool, tokens: Sequence[int], ns: Sequence[int], progress: Sequence[str], now: datetime | None
) -> int:
    """Write the progress of running tasks whose lease is still held."""
    return int(
        await fetch_value(
            pool, "select forebay.report_progress($1, $2, $3, $4)", list(tokens), list(ns), list(progress), now
        )
        or 0
    )


async def next_scheduled(pool: Pool) -> datetime | None:
    """When the next scheduled task is due; paused tasks, and those that wait behind others, are ignored."""
    due: datetime | None = await fetch_value(
        pool, "select min(run_at) from forebay.scheduled where run_at < forebay.waits_in_order()"
    )
    return due
