"""The engine as the state machine drives it: typed calls on one database, and a picture of all that is in it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from forebay.db.pool import open_pool
from forebay.engine.db import registry, sweeps, tasks
from forebay.engine.db.sql import load
from tests.properties._records import (
    MAX_ATTEMPTS,
    MAX_EXPIRIES,
    SHAPES,
    Refused,
    Report,
    Run,
    Shape,
    Task,
    Tried,
    Wanted,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
    from types import TracebackType

    from forebay.db.pool import Connection, Pool

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TABLES = "audit, attempt, dead_letter, item, job, lane, lease, ready, scheduled, tally, worker"

_LOOK = """
select
  (select json_agg(json_build_array(step_id, lane_id, seq, job_id, first_n, last_n, attempt))
     from forebay.ready) as ready,
  (select json_agg(json_build_array(step_id, lane_id, job_id, first_n, last_n, attempt,
     case when isfinite(run_at) then (extract(epoch from run_at) * 1000000)::bigint end))
     from forebay.scheduled) as scheduled,
  (select json_agg(json_build_array(token, step_id, lane_id, job_id, worker_id, attempt, cancelled,
     (extract(epoch from expires_at) * 1000000)::bigint,
     (select json_agg(json_build_array(lower(r), upper(r) - 1)) from unnest(ns) r)))
     from forebay.lease) as leases,
  (select json_agg(json_build_array(id, owner_id, job_id, paused)) from forebay.lane) as lanes,
  (select json_agg(json_build_array(id, state, total, done, skipped, not_found, error, lane_id,
     (extract(epoch from finished_at) * 1000000)::bigint, started_at is not null, sealed))
     from forebay.job) as jobs,
  (select json_agg(json_build_array(
     pipeline_id, job_id, n, status, verdict, done, dead, error ->> 'class', result, input))
     from forebay.item) as items,
  (select json_agg(json_build_array(job_id, n, step_id, attempt)) from forebay.dead_letter) as letters,
  (select json_agg(json_build_array(action, job_id, n) order by id) from forebay.audit where id > $1) as audit,
  (select coalesce(max(id), 0) from forebay.audit) as last_audit,
  (select json_agg(json_build_array(
     job_id, n, step_id, attempt, outcome, worker_id, case when worker_id = 0 then 0 else token end))
     from forebay.attempt where ended_at > $2) as tried,
  (select count(*) from forebay.attempt) as all_tried,
  (select json_build_array(coalesce(sum(pending), 0), coalesce(sum(processing), 0), coalesce(sum(done), 0),
     coalesce(sum(skipped), 0), coalesce(sum(not_found), 0), coalesce(sum(error), 0))
     from forebay.count_items()) as totals
