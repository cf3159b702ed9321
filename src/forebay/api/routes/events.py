"""What happens, as it happens: server-sent events."""

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
from forebay.api.events.subscribers import Wish
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
        Query(alias="jobId", pattern="^[0-9]{1,18}$", description="only this job, with its items and their progress"),
    ] = None,
    pipeline: Annotated[str | None, Query(max_length=63)] = None,
    user_id: Annotated[str, Query(alias="userId", description="me, or for administrators all", max_length=200)] = "me",
    after: Annotated[str | None, Query(description="the id of the last event that has come", max_length=400)] = None,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", description="the same; browsers send it")
    ] = None,
) -> EventStream:
    """Events until you leave: `ready` first, then `job` with a job's whole state whenever it has changed.

    With `jobId` the job as it is follows at once, later also `item`, an item of which a step has ended, and `progress`.
    States that follow one another quickly may come as one, the last. Come back with the id of the last event, and you
    get everything that has changed since; some of it a second time.
    """
    since = _mark(after, "query.after") if last_event_id is None else _mark(last_event_id, "header.Last-Event-ID")
    wish = await _wish(who, pools, whose(who, user_id), pipeline, None if job_id is None else int(job_id))
    hub: Hub = request.app.state.hub
    if hub.listeners_of(who.owner_id) >= settings.api_max_streams:
        most = settings.api_max_streams
        raise Problem(429, f"{most} event streams are open already: close one first", headers={"Retry-After": "5"})
    return EventStream(hub, wish, since, who.owner_id, partial(pools.of, who), partial(_is_welcome, request, wish))


def _mark(event_id: str | None, field: str) -> datetime | None:
    if event_id is None:
        return None
    try:
        mark: datetime = paging.decode(event_id, _moment)[0]
    except Problem as error:
        raise Problem(422, "is not the id of an event of ours", field=field) from error
    return mark


def _moment(value: Any) -> datetime:
    """A time at which there were events; others cannot even be reckoned with."""
    found = paging.moment(value)
    if not 2000 <= found.year < 9999:
        raise ValueError
    return found


async def _wish(
    who: Principal, pools: RolePools, owner_id: int | None, pipeline: str | None, job_id: int | None
) -> Wish:
    """Raises: NotFoundError when there is no such job that the caller may see."""
    if job_id is None:
        return Wish(owner_id, pipeline)
    async with pools.of(who) as conn:
        rows = await changes.jobs(conn, [job_id])
    if not rows or owner_id not in {None, rows[0]["owner_id"]}:
        raise NotFoundError("job", f"there is no job {job_id}")
    return Wish(rows[0]["owner_id"], pipeline, job_id)


async def _is_welcome(request: Request, wish: Wish) -> bool:
    """Whether the caller's session or token is still good for this. While the database is away, there is no news."""
    try:
        who = await authentication.find(request)
    except Problem:
        return False
    except UNAVAILABLE:
        return True
    return "read" in who.scopes and (who.is_admin or wish.owner_id == who.owner_id)
