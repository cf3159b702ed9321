"""Schedules: list, pause, resume, and run now."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, PageSize, RolePoolsDep
from forebay.api.models import FromJson, Id, Model, Next, State
from forebay.api.routes.items import UserId
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import schedule_rows
from forebay.engine.maintenance import schedules
from forebay.errors import NotFoundError
from forebay.log import get_logger

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection

router = APIRouter(prefix="/api/schedules", tags=["operations"], route_class=StrictRoute)

log = get_logger("api")

# A name may contain a slash.
ScheduleName = Annotated[str, Path(description="name of the schedule", max_length=200)]


class Schedule(Model):
    name: str
    pipeline: str
    owner: str
    cron: str
    timezone: str
    priority: int
    paused: bool
    declared: bool = Field(description="by a pipeline: workers create it again if it is removed")
    overlap: bool = Field(description="false: a run is skipped while the job of the last one is open")
    backfill: bool = Field(description="each missed run is submitted, instead of one for all of them")
    jitter_seconds: float
    input: FromJson
    next_at: datetime | None = Field(description="null while it is paused")
    last_at: datetime | None = Field(description="when the last run was due")
    last_job_id: Id | None
    last_state: State | None = Field(description="of the last job; null if there was none, or it was deleted")


class SchedulePage(Model):
    schedules: list[Schedule]
    next: Next


class ScheduleRun(Model):
    job_id: Id
    created: bool = Field(description="false: the job of the last run is still open, and the schedule allows only one")


@router.get("")
async def list_schedules(
    who: Reader, pools: RolePoolsDep, size: PageSize, user_id: UserId = "me", after: After = None
) -> SchedulePage:
    """Schedules by name, with their next and last runs."""
    start = "" if after is None else paging.decode(after, paging.name)[0]
    async with pools.of(who) as conn:
        rows = await schedule_rows.page(conn, start, whose(who, user_id), size + 1)
    more = rows[size - 1]["name"] if len(rows) > size else None
    paging.tell("schedules", [row["name"] for row in rows[:size]], more)
    return SchedulePage(
        schedules=[_schedule(row) for row in rows[:size]], next=None if more is None else paging.encode(more)
    )


@router.post("/{name:path}/pause")
async def pause_schedule(name: ScheduleName, who: Writer, pools: RolePoolsDep) -> Schedule:
    """Pause a schedule: it submits nothing until it is resumed."""
    async with pools.of(who) as conn:
        await schedules.pause_schedule(conn, name, actor=who.actor)
        shown = await _find(conn, name)
    log.info("schedule_paused", schedule=name, by=who.actor)
    return shown


@router.post("/{name:path}/resume")
async def resume_schedule(name: ScheduleName, who: Writer, pools: RolePoolsDep) -> Schedule:
    """Resume a schedule at its next time; runs that were due during the pause are not submitted."""
    async with pools.of(who) as conn:
        await schedules.resume_schedule(conn, name, actor=who.actor)
        shown = await _find(conn, name)
    log.info("schedule_resumed", schedule=name, by=who.actor)
    return shown


@router.post("/{name:path}/run")
async def run_schedule(name: ScheduleName, who: Writer, pools: RolePoolsDep) -> ScheduleRun:
    """Submit a job of a schedule now; its next run stays as planned."""
    async with pools.of(who) as conn:
        job_id, created = await schedules.run_now(conn, name, who.actor)
    log.info("schedule_run", schedule=name, job=job_id, by=who.actor)
    return ScheduleRun(job_id=str(job_id), created=created)


async def _find(conn: Connection, name: str) -> Schedule:
    row = await schedule_rows.find(conn, name)
    if row is None:
        raise NotFoundError("name", f"there is no schedule {name!r}")
    return _schedule(row)


def _schedule(row: asyncpg.Record) -> Schedule:
    values: dict[str, Any] = dict(row)
    if values["paused"]:
        values["next_at"] = None
    return Schedule(jitter_seconds=values.pop("jitter_s"), **values)
