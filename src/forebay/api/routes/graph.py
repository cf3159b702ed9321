"""The steps of a job with the numbers of their tasks, and its items by status in slices of their numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from forebay.api.auth.authentication import Reader
from forebay.api.deps import JobId, RolePoolsDep
from forebay.api.models import Model
from forebay.api.routes.jobs import find_job
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import graph

router = APIRouter(prefix="/api", tags=["jobs"], route_class=StrictRoute)


class GraphStep(Model):
    """A step of a job, with the numbers of its tasks."""

    name: str
    after: list[str]
    optional: bool
    after_all: bool
    queue: str
    paused: bool
    parked: str | None
    waiting: int
    scheduled: int
    running: int
    on_hold: int
    done: int = Field(description="includes tasks that skipped their step, and those of optional steps that failed")
    failed: int
    not_found: int = Field(description="ended without what they looked for")
    skipped: int = Field(description="do not run, because a step before failed or the item was skipped")
    exact: bool


class Graph(Model):
    at: datetime
    steps: list[GraphStep]


class RibbonSlice(Model):
    """The items from one number to another, by status."""

    first_n: int = Field(alias="from")
    last_n: int = Field(alias="to")
    pending: int
    processing: int
    done: int
    skipped: int
    not_found: int
    error: int
    exact: bool


class Ribbon(Model):
    at: datetime
    slices: list[RibbonSlice]


@router.get("/jobs/{job_id}/graph")
async def job_graph(job_id: JobId, who: Reader, pools: RolePoolsDep) -> Graph:
    """The steps of a job, what each comes after, and the numbers of tasks that wait, run and have ended."""
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
        at, steps = datetime.now(UTC), await graph.graph(conn, job_id)
    return Graph(at=at, steps=[GraphStep.model_validate(step, from_attributes=True) for step in steps])


@router.get("/jobs/{job_id}/ribbon")
async def job_ribbon(
    job_id: JobId,
    who: Reader,
    pools: RolePoolsDep,
    buckets: Annotated[int, Query(ge=1, le=1000, description="maximum number of slices")] = 400,
) -> Ribbon:
    """The items of a job by status, in slices of their numbers."""
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
        at, slices = datetime.now(UTC), await graph.ribbon(conn, job_id, buckets)
    return Ribbon(at=at, slices=[RibbonSlice.model_validate(each, from_attributes=True) for each in slices])
