"""The state of the system: overview, health, lanes, and series of the last hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from forebay.api.auth.authentication import Admin, Reader
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Model
from forebay.api.operations.controllers import (
    ControllerList,
    OwnerSeriesList,
    controller_list,
    owner_series,
)
from forebay.api.operations.depth_ring import EVERY_S
from forebay.api.operations.lane_lists import MOST_LANES
from forebay.api.operations.models import Health, LaneList, Overview
from forebay.api.operations.series import SeriesPoint, series_points
from forebay.api.routes.items import UserId
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import metrics, samples
from forebay.engine.db import overview as reports

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.metrics.service import ServiceMetrics
    from forebay.api.operations.depth_ring import DepthRing
    from forebay.api.operations.lane_lists import LaneLists
    from forebay.api.operations.overviews import Overviews
    from forebay.api.role_pools import RolePools

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)

Minutes = Annotated[int, Query(ge=1, le=60)]
Name = Annotated[str | None, Query(max_length=63)]
_HOUR = timedelta(hours=1)


class Series(Model):
    at: datetime = Field(description="when the attempts were counted: at most twice a minute")
    points: list[SeriesPoint] = Field(description="minutes without attempts of a step are left out")


class StepDepths(Model):
    """The tasks of one step at the times of `DepthSeries.at`."""

    pipeline: str
    step: str
    ready: list[int]
    scheduled: list[int]
    processing: list[int]
    on_hold: list[int]


class DepthSeries(Model):
    """Samples since the API process started. Steps without any task in this time are left out."""

    every_s: float
    at: list[datetime]
    steps: list[StepDepths]


@router.get("/overview")
async def get_overview(who: Reader, pools: RolePoolsDep, request: Request, user_id: UserId = "me") -> Overview:
    """Health, rates, steps, lanes, jobs and dead letters at a glance. It is read at most every two seconds: callers in
    between get the same answer."""
    return await _overview(who, pools, request, user_id)


@router.get("/health/verdict")
async def get_health(who: Reader, pools: RolePoolsDep, request: Request, user_id: UserId = "me") -> Health:
    """The health of the system in one sentence, by fixed rules, and what was ruled out."""
    return (await _overview(who, pools, request, user_id)).health


async def _overview(who: Principal, pools: RolePools, request: Request, user_id: str) -> Overview:
    overviews: Overviews = request.app.state.overviews
    owner_id = whose(who, user_id)
    return await overviews.get(owner_id, partial(pools.of if owner_id is None else pools.own, who))


@router.get("/lanes")
async def list_lanes(
    who: Reader,
    pools: RolePoolsDep,
    request: Request,
    user_id: UserId = "me",
    limit: Annotated[int, Query(ge=1, le=MOST_LANES)] = 100,
) -> LaneList:
    """The lanes with the most work, and how the owners share the workers. It is read at most every two seconds."""
    lists: LaneLists = request.app.state.lane_lists
    owner_id = whose(who, user_id)
    return await lists.get(owner_id, partial(pools.of if owner_id is None else pools.own, who), limit)


@router.get("/series")
async def get_series(
    who: Admin, request: Request, minutes: Minutes = 60, pipeline: Name = None, step: Name = None
) -> Series:
    """The attempts of the last minutes, by minute and step: outcomes, classes of errors, and durations."""
    service: ServiceMetrics = request.app.state.metrics
    window, at = await service.window()
    return Series(at=at, points=series_points(window, at - timedelta(minutes=minutes), pipeline, step))


@router.get("/series/depth")
async def get_depth_series(
    who: Admin, request: Request, minutes: Minutes = 60, pipeline: Name = None, step: Name = None
) -> DepthSeries:
    """The waiting and running tasks of the last minutes, by step, every ten seconds."""
    ring: DepthRing = request.app.state.depth_ring
    found = ring.newest(timedelta(minutes=minutes))
    names = sorted({name for sample in found for name in sample.steps if _fits(name, pipeline, step)})
    return DepthSeries(
        every_s=EVERY_S,
        at=[sample.at for sample in found],
        steps=[
            StepDepths(
                pipeline=name[0],
                step=name[1],
                ready=[depth.ready if (depth := sample.steps.get(name)) else 0 for sample in found],
                scheduled=[depth.scheduled if (depth := sample.steps.get(name)) else 0 for sample in found],
                processing=[depth.leased if (depth := sample.steps.get(name)) else 0 for sample in found],
                on_hold=[depth.on_hold if (depth := sample.steps.get(name)) else 0 for sample in found],
            )
            for name in names
        ],
    )


@router.get("/controllers")
async def list_controllers(who: Admin, pools: RolePoolsDep) -> ControllerList:
    """The controllers of all steps: concurrency, claim size and lease time, with bounds, inputs and the last hour."""
    async with pools.of(who) as conn:
        at = await metrics.now(conn)
        workers = await reports.workers(conn)
        return controller_list(at, workers, await samples.controllers(conn, at - _HOUR))


@router.get("/series/owners")
async def get_owner_series(who: Admin, pools: RolePoolsDep) -> OwnerSeriesList:
    """How the owners with the most work shared the workers in the last hour, by minute."""
    async with pools.of(who) as conn:
        return owner_series(await samples.owners(conn, await metrics.now(conn) - _HOUR))


def _fits(name: tuple[str, str], pipeline: str | None, step: str | None) -> bool:
    return (pipeline is None or name[0] == pipeline) and (step is None or name[1] == step)
