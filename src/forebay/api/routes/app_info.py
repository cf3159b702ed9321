"""What the web app needs to know before its first page: the caller, features, limits and pipelines."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from forebay.api import paging
from forebay.api.auth.authentication import Reader
from forebay.api.deps import PipelinesDep, RolePoolsDep, SettingsDep
from forebay.api.models import Model
from forebay.api.routes.sessions import Me, me_of
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import overview
from forebay.packages import failures, leave_out, package_of, packages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.step import Step
    from forebay.settings import Settings

router = APIRouter(prefix="/api", tags=["app"], route_class=StrictRoute)


class RetryInfo(Model):
    attempts: int
    not_found: int = Field(description="attempts that may end with NOT_FOUND")


class StepInfo(Model):
    """A step as it is declared."""

    name: str
    after: list[str] = Field(description="the steps whose results it takes")
    optional: bool = Field(description="its failure does not fail the item")
    after_all: bool = Field(description="runs once per job, after all items have ended")
    batch: int | None = Field(description="the number of items that it takes per call; null: one")
    kind: Literal["async", "thread", "process"]
    queue: str
    retry: RetryInfo
    timeout_s: float | None = Field(description="of one attempt; null: none")
    doc: str = Field(description="the first paragraph of its docstring")


class PipelineInfo(Model):
    name: str
    title: str
    noun: str = Field(description="what one item is called, in the singular")
    internal: bool = Field(description="its jobs cannot be submitted through the API")
    package: str | None = Field(description="the package that declares it; its pages have the same name")
    steps: list[StepInfo] = Field(description="in the order of declaration: a step comes after those that it follows")
    input_schema: dict[str, Any] = Field(description="the JSON schema of an item's input")


class AppLimits(Model):
    page: int = Field(description="rows of a page")
    upload_bytes: int
    items: int = Field(description="items in one JSON request")
    streams: int = Field(description="concurrent event streams of one owner")
    link_s: float = Field(description="how long a link to a file is valid")


class AppInfo(Model):
    me: Me
    version: str
    features: dict[str, bool] = Field(description="what is switched on and installed, by name")
    limits: AppLimits
    pipelines: list[PipelineInfo]
    problems: int = Field(description="queues that wait until something is set up, and packages that are left out")
    event_id: str = Field(
        description="as `after` of `/api/events`: a stream that begins with it misses nothing that changes from now on"
    )


@router.get("/app")
async def get_app(
    who: Reader, pools: RolePoolsDep, settings: SettingsDep, pipelines: PipelinesDep, request: Request
) -> AppInfo:
    """The caller, the version, features, limits and pipelines: everything that the web app needs at its start."""
    # Before anything is read. The clocks of the API and the database may differ by less than a stream reads back.
    event_id = paging.encode(datetime.now(UTC))
    async with pools.of(who) as conn:
        parked = {depth.queue for depth in await overview.depth(conn) if depth.parked}
    return AppInfo(
        me=await me_of(who, pools, request),
        version=metadata.version("forebay"),
        features=_features(settings),
        limits=AppLimits(
            page=settings.api_max_page,
            upload_bytes=settings.api_max_upload_bytes,
            items=settings.api_max_items,
            streams=settings.api_max_streams,
            link_s=settings.link_s,
        ),
        pipelines=_pipelines(pipelines),
        problems=len(parked) + len(failures()),
        event_id=event_id,
    )


@router.get("/pipelines")
async def list_pipelines(who: Reader, pipelines: PipelinesDep) -> list[PipelineInfo]:
    """The pipelines: their steps in order, what each follows, and the JSON schema of the input."""
    return _pipelines(pipelines)


def _features(settings: Settings) -> dict[str, bool]:
    found = {"pending": settings.pending_enabled, "kickoff": settings.kickoff_enabled}
    for package in packages():
        try:
            own: Mapping[str, bool] = {} if package.features is None else package.get(package.features)(settings)
        except Exception as error:  # any error of the package
            leave_out(package, error)
        else:
            found |= own
    return found


def _pipelines(pipelines: Mapping[str, Pipeline[Any]]) -> list[PipelineInfo]:
    return [
        PipelineInfo(
            name=name,
            title=pipeline.title,
            noun=pipeline.noun,
            internal=pipeline.internal,
            package=package_of(pipeline),
            steps=[_step(step) for step in pipeline.steps.values()],
            input_schema=pipeline.input.json_schema(),
        )
        for name, pipeline in sorted(pipelines.items())
    ]


def _step(step: Step[Any, Any]) -> StepInfo:
    return StepInfo(
        name=step.name,
        after=[parent.name for parent in step.after],
        optional=step.optional,
        after_all=step.after_all,
        batch=step.batch_size,
        kind=step.kind.value,
        queue=step.queue,
        retry=RetryInfo(attempts=step.retry.attempts, not_found=step.retry.not_found),
        timeout_s=step.timeout,
        doc=" ".join((inspect.getdoc(step.fn) or "").partition("\n\n")[0].split()),
    )
