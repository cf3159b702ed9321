"""Health checks, metrics and statistics."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from forebay.api.auth.authentication import Reader, address_of, authorized
from forebay.api.deps import RolePoolsDep
from forebay.api.metrics.service import owner_metrics
from forebay.api.strict_query import StrictRoute
from forebay.db import migrate
from forebay.db.schema_parts import all_parts
from forebay.engine.db import metrics as db
from forebay.engine.db import overview
from forebay.identity import secrets

if TYPE_CHECKING:
    from forebay.api.metrics.service import ServiceMetrics
    from forebay.settings import Settings

router = APIRouter(tags=["health"], route_class=StrictRoute)


_PASSED_ON = frozenset(("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"))
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
    await _check_collector(request)
    return Response(await request.app.state.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


async def _check_collector(request: Request) -> None:
    """Raises: Problem 401 or 403."""
    settings: Settings = request.app.state.settings
    shown, expected = request.headers.get("authorization"), settings.metrics_token
    if expected is None and shown is None and _is_here(request, settings):
        return
    if shown and expected and secrets.is_same(shown, f"Bearer {expected.get_secret_value()}"):
        return
    await authorized(request, "admin")


def _is_here(request: Request, settings: Settings) -> bool:
    """Whether the request comes from a program on this machine. A local proxy forwards requests of others and need not
    say so: the API must listen locally, without trusted proxies, and be called by a name of this machine."""
    address = address_of(request)
    return (
        settings.is_local
        and not settings.trusted_proxies.strip()
        and address is not None
        and ip_address(address).is_loopback
        and _names_this_machine(request.headers.get("host", ""))
        and _PASSED_ON.isdisjoint(request.headers.keys())
    )


def _names_this_machine(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


@router.get("/api/statistics")
async def statistics(who: Reader, pools: RolePoolsDep, request: Request) -> dict[str, Any]:
    """The same metrics as JSON for administrators; for others, the metrics of their work."""
    metrics: ServiceMetrics = request.app.state.metrics
    if who.is_admin:
        return await metrics.as_json()
    async with pools.own(who) as conn:
        return owner_metrics(await overview.depth(conn), await db.count_items(conn))
