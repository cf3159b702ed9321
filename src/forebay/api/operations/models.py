"""The responses about the state of the system."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from forebay.api.models import DeadLetter, Id, Job, Model

if TYPE_CHECKING:
    from forebay.engine.db.lanes import AttemptRates, LaneRow
    from forebay.engine.db.overview import Depth, WorkerRow
    from forebay.engine.supervise.controllers import StepControl
    from forebay.engine.supervise.health import Part, Verdict

Level = Literal["OK", "WARN", "FAIL"]


class HealthPart(Model):
    level: Level
    text: str


class Health(Model):
    """The health of the system, by fixed rules."""

    level: Level
    sentence: str
    flow: HealthPart = Field(description="does work move?")
    execution: HealthPart = Field(description="does it succeed?")
    workers: HealthPart = Field(description="are the workers there?")
    ruled_out: list[str] = Field(description="what does not cause a problem")


def health_of(verdict: Verdict) -> Health:
    return Health(
        level=verdict.level,
        sentence=verdict.sentence,
        flow=_part(verdict.flow),
        execution=_part(verdict.execution),
        workers=_part(verdict.workers),
        ruled_out=verdict.ruled_out,
    )


def _part(part: Part) -> HealthPart:
    return HealthPart(level=part.level, text=part.text)


class Controllers(Model):
    """What the running workers do with a step, summed."""

    running: int
    limit: float = Field(description="how many tasks may run at a time")
    claim: float = Field(description="how many tasks a claim takes")
    item_ms: float | None = Field(description="mean milliseconds per item")


class StepDepth(Model):
    """The tasks of one step."""

    pipeline: str
    step: str
    queue: str
    ready: int
    scheduled: int
    processing: int
    on_hold: int = Field(description="of paused jobs, items and queues")
    next_at: datetime | None
    paused: bool
    parked: str | None = Field(description="why the queue needs set-up")
    probe_at: datetime | None = Field(description="when a queue that needs set-up is tried again")
    oldest_at: datetime | None = Field(description="when the oldest job with ready tasks was submitted")
    controllers: Controllers | None = Field(description="for administrators; null if no running worker has the step")


def step_depth(depth: Depth, control: StepControl | None) -> StepDepth:
    return StepDepth(
        pipeline=depth.pipeline,
        step=depth.step,
        queue=depth.queue,
        ready=depth.ready,
        scheduled=depth.scheduled,
        processing=depth.leased,
        on_hold=depth.on_hold,
        next_at=depth.next_at,
        paused=depth.paused,
        parked=depth.parked,
        probe_at=depth.probe_at if depth.parked else None,
        oldest_at=depth.oldest_at,
        controllers=None if control is None else Controllers.model_validate(control, from_attributes=True),
    )


class WorkerSummary(Model):
    name: str
    is_running: bool
    stuck: bool
    in_flight: int
    settled: int = Field(description="attempts since its start")
    stale_reports: int
    up_since: datetime
    last_seen: datetime
    claim_share: float | None = Field(description="less than 1: the machine is short of memory or CPU")


def worker_summary(row: WorkerRow) -> WorkerSummary:
    return WorkerSummary(
        name=row.name,
        is_running=row.alive,
        stuck=row.stuck,
        in_flight=row.in_flight,
        settled=row.settled,
        stale_reports=row.stale,
        up_since=row.started_at,
        last_seen=row.seen_at,
        claim_share=row.stats.get("machine", {}).get("share"),
    )


class WorkerCounts(Model):
    alive: int
    stuck: int
    total: int


class Lane(Model):
    """What waits and runs in one lane. The rate and the shares are those of its owner."""

    owner: str
    job_id: Id | None = Field(description="null: the lane of the owner's small jobs")
    limit_name: str | None = Field(description="the limit whose key the tasks of this lane share")
    limit_key: str | None
    priority: int
    weight: float
    paused: bool
    ready: int
    running: int
    served_per_s: float = Field(description="attempts per second that workers settled in the last seconds")
    share: float | None = Field(description="of all attempts; null if none were settled")
    fair_share: float | None = Field(description="by weight, among owners with tasks that may run; null if it has none")


def lane_of(row: LaneRow, rates: AttemptRates, fair_share: float | None) -> Lane:
    return Lane(
        owner=row.owner,
        job_id=row.job_id or None,  # type: ignore[arg-type]
        limit_name=row.limit_name or None,
        limit_key=row.limit_key or None,
        priority=row.priority,
        weight=row.weight,
        paused=row.paused,
        ready=row.ready,
        running=row.running,
        served_per_s=rates.by_owner.get(row.owner_id, 0.0),
        share=rates.share(row.owner_id),
        fair_share=fair_share,
    )


class OwnerShare(Model):
    """An owner with tasks that may run, and its share of the workers."""

    owner: str
    weight: float
    ready: int
    running: int
    served_per_s: float
    share: float | None
    fair_share: float


class LaneList(Model):
    at: datetime
    lanes: list[Lane] = Field(description="those with the most work")
    owners: list[OwnerShare] = Field(description="those with the most work; for others than administrators, the caller")
    owner_count: int = Field(description="owners with tasks that may run")
    served_per_s: float = Field(description="attempts per second of all owners")


class Overview(Model):
    """The state of the system at one time: that of the caller's work, or for administrators of everything."""

    at: datetime
    health: Health
    tasks_per_s: float | None = Field(description="attempts per second that workers settled in the last seconds")
    items_per_s: float | None = Field(description="of the listed jobs, between this answer and those before it")
    steps: list[StepDepth]
    workers: WorkerCounts
    worker_list: list[WorkerSummary] = Field(description="for administrators; otherwise empty")
    lanes: list[Lane] = Field(description="those with the most work; `fairShare` is null here: see /api/lanes")
    jobs: list[Job] = Field(description="unfinished jobs, then the newest")
    dead_letters: list[DeadLetter] = Field(description="the newest")
    failed_last_hour: int = Field(description="tasks that failed permanently, counted up to 1,000")
