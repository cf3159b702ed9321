"""Queues and workers: state and control for operators."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import Field

from forebay.api.auth.authentication import Admin, Reader
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Model
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control, metrics, overview
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.auth.authentication import Principal
    from forebay.engine.db.overview import Depth, WorkerRow

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)

log = get_logger("api")

QueueName = Annotated[str, Path(max_length=200)]


class Queue(Model):
    pipeline: str
    step: str
    queue: str
    pending: int = Field(description="ready or scheduled")
    processing: int
    on_hold: int = Field(description="of paused jobs, items and queues")
    next_at: datetime | None
    paused: bool
    parked: str | None


class Totals(Model):
    """The number of items of a pipeline, by status, in all stored jobs."""

    pipeline: str
    total: int
    pending: int
    processing: int
    done: int
    skipped: int
    not_found: int
    error: int


class QueueChanged(Model):
    changed: bool


class ClaimSize(Model):
    """How many tasks the worker claims at a time."""

    item_ms: float | None = Field(default=None, description="mean duration of a task")
    value: float | None = None


class ConcurrencyLimit(Model):
    """How many tasks of a step run at a time: now, and the bounds of the adaptive limit."""

    limit: float | None = None
    least: float | None = None
    most: float | None = None
    latency_ms: float | None = None


class Failures(Model):
    """The recent share of failures, and how much slower the worker starts tasks because of them."""

    share: float | None = None
    spacing: float | None = None


class StepStatus(Model):
    """A step in one worker."""

    running: int = 0
    queued: int = Field(default=0, description="claimed, not started")
    ended: int = Field(default=0, description="since the start of the worker")
    limited: bool = Field(default=False, description="the step has declared limits")
    claim: ClaimSize | None = None
    concurrency: ConcurrencyLimit | None = None
    failures: Failures | None = None


class Machine(Model):
    """The machine of a worker, as the worker sees it."""

    share: float | None = Field(default=None, description="1: claims as much as it can; less: the machine is busy")
    lag_ms: float | None = Field(default=None, description="delay of the event loop")
    load: float | None = Field(default=None, description="runnable processes per core")
    free_memory: float | None = Field(default=None, description="share of free memory")


class WorkerStatus(Model):
    """A worker process."""

    name: str
    is_running: bool
    is_healthy: bool
    stuck: bool = Field(description="no attempt has ended for 5 minutes while work is pending")
    last_seen: datetime
    last_processed: datetime | None
    last_error: str | None = Field(description="for administrators only: it may concern any owner's work")
    processed_count: int
    succeeded_count: int
    failed_count: int
    in_flight: int
    stale_reports: int
    up_since: datetime
    up_seconds: float
    average_ms: float | None
    steps: dict[str, StepStatus] = Field(description="by pipeline.step")
    machine: Machine


class WorkerList(Model):
    is_running: bool = Field(description="at least one worker is alive")
    is_healthy: bool = Field(description="at least one worker is alive and none is stuck")
    workers: list[WorkerStatus] = Field(description="for administrators; otherwise empty")
    pending_count: int = Field(description="tasks of the caller that are waiting; for administrators, of all owners")


@router.get("/queues")
async def list_queues(who: Reader, pools: RolePoolsDep) -> list[Queue]:
    """Exact numbers of tasks per step: the caller's, or for administrators those of all owners."""
    async with pools.of(who) as conn:
        return [_queue(depth) for depth in await overview.depth(conn)]


def _queue(depth: Depth) -> Queue:
    return Queue(
        pipeline=depth.pipeline,
        step=depth.step,
        queue=depth.queue,
        pending=depth.waiting,
        processing=depth.leased,
        on_hold=depth.on_hold,
        next_at=depth.next_at,
        paused=depth.paused,
        parked=depth.parked,
    )


@router.post("/queues/{name}/pause")
async def pause_queue(name: QueueName, who: Admin, pools: RolePoolsDep) -> QueueChanged:
    """Pause a queue: workers claim nothing from it. Running tasks finish."""
    async with pools.of(who) as conn:
        changed = await control.pause_queue(conn, name, who.actor)
    return _steered("queue_paused", name, who, changed=changed)


@router.post("/queues/{name}/resume")
async def resume_queue(name: QueueName, who: Admin, pools: RolePoolsDep) -> QueueChanged:
    async with pools.of(who) as conn:
        changed = await control.resume_queue(conn, name, who.actor)
    return _steered("queue_resumed", name, who, changed=changed)


def _steered(event: str, queue: str, who: Principal, *, changed: bool) -> QueueChanged:
    if changed:
        log.info(event, queue=queue, by=who.actor)
    return QueueChanged(changed=changed)


@router.get("/totals")
async def list_totals(who: Reader, pools: RolePoolsDep) -> list[Totals]:
    """Exact numbers of items by status: the caller's, or for administrators those of all owners."""
    async with pools.of(who) as conn:
        return [_totals(asdict(counts)) for counts in await metrics.count_items(conn)]


def _totals(counts: dict[str, Any]) -> Totals:
    return Totals(total=sum(count for name, count in counts.items() if name != "pipeline"), **counts)


@router.get("/workers")
async def list_workers(who: Reader, pools: RolePoolsDep, request: Request) -> WorkerList:
    """Whether workers are running and healthy, and how many tasks wait; administrators also see each worker."""
    async with pools.of(who) as conn:
        rows = await overview.workers(conn)
        if not who.is_admin:
            return _worker_list(rows, [], sum(depth.waiting for depth in await overview.depth(conn)))
        errors = await overview.last_errors(conn)
    now = datetime.now(UTC)
    pending = await request.app.state.metrics.pending_count()
    return _worker_list(rows, [_worker(row, now, errors.get(row.id)) for row in rows], pending)


def _worker_list(rows: Sequence[WorkerRow], shown: list[WorkerStatus], pending: int) -> WorkerList:
    alive = [row for row in rows if row.alive]
    is_healthy = bool(alive) and not any(row.stuck for row in alive)
    return WorkerList(is_running=bool(alive), is_healthy=is_healthy, workers=shown, pending_count=pending)


def _worker(row: WorkerRow, now: datetime, last_error: str | None) -> WorkerStatus:
    stats = row.stats
    done = int(stats.get("succeeded", 0))
    seconds = float(stats.get("busy_s", 0.0))
    return WorkerStatus(
        name=row.name,
        is_running=row.alive,
        is_healthy=row.alive and not row.stuck,
        stuck=row.stuck,
        last_seen=row.seen_at,
        last_processed=stats.get("last_processed"),
        last_error=last_error,
        processed_count=done + int(stats.get("failed", 0)),
        succeeded_count=done,
        failed_count=int(stats.get("failed", 0)),
        in_flight=row.in_flight,
        stale_reports=row.stale,
        up_since=row.started_at,
        up_seconds=round((now - row.started_at).total_seconds(), 1),
        average_ms=round(seconds / done * 1000, 3) if done else None,
        steps={name: StepStatus.model_validate(about) for name, about in row.steps.items()},
        machine=Machine.model_validate(stats.get("machine", {})),
    )
