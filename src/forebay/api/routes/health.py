"""Health checks, metrics and statistics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from forebay.api.auth.authentication import Reader
from forebay.api.auth.collectors import check_collector
from forebay.api.deps import RolePoolsDep
from forebay.api.metrics.service import owner_metrics
from forebay.api.strict_query import StrictRoute
from forebay.db import migrate
from forebay.db.schema_parts import all_parts
from forebay.engine.db import metrics as db
from forebay.engine.db import overview

if TYPE_CHECKING:
    from forebay.api.metrics.service import ServiceMetrics

router = APIRouter(tags=["health"], route_class=StrictRoute)

_SOON = 3.0  # a late answer is better than none


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """Whether the process is alive."""
    return "ok"


@router.get("/readyz", response_class=PlainTextResponse)
async def readyz(pools: RolePoolsDep) -> str:
    """Whether the database is reachable and its schema up to date."""
    async with asyncio.timeout(_SOON), pools.watch.acquire() as conn:
        await migrate.check(conn, all_parts())
    return "ready"


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus, with FOREBAY_METRICS_TOKEN or as administrator. Programs on this machine need neither,
    as long as the token and FOREBAY_TRUSTED_PROXIES are unset."""
    await check_collector(request)
    return Response(await request.app.state.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/statistics")
async def statistics(who: Reader, pools: RolePoolsDep, request: Request) -> dict[str, Any]:
    """The same metrics as JSON for administrators; for others, the metrics of their work."""
    metrics: ServiceMetrics = request.app.state.metrics
    if who.is_admin:
        return await metrics.as_json()
    async with pools.own(who) as conn:
        return owner_metrics(await overview.depth(conn), await db.count_items(conn))
