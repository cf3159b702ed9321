"""Server-sent events."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Query, Request

from forebay.api import paging
from forebay.api.auth import authentication
from forebay.api.auth.authentication import Reader
from forebay.api.deps import RolePoolsDep, SettingsDep
from forebay.api.events.event import EventData
from forebay.api.events.streams import EventStream
from forebay.api.events.topics import EventFilter, Wanted, parse
from forebay.api.problems import Problem
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import changes
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.events.hub import Hub
    from forebay.api.role_pools import RolePools

router = APIRouter(prefix="/api", tags=["events"], route_class=StrictRoute)


@router.get(
    "/events",
    status_code=200,
    response_class=EventStream,
    responses={200: {"model": EventData, "description": "Server-sent events: the schema is that of their data"}},
)
async def stream_events(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    request: Request,
    topics: Annotated[
        str | None,
        Query(
            max_length=2000,
            description="comma-separated: `jobs` (all jobs), `items:JOB` (one job with its items; up to 50), or the "
            "name of a registered topic; without it, `jobs`",
        ),
    ] = None,
    job_id: Annotated[
        str | None,
        Query(alias="jobId", pattern="^[0-9]{1,18}$", description="only this job, as the only topic `items:JOB`"),
    ] = None,
    pipeline: Annotated[str | None, Query(max_length=63, description="only jobs of this pipeline")] = None,
    user_id: Annotated[str, Query(alias="userId", description="`me`; administrators: `all`", max_length=200)] = "me",
    after: Annotated[str | None, Query(description="id of the last event that was received", max_length=400)] = None,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", description="the same; sent by browsers")
    ] = None,
) -> EventStream:
    """Stream events: first `ready`, then the events of the topics, and `tick` every 15 seconds.

    `jobs` sends `job` with the state of a job whenever it changes, and `gone` when it is deleted. `items:JOB` begins
    with the current state of the job and also sends `item` when a step of an item ends, and `progress`. For a job of
    more than 5,000 items it sends `digest` instead: the range of the items that may have changed, and the counters of
    the job. A job that does not exist is `gone`. Quick successive changes may be merged into the last one. Reconnect
    with the id of the last event to get everything that has changed since; some events may be repeated.
    """
    since = _mark(after, "query.after") if last_event_id is None else _mark(last_event_id, "header.Last-Event-ID")
    hub: Hub = request.app.state.hub
    wanted = _wanted(topics, job_id, hub)
    event_filter = await _event_filter(who, pools, whose(who, user_id), pipeline, wanted)
    if job_id is not None and event_filter.missing:
        raise NotFoundError("job", f"there is no job {job_id}")
    if hub.listeners_of(who.owner_id) >= settings.api_max_streams:
        most = settings.api_max_streams
        raise Problem(429, f"{most} event streams are already open: close one first", headers={"Retry-After": "5"})
    return EventStream(
        hub, event_filter, since, who.owner_id, partial(pools.of, who), partial(_is_authorized, request, event_filter)
    )


def _wanted(topics: str | None, job_id: str | None, hub: Hub) -> Wanted:
    if topics is None:
        return Wanted(has_jobs=True) if job_id is None else Wanted(job_ids=frozenset({int(job_id)}))
    if job_id is not None:
        raise Problem(422, f"cannot be combined with `topics`: add items:{job_id} to them", field="query.jobId")
    return parse(topics, hub.topics.keys())


def _mark(event_id: str | None, field: str) -> datetime | None:
    if event_id is None:
        return None
    try:
        mark: datetime = paging.decode(event_id, _moment)[0]
    except Problem as error:
        raise Problem(422, "is not the id of an event", field=field) from error
    return mark


def _moment(value: Any) -> datetime:
    """A plausible time of an event; arithmetic with others would overflow."""
    found = paging.moment(value)
    if not 2000 <= found.year < 9999:
        raise ValueError
    return found


async def _event_filter(
    who: Principal, pools: RolePools, owner_id: int | None, pipeline: str | None, wanted: Wanted
) -> EventFilter:
    owners: dict[int, int] = {}
    if wanted.job_ids:
        async with pools.of(who) as conn:
            found = {row["id"]: row["owner_id"] for row in await changes.jobs(conn, sorted(wanted.job_ids))}
        owners = {job_id: owner for job_id, owner in found.items() if owner_id in {None, owner}}
    if owner_id is None and len(set(owners.values())) == 1 and not (wanted.has_jobs or wanted.named):
        (owner_id,) = set(owners.values())  # the jobs of others need not be read
    return EventFilter(
        owner_id, pipeline, frozenset(owners), wanted.has_jobs, wanted.named, wanted.job_ids - owners.keys()
    )


async def _is_authorized(request: Request, event_filter: EventFilter) -> bool:
    """Whether the caller's session or token is still valid. While the database is unavailable, no events are sent."""
    try:
        who = await authentication.find(request)
    except Problem:
        return False
    except UNAVAILABLE:
        return True
    return "read" in who.scopes and (who.is_admin or event_filter.owner_id == who.owner_id)