"""


@dataclass(slots=True)
class JobRow:
    state: str
    total: int
    counts: tuple[int, int, int, int]  # done, skipped, not found, error
    lane: int
    finished_at: int | None
    started: bool
    sealed: bool


@dataclass(slots=True)
class ItemRow:
    status: str
    verdict: str
    done: frozenset[str]
    dead: frozenset[str]
    error: str | None
    result: dict[str, int]
    input: int


@dataclass(slots=True)
class LeaseRow:
    step: str
    lane: int
    job: int
    worker: int
    attempt: int
    cancelled: bool
    expires_at: int
    ns: set[int]


@dataclass(slots=True)
class Later:
    """A scheduled run; run_at None is for ever."""

    step: str
    lane: int
    job: int
    first: int
    last: int
    attempt: int
    run_at: int | None


@dataclass(slots=True)
class Picture:
    """Everything in the database at one moment."""

    ready: list[Run]
    scheduled: list[Later]
    leases: dict[int, LeaseRow]
    lanes: dict[int, tuple[int, int, bool]]  # owner, job, paused
    jobs: dict[int, JobRow]
    items: dict[tuple[int, int], ItemRow]
    letters: dict[Task, int]
    audit: list[tuple[str, int | None, int | None]]  # new ones
    tried: Counter[Tried]  # new ones
    all_tried: int
    totals: list[int]  # pending, processing, done, skipped, not found, error


def stamp(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=us)


class Bench:
    """One database, one event loop, one connection for as long as a test runs."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._runner = asyncio.Runner()
        self.step_ids: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._bits: dict[int, list[tuple[int, str]]] = {}  # by pipeline
        self._masks: dict[tuple[int, int], frozenset[str]] = {}
        self._cleared = 0
        self._last_audit = 0
        self._looked_at = _EPOCH

    def __enter__(self) -> Bench:
        self._runner.__enter__()
        self.run(self._open())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self.pool.close())
        self._runner.__exit__(kind, error, trace)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def _open(self) -> None:
        self.pool: Pool = await open_pool(self._dsn, size=1, name="forebay model test", timeout=300)
        async with self.pool.acquire() as conn:
            for shape in SHAPES:
                self.step_ids |= (await registry.register(conn, _definition(shape))).steps
            rows = await conn.fetch("select id, name, bit, pipeline_id from forebay.step")
        for row in rows:
            self._names[row["id"]] = row["name"]
            self._bits.setdefault(row["pipeline_id"], []).append((row["bit"], row["name"]))

    def clear(self) -> None:
        """Back to a database that has pipelines and nothing else."""
        self._cleared += 1
        # Deleting leaves the plans of this connection alone, and is faster; now and then the dead rows have to go.
        how = "truncate" if self._cleared % 50 == 0 else "delete from"
        statements = [f"{how} forebay.{name}{' cascade' * (how == 'truncate')}" for name in _TABLES.split(", ")]
        statements.append("update forebay.queue set paused = false, parked = null, probe_at = null")
        self.run(self.pool.execute("; ".join(statements)))
        self._last_audit, self._looked_at = 0, _EPOCH

    # -- verbs --------------------------------------------------------------------------------------------------------

    def enlist(self, name: str, now: int) -> int:
        async def work(conn: Connection) -> int:
            return await registry.register_worker(conn, name, stamp(now))

        return self._on_connection(work)

    def _on_connection(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async def lent() -> T:
            async with self.pool.acquire() as conn:
                return await work(conn)

        return self.run(lent())

    def verb(self, name: str, now: int, *args: object, **options: object) -> Any:
        """Calls a control function as bob; a refusal is an answer, too."""
        given = {"actor": "bob", "now": stamp(now)} | options
        slots = [f"${i}" for i in range(1, len(args) + 1)]
        slots += [f"{key} => ${i}" for i, key in enumerate(given, len(args) + 1)]
        return self.fetch(f"select * from forebay.{name}({', '.join(slots)})", *args, *given.values())

    def submit(self, shape: Shape, value: int, now: int, run_at: int | None, **options: object) -> tuple[int, bool]:
        job_id, created = self._submit("submit", shape, {"input": str(value), **_times(now, run_at), **options})
        return job_id, created

    def submit_many(
        self, shape: Shape, values: Sequence[int], now: int, run_at: int | None, **options: object
    ) -> tuple[int, bool, int]:
        given = {"inputs": [str(v) for v in values], **_times(now, run_at), **options}
        job_id, created, items = self._submit("submit_many", shape, given)
        return job_id, created, items

    def open_stream(self, shape: Shape, owner: str, now: int) -> int:
        sql = "select job_id from forebay.open_job($1, $2, null, 0, 0, false, null, $3)"
        return int(self.fetch(sql, shape.name, owner, stamp(now)))

    def append(self, job_id: int, total: int, values: Sequence[int], broken: int, now: int) -> Any:
        """Adds a batch to a stream in one transaction, as the SDK does; the last of the items are broken."""
        ns = list(range(total + 1, total + len(values) + 1))
        good = len(ns) - broken
        texts, runs = [str(v) for v in values], ([ns[0]], [ns[good - 1]]) if good else ([], [])

        async def work(conn: Connection) -> Any:
            async with conn.transaction():
                begun = await conn.fetchrow("select * from forebay.begin_batch($1, $2, '{}')", job_id, total)
                assert begun is not None
                assert begun["total"] == total
                home = await conn.fetchrow("select owner_id, pipeline_id from forebay.job where id = $1", job_id)
                assert home is not None
                await conn.execute(load("insert_items"), job_id, *home, ns[:good], [None] * good, texts[:good])
                reasons = ["not a number"] * broken
                await conn.execute(
                    load("insert_broken_items"), job_id, ns[good:], [None] * broken, texts[good:], reasons
                )
                return await conn.fetchval(
                    "select forebay.append($1, $2, $3, $3, $4, $5, $6, null, $7)",
                    job_id, total, len(ns), broken, *runs, stamp(now),
                )  # fmt: skip

        return self._on_connection(work)

    def _submit(self, function: str, shape: Shape, given: Mapping[str, object]) -> tuple[Any, ...]:
        slots = ", ".join(f'"{key}" => ${i}' for i, key in enumerate(given, 2))
        sql = f"select * from forebay.{function}(pipeline => $1, {slots})"
        row = self.run(self.pool.fetchrow(sql, shape.name, *given.values()))
        assert row is not None
        return tuple(row)

    def fetch(self, sql: str, *args: object) -> Any:
        async def work() -> Any:
            try:
                return await self.pool.fetchval(sql, *args)
            except asyncpg.PostgresError as error:
                if not (error.sqlstate or "").startswith("FB"):
                    raise
                return Refused(str(error.sqlstate))

        return self.run(work())

    def lanes(self, steps: Sequence[str], now: int) -> list[tuple[str, int]]:
        """The lanes that have something ready, as workers discover them."""
        found = self.run(tasks.find_ready_lanes(self.pool, [self.step_ids[s] for s in steps], stamp(now)))
        return [(self._names[step], lane.lane_id) for step, lane in found]

    def claim(self, worker: int, wanted: Sequence[Wanted], lease_s: float, now: int) -> list[tasks.Lease]:
        claims = [tasks.Claim(self.step_ids[w.step], w.lane, w.head, w.quota, w.max_rows) for w in wanted]
        reading = list(self.step_ids.values())
        return self.run(self._claim(worker, claims, reading, lease_s, stamp(now)))

    async def _claim(self, *args: Any) -> list[tasks.Lease]:
        async with self.pool.acquire() as conn:
            return await tasks.claim(conn, *args)

    def settle(self, worker: int, reports: Sequence[Report], step_of: Mapping[int, str], now: int) -> tasks.Settled:
        columns = self._columns(reports, step_of, now)

        async def work(conn: Connection) -> tasks.Settled:
            return await tasks.settle(conn, worker, columns, stamp(now))

        return self._on_connection(work)

    def settle_and_submit(
        self, worker: int, report: Report, step: str, new: tuple[Shape, int, str], now: int
    ) -> tuple[tasks.Settled, list[int]]:
        """Settles a task that submits a job (shape, value, owner) in the same transaction; also returns the job."""
        columns, (shape, value, owner) = self._columns([report], {report.token: step}, now), new
        sql = "select s.job_ids from forebay.submit_jobs($1, array[$2::jsonb], $3, now => $4) s"

        async def work(conn: Connection) -> tuple[tasks.Settled, list[int]]:
            async with conn.transaction():
                made: list[int] = []
                if await tasks.hold(conn, columns.tokens, columns.ns):
                    made = await conn.fetchval(sql, shape.name, json.dumps(value), owner, stamp(now))
                return await tasks.settle(conn, worker, columns, stamp(now)), made

        return self._on_connection(work)

    def _columns(self, reports: Sequence[Report], step_of: Mapping[int, str], now: int) -> tasks.Reports:
        """Columns that would say the usual for all rows are left empty, as the worker does."""
        columns = tasks.Reports(
            tokens=[r.token for r in reports],
            ns=[r.n for r in reports],
            results=[None if r.result is None else json.dumps({step_of[r.token]: r.result}) for r in reports],
            elapsed=[0.0] * len(reports),
        )
        if any(r.outcome != "DONE" for r in reports):
            columns.outcomes = [None if r.outcome == "DONE" else r.outcome for r in reports]
            columns.retry_ins = [None if r.again_at is None else (r.again_at - now) / 1e6 for r in reports]
            columns.count_as_attempts = [r.spent for r in reports]
            columns.ends_items = [r.ends_item for r in reports]
            columns.classes = [r.error_class for r in reports]
            columns.reasons = [None if r.error_class is None else "because" for r in reports]
        return columns

    def heartbeat(self, worker: int, tokens: Sequence[int], seconds: float, now: int) -> dict[int, bool]:
        return self.run(tasks.renew_leases(self.pool, worker, tokens, [seconds] * len(tokens), stamp(now)))

    def release(self, worker: int, tokens: Sequence[int], now: int) -> int:
        sql = "select forebay.release($1, $2, $3)"
        return int(self.run(self.pool.fetchval(sql, worker, list(tokens), stamp(now))))

    def expire(self, now: int) -> tuple[int, int, int, int]:
        """All that has run out, in as many calls as the sweeper would need."""
        total = (0, 0, 0, 0)
        while (done := self.run(sweeps.expire(self.pool, stamp(now)))).leases:
            leases, requeued, failed, cancelled = total
            total = (
                leases + done.leases,
                requeued + done.requeued,
                failed + done.failed,
                cancelled + done.cancelled,
            )
        return total

    def promote(self, now: int) -> int:
        """All that is due, in as many calls as the sweeper would need."""
        total = 0
        while moved := self.run(sweeps.promote(self.pool, stamp(now), None)).moved:
            total += moved
        return total

    def reap_cancelled(self, now: int) -> int:
        return self.run(sweeps.close_cancelled_items(self.pool, stamp(now)))

    def tidy(self, now: int) -> None:
        self.run(sweeps.tidy(self.pool, stamp(now)))

    def delete_finished(self, now: int, days: int) -> int:
        return self.run(sweeps.delete_finished(self.pool, stamp(now), days))

    def park(self, queue: str, reason: str | None, seconds: float, now: int) -> None:
        if reason is None:
            self.run(registry.unpark(self.pool, queue))
        else:
            self.run(registry.park(self.pool, queue, reason, seconds, stamp(now)))

    def step(self, step_id: int) -> str:
        return self._names[step_id]

    # -- looking ------------------------------------------------------------------------------------------------------

    def look(self, now: int) -> Picture:
        """All that is there, and what is new in the histories since the last look."""
        row = self.run(self.pool.fetchrow(_LOOK, self._last_audit, self._looked_at))
        assert row is not None
        got = {key: json.loads(value or "[]") if isinstance(value, str | None) else value for key, value in row.items()}
        self._last_audit, self._looked_at = got["last_audit"], stamp(now)
        name = self._names
        return Picture(
            ready=[Run(name[r[0]], *r[1:]) for r in got["ready"]],
            scheduled=[Later(name[r[0]], *r[1:]) for r in got["scheduled"]],
            leases={r[0]: _lease(name[r[1]], *r[2:]) for r in got["leases"]},
            lanes={r[0]: (r[1], r[2], r[3]) for r in got["lanes"]},
            jobs={r[0]: JobRow(r[1], r[2], tuple(r[3:7]), *r[7:]) for r in got["jobs"]},
            items={(r[1], r[2]): self._item(r) for r in got["items"]},
            letters={Task(r[0], r[1], name[r[2]]): r[3] for r in got["letters"]},
            audit=[tuple(r) for r in got["audit"]],
            tried=Counter(Tried(r[0], r[1], name[r[2]], *r[3:]) for r in got["tried"]),
            all_tried=got["all_tried"],
            totals=got["totals"],
        )

    def _item(self, row: Sequence[Any]) -> ItemRow:
        pipeline, _, _, status, verdict, done, dead, error, result, given = row
        return ItemRow(
            status,
            verdict,
            self._mask(pipeline, done),
            self._mask(pipeline, dead),
            error,
            result or {},
            given if isinstance(given, int) else 0,
        )

    def _mask(self, pipeline: int, mask: int) -> frozenset[str]:
        known = self._masks.get((pipeline, mask))
        if known is None:
            known = frozenset(name for bit, name in self._bits[pipeline] if bit & mask)
            self._masks[pipeline, mask] = known
        return known


def _lease(
    step: str, lane: int, job: int, worker: int, attempt: int, cancelled: bool, expires_at: int, ns: Any
) -> LeaseRow:
    return LeaseRow(step, lane, job, worker, attempt, cancelled, expires_at, _members(ns))


def _members(ranges: Sequence[tuple[int, int]]) -> set[int]:
    return {n for first, last in ranges for n in range(first, last + 1)}


def _times(now: int, run_at: int | None) -> dict[str, datetime | None]:
    return {"now": stamp(now), "run_at": None if run_at is None else stamp(run_at)}


def _definition(shape: Shape) -> dict[str, Any]:
    return {
        "name": shape.name,
        "steps": [
            {
                "name": s.name,
                "after": list(s.after),
                "optional": s.optional,
                "after_all": s.after_all,
                "queue": s.queue,
                "max_attempts": MAX_ATTEMPTS,
                "max_expiries": MAX_EXPIRIES,
            }
            for s in shape.steps
        ],
    }
