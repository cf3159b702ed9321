"""Whether the service lives, whether it can work, what there is to submit; and its numbers."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from forebay.api.deps import PipelinesDep, RoomsDep
from forebay.api.models import Model
from forebay.api.principal import Reader
from forebay.api.strict import StrictRoute
from forebay.db import migrate

router = APIRouter(tags=["health"], route_class=StrictRoute)


_SOON = 3.0  # who asks this has more patience with an answer than with none


class PipelineInfo(Model):
    name: str
    steps: list[str]
    input_schema: dict[str, Any]


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """The process answers."""
    return "ok"


@router.get("/readyz", response_class=PlainTextResponse)
async def readyz(rooms: RoomsDep) -> str:
    """The database can be reached, and its schema fits."""
    async with asyncio.timeout(_SOON), rooms.watch.acquire() as conn:
        await migrate.check(conn)
    return "ready"


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    return Response(await request.app.state.statistics.exposition(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/statistics")
async def statistics(who: Reader, request: Request) -> dict[str, Any]:
    """The same numbers as JSON."""
    found: dict[str, Any] = await request.app.state.statistics.as_json()
    return found


@router.get("/api/pipelines")
async def list_pipelines(who: Reader, pipelines: PipelinesDep) -> list[PipelineInfo]:
    """What can be submitted, with the JSON schema of each input."""
    return [
        PipelineInfo(name=name, steps=list(pipeline.steps), input_schema=pipeline.input.json_schema())
        for name, pipeline in sorted(pipelines.items())
    ]
