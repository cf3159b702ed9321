"""The FastAPI application: its role pools, middleware, routes and error handlers."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from forebay.api import problems
from forebay.api.auth.authentication import CallerLookup
from forebay.api.events.hub import Hub
from forebay.api.file_access import FileAccess
from forebay.api.metrics.process import Meter, Timed
from forebay.api.metrics.service import ServiceMetrics
from forebay.api.middleware.direct import DirectRoutes
from forebay.api.middleware.forwarded import Forwarded
from forebay.api.middleware.guards import BodyLimit, CatchAll, SecurityHeaders
from forebay.api.middleware.request_ids import RequestIds
from forebay.api.operations.depth_ring import DepthRing
from forebay.api.operations.doctor import Doctor
from forebay.api.operations.lane_lists import LaneLists
from forebay.api.operations.overviews import Overviews
from forebay.api.quota import Quotas
from forebay.api.role_pools import open_role_pools
from forebay.api.routes import (
    app_info,
    dead_letters,
    demand,
    events,
    files,
    graph,
    health,
    identity,
    installation,
    items,
    job_lists,
    jobs,
    limits,
    operations,
    overview,
    owner_export,
    owners,
    pages,
    preferences,
    schedules,
    sessions,
    signals,
    storage,
    suggest,
    web,
    why,
)
from forebay.api.submit.batches import SubmitBatches
from forebay.api.submit.first_submits import FirstSubmits
from forebay.engine.processes.limited_calls import open_limited_calls
from forebay.packages import api_lifespans, larger_bodies, leave_out, packages
from forebay.telemetry import tracing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from fastapi import APIRouter

    from forebay.api.operations.doctor import Examine
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings


def create_app(
    dsn: str, settings: Settings, pipelines: Sequence[Pipeline[Any]], *, examine: Examine | None = None
) -> FastAPI:
    """Create the API for the database at `dsn` and these pipelines; `examine` gives the findings of /api/doctor."""
    meter = Meter()
    first_submits = FirstSubmits(dsn, settings, pipelines)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        overviews = Overviews()
        async with (
            open_role_pools(dsn, settings, meter) as pools,
            Hub(pools.watch, topics=[overviews]).running() as hub,
            open_limited_calls(settings) as limited,
            DepthRing(pools.watch).running() as depth_ring,
        ):
            app.state.pools, app.state.hub, app.state.limited = pools, hub, limited
            app.state.callers, app.state.submits = CallerLookup(pools.identity), SubmitBatches(pools.owners)
            app.state.metrics, app.state.depth_ring = ServiceMetrics(pools, meter), depth_ring
            app.state.overviews, app.state.lane_lists = overviews, LaneLists(pools.watch)
            await first_submits.register_on_start()
            async with AsyncExitStack() as opened:
                for opening in api_lifespans():
                    await opened.enter_async_context(opening(app))
                yield

    app = FastAPI(
        title="forebay",
        version=metadata.version("forebay"),
        description="A durable job queue and pipeline engine on PostgreSQL.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page loads scripts from another host; routes/pages.py replaces it
        redoc_url=None,
        redirect_slashes=False,  # the redirect would go to the host that the request names
        openapi_url="/api/openapi.json",
        telemetry=_NONE_OF_ITS_OWN,
        responses={
            code: {"description": what, "content": {problems.MEDIA_TYPE: {"schema": _PROBLEM}}}
            for code, what in _PROBLEMS.items()
        },
    )
    app.state.dsn, app.state.settings = dsn, settings
    app.state.pipelines = {pipeline.name: pipeline for pipeline in pipelines}
    app.state.meter, app.state.first_submits = meter, first_submits
    app.state.quotas = Quotas(settings)
    app.state.doctor = None if examine is None else Doctor(examine)
    app.state.file_access = FileAccess(settings)
    app.state.slices = set[int]()
    problems.install(app)
    routers = [each.router for each in _ROUTES]
    routers += _package_routers()
    app.add_middleware(DirectRoutes, routes=[route for router in routers for route in router.routes])
    app.add_middleware(CatchAll)
    app.add_middleware(
        BodyLimit,
        most=settings.api_max_body_bytes,
        most_uploaded=settings.api_max_upload_bytes,
        larger=larger_bodies(),
    )
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Timed, meter=meter)  # added last, runs first: it also measures the middleware above
    if (tracer := tracing.tracer()) is not None:
        from forebay.api.middleware.tracing import Traced  # noqa: PLC0415 - needs an extra

        app.add_middleware(Traced, tracer=tracer)
    app.add_middleware(RequestIds)
    app.add_middleware(Forwarded, trusted=settings.trusted_proxies, meter=meter)
    for router in routers:
        app.include_router(router)
    app.router.routes.append(web.route)  # last: it answers for paths that no other route has
    return app


def _package_routers() -> list[APIRouter]:
    routers: list[APIRouter] = []
    for package in packages():
        try:
            routers += list(package.routers())
        except Exception as error:  # the package's own
            leave_out(package, error)
    return routers


_ROUTES = (
    job_lists,  # first: `/api/jobs/{job_id}` would match them
    jobs,
    graph,
    items,
    why,
    dead_letters,
    signals,
    files,
    events,
    overview,
    operations,
    demand,
    owners,
    limits,
    schedules,
    storage,
    installation,
    sessions,
    preferences,
    owner_export,
    identity,
    app_info,
    health,
    pages,
    suggest,
)

# Newer versions trace by default, including queries and error messages. Older versions ignore the argument.
_NONE_OF_ITS_OWN: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}

_PROBLEMS: dict[int | str, str] = {
    400: "The request is invalid",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not there",
    409: "Not possible in the current state",
    413: "Too large",
    415: "The media type is not supported",
    422: "A field is invalid: `errors` names it and the reason",
    429: "A limit is reached: `Retry-After` says when to try again",
    503: "The database is unavailable or the server is busy: `Retry-After` says when to try again",
}

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "id": {"type": "string", "description": "what an earlier request with this Idempotency-Key created"},
        "signIn": {"type": "string", "description": "401: the page to sign in at"},
        "requestId": {"type": "string", "description": "the `request` of the lines in the server's log about it"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "reason"],
                "properties": {"field": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
    },
}
