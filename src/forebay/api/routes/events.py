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
from forebay.api.events.streams import EventStream
from forebay.api.events.subscribers import EventFilter
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


@router.get("/events", status_code=200, response_class=EventStream)
async def stream_events(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    request: Request,
    job_id: Annotated[
        str | None,
        Query(alias="jobId", pattern="^[0-9]{1,18}$", description="only this job, with its items and progress"),
    ] = None,
    pipeline: Annotated[str | None, Query(max_length=63)] = None,
    user_id: Annotated[str, Query(alias="userId", description="`me`; administrators: `all`", max_length=200)] = "me",
    after: Annotated[str | None, Query(description="id of the last event that was received", max_length=400)] = None,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", description="the same; sent by browsers")
    ] = None,
) -> EventStream:
    """Stream events: first `ready`, then `job` with the state of a job whenever it changes.

    With `jobId`, the stream begins with the current state of the job and also has `item`, sent when a step of an item
    ends, and `progress`. Quick successive changes may be merged into the last one. Reconnect with the id of the
    last event to get everything that has changed since; some events may be repeated.
    """
    since = _mark(after, "query.after") if last_event_id is None else _mark(last_event_id, "header.Last-Event-ID")
    event_filter = await _event_filter(
        who, pools, whose(who, user_id), pipeline, None if job_id is None else int(job_id)
    )
    hub: Hub = request.app.state.hub
    if hub.listeners_of(who.owner_id) >= settings.api_max_streams:
        most = settings.api_max_streams
        raise Problem(429, f"{most} event streams are already open: close one first", headers={"Retry-After": "5"})
    return EventStream(
        hub, event_filter, since, who.owner_id, partial(pools.of, who), partial(_is_authorized, request, event_filter)
    )


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
    who: Principal, pools: RolePools, owner_id: int | None, pipeline: str | None, job_id: int | None
) -> EventFilter:
    """Raises: NotFoundError when the caller may see no such job."""
    if job_id is None:
        return EventFilter(owner_id, pipeline)
    async with pools.of(who) as conn:
        rows = await changes.jobs(conn, [job_id])
    if not rows or owner_id not in {None, rows[0]["owner_id"]}:
        raise NotFoundError("job", f"there is no job {job_id}")
    return EventFilter(rows[0]["owner_id"], pipeline, job_id)


async def _is_authorized(request: Request, event_filter: EventFilter) -> bool:
    """Whether the caller's session or token is still valid. While the database is unavailable, no events are sent."""
    try:
        who = await authentication.find(request)
    except Problem:
        return False
    except UNAVAILABLE:
        return True
    return "read" in who.scopes and (who.is_admin or event_filter.owner_id == who.owner_id)
