"""What helps to start a sheet: the mapping of a file with the same columns, and how long its rows will take."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fastapi import APIRouter, Request
from pydantic import Field
from pydantic_core import from_json

from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import JobId, PipelinesDep, RolePoolsDep
from forebay.api.models import Model
from forebay.api.operations.series import series_points
from forebay.api.problems import Problem
from forebay.api.routes.jobs import find_job
from forebay.api.strict_query import StrictRoute
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.routes.sheets import find_sheet

if TYPE_CHECKING:
    from forebay.api.metrics.attempt_window import AttemptWindow
    from forebay.api.metrics.service import ServiceMetrics
    from forebay.engine.declare.step import Step

router = APIRouter(prefix="/api/sheets", tags=["sheets"], route_class=StrictRoute)

_HOUR = timedelta(hours=1)
Whose: TypeAlias = Literal["own", "all"]
_OWN: Whose = "own"
_ALL: Whose = "all"
_MINUTES = 15  # of work that count for the pace


class Preset(Model):
    """The mapping that the owner used last for a file with the same columns."""

    mapping: dict[str, str] = Field(description="the column of each field")
    decimal_mark: str | None
    currency: str | None
    providers: list[str] | None
    used_at: datetime


class SheetPreset(Model):
    preset: Preset | None = Field(description="null: no file with these columns was mapped before")


class SheetEstimate(Model):
    """How long the rows of a sheet will take at the pace of such rows."""

    rows: int = Field(description="rows that have not ended")
    per_second: float | None = Field(description="mean of busy minutes; null: no row was looked up lately")
    seconds: float | None
    pace: Whose | None = Field(description="of the owner's last sheet, or of the sheets of all owners in the last hour")


@router.get("/{job_id}/preset")
async def get_preset(job_id: JobId, who: Reader, pools: RolePoolsDep) -> SheetPreset:
    """The mapping of columns that was kept for files with the same columns as this one."""
    async with pools.of(who) as conn:
        await find_sheet(conn, job_id)
        row = await sheets.preset(conn, job_id)
    if row is None:
        return SheetPreset(preset=None)
    mapping: dict[str, Any] = from_json(row["mapping"])
    return SheetPreset(
        preset=Preset(
            mapping=mapping["fields"],
            decimal_mark=mapping.get("decimal_mark"),
            currency=mapping.get("currency"),
            providers=row["providers"],
            used_at=row["used_at"],
        )
    )


@router.put("/{job_id}/preset", status_code=204)
async def keep_preset(job_id: JobId, who: Writer, pools: RolePoolsDep) -> None:
    """Keep the mapping of this sheet for the next file with the same columns."""
    async with pools.own(who) as conn:
        await find_sheet(conn, job_id)
        if not await sheets.keep_preset(conn, job_id):
            raise Problem(409, "the columns of this file are not known", field="columns")


@router.get("/{job_id}/estimate")
async def estimate(
    job_id: JobId, who: Reader, pools: RolePoolsDep, pipelines: PipelinesDep, request: Request
) -> SheetEstimate:
    """How long the rows that have not ended will take, at the pace of the owner's last sheet; of a first sheet, at that
    of the sheets of all owners."""
    async with pools.of(who) as conn:
        await find_sheet(conn, job_id)
        job = await find_job(conn, job_id)
        pipeline = pipelines.get(job.pipeline)
        step = None if pipeline is None else list(pipeline.steps.values())[-1]
        own = None if step is None else await sheets.own_pace(conn, job_id, step.name, step.retry.not_found)
    pace, whose = own, _OWN
    if own is None and step is not None:
        metrics: ServiceMetrics = request.app.state.metrics
        pace, whose = _pace(step, *await metrics.window()), _ALL
    rows = job.counters.pending
    if pace is None:
        return SheetEstimate(rows=rows, per_second=None, seconds=None, pace=None)
    return SheetEstimate(rows=rows, per_second=pace, seconds=rows / pace, pace=whose)


def _pace(step: Step[Any, Any], window: AttemptWindow, at: datetime) -> float | None:
    """Items per second that a step has ended in the last busy minutes. One that is not found is tried several times."""
    ended = [
        point.outcomes.get("DONE", 0)
        + point.outcomes.get("SKIPPED", 0)
        + point.outcomes.get("NOT_FOUND", 0) / step.retry.not_found
        for point in series_points(window, at - _HOUR, step.pipeline.name, step.name)
    ]
    busy = [items for items in ended if items > 0][-_MINUTES:]
    return sum(busy) / (60 * len(busy)) if busy else None
