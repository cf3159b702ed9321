"""Items, attempts, dead letters and the audit."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

from fastapi import APIRouter, Query, Request

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, ItemId, JobId, PageSize, RolePoolsDep, SettingsDep
from forebay.api.item_models import AttemptPage, Item, ItemChanged, ItemPage, ItemStep, SignalWait, attempt_of, item_row
from forebay.api.models import (
    AuditPage,
    DeadLetterPage,
    Outcome,
    Status,
    audit_of,
    children_of,
    dead_letter_of,
    parsed,
)
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware, find_job, whose
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control, lists
from forebay.engine.db.lists import AttemptFilter, AuditFilter, DeadLetterFilter, ItemFilter, PendingFilter
from forebay.errors import ConflictError, NotFoundError
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.engine.db.lists import WaitRow

router = APIRouter(prefix="/api", tags=["items"], route_class=StrictRoute)

log = get_logger("api")

_STATUSES = get_args(Status)
_ATTEMPTS_SHOWN = 200
Statuses = Annotated[
    str | None,
    Query(description="comma-separated: PENDING,PROCESSING,DONE,ERROR,NOT_FOUND,SKIPPED", max_length=200),
]
UserId = Annotated[str, Query(alias="userId", description="`me`; administrators: `all`", max_length=200)]


@router.get("/jobs/{job_id}/items")
async def list_items(
    job_id: JobId,
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    statuses: Statuses = None,
    status: Annotated[str | None, Query(description="the same as `statuses`", max_length=200)] = None,
    step: Annotated[
        str | None,
        Query(max_length=63, description="only items that wait, run or have ended without success in this step"),
    ] = None,
    since: Annotated[datetime | None, Query(alias="from", description="updated since then")] = None,
    until: Annotated[datetime | None, Query(alias="to", description="updated before then")] = None,
    after: After = None,
    sort: Annotated[str, Query(pattern="^number$", description="items are in the order of submission")] = "number",
) -> ItemPage:
    """Items in the order of submission. Their numbers never change, so paging skips none while they are processed."""
    if status is not None and statuses is not None:
        raise Problem(422, "is the same as `statuses`: send one of them", field="query.status")
    start = 0 if after is None else paging.decode(after, paging.small)[0]
    where = ItemFilter(chosen(statuses or status), aware(since, "from"), aware(until, "to"))
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
        if step is None:
            rows, more = await lists.items(conn, job_id, start, where, size)
        else:
            rows, more = await _items_at(conn, job_id, step, start, where, size)
    paging.tell("items", [row["n"] for row in rows], more)
    return ItemPage(items=[item_row(row) for row in rows], next=None if more is None else paging.encode(more))


async def _items_at(
    conn: Connection, job_id: int, step: str, start: int, where: ItemFilter, size: int
) -> tuple[list[asyncpg.Record], int | None]:
    try:
        rows, more = await lists.items_at_step(conn, job_id, step, start, size)
    except NotFoundError as error:
        raise Problem(422, error.reason, field="query.step") from error
    return [row for row in rows if _fits(row, where)], more


def _fits(row: asyncpg.Record, where: ItemFilter) -> bool:
    return (
        (where.statuses is None or row["status"] in where.statuses)
        and (where.since is None or row["updated_at"] >= where.since)
        and (where.until is None or row["updated_at"] < where.until)
    )


def chosen(statuses: str | None) -> list[str] | None:
    if statuses is None:
        return None
    wanted = [status.strip() for status in statuses.split(",")]
    if wrong := [status for status in wanted if status not in _STATUSES]:
        raise Problem(
            422, f"unknown status {wrong[0][:40]!r}; the statuses are {', '.join(_STATUSES)}", field="query.statuses"
        )
    return wanted


@router.get("/jobs/{job_id}/items/{item_id}")
async def get_item(job_id: JobId, item_id: ItemId, who: Reader, pools: RolePoolsDep) -> Item:
    """An item with its steps, results, attempts, and the signals that it waits for."""
    async with pools.of(who) as conn:
        row = await lists.item(conn, job_id, item_id)
        if row is None:
            raise NotFoundError("item", f"there is no item {item_id} in job {job_id}")
        tries, more = await lists.attempts(conn, AttemptFilter(job_id=job_id, n=item_id), None, _ATTEMPTS_SHOWN)
        steps = await lists.steps(conn, job_id, item_id)
        waits = await lists.waits(conn, job_id, item_id)
    return _item(row, steps, tries, waits, attempts_cut=more is not None)


def _item(
    row: asyncpg.Record,
    steps: list[asyncpg.Record],
    tries: list[asyncpg.Record],
    waits: list[WaitRow],
    *,
    attempts_cut: bool,
) -> Item:
    values: dict[str, Any] = dict(row)
    for name in ("input", "normalized", "result"):
        values[name] = None if values[name] is None else parsed(values[name])
    values["children"] = children_of(values["children"])
    stored: Any = values["result"]
    results = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
    return Item(
        id=values.pop("n"),
        steps=[ItemStep(result=results.get(step["name"]), **dict(step)) for step in steps],
        waits=[SignalWait(step=each.step, signal=each.signal, key=each.key, until=each.until) for each in waits],
        attempts=[attempt_of(one) for one in tries],
        attempts_cut=attempts_cut,
        **values,
    )


@router.post("/jobs/{job_id}/items/{item_id}/pause")
async def pause_item(job_id: JobId, item_id: ItemId, who: Writer, pools: RolePoolsDep) -> ItemChanged:
    """Pause an open item: none of its steps starts. Rejected with 409 while a worker runs one."""
    return await _control(job_id, item_id, who, pools, control.pause_item, "item_paused")


@router.post("/jobs/{job_id}/items/{item_id}/resume")
async def resume_item(job_id: JobId, item_id: ItemId, who: Writer, pools: RolePoolsDep) -> ItemChanged:
    """Resume a paused item."""
    return await _control(job_id, item_id, who, pools, control.resume_item, "item_resumed")


@router.post("/jobs/{job_id}/items/{item_id}/start")
async def start_item(job_id: JobId, item_id: ItemId, who: Writer, pools: RolePoolsDep) -> ItemChanged:
    """Start the steps of an open item that have a time, such as a retry, before their time."""
    return await _control(job_id, item_id, who, pools, control.start_item, "item_started")


@router.post("/jobs/{job_id}/items/{item_id}/cancel")
async def cancel_item(job_id: JobId, item_id: ItemId, who: Writer, pools: RolePoolsDep) -> ItemChanged:
    """End an open item as SKIPPED. The result of a step that is running is dropped."""
    return await _control(job_id, item_id, who, pools, control.cancel_item, "item_cancelled")


async def _control(
    job_id: int,
    item_id: int,
    who: Principal,
    pools: RolePools,
    change: Callable[[Connection, int, int, str], Awaitable[bool]],
    event: str,
) -> ItemChanged:
    async with pools.of(who) as conn:
        try:
            changed = await change(conn, job_id, item_id, who.actor)
        except (NotFoundError, ConflictError) as error:
            raise type(error)("item" if error.field == "n" else error.field, error.reason) from error
        row = await lists.item(conn, job_id, item_id)
        if row is None:
            raise NotFoundError("item", f"there is no item {item_id} in job {job_id}")
    if changed:
        log.info(event, job=job_id, item=item_id, by=who.actor)
    return ItemChanged(changed=changed, status=row["status"])


@router.get("/pending")
async def list_pending(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    request: Request,
    size: PageSize,
    statuses: Annotated[
        str, Query(description="comma-separated; of all jobs: PENDING, PROCESSING, or both", max_length=60)
    ] = "PENDING,PROCESSING",
    user_id: UserId = "me",
    job_type: Annotated[str | None, Query(alias="jobType", description="a pipeline", max_length=63)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    since: Annotated[datetime | None, Query(alias="from", description="updated since then")] = None,
    until: Annotated[datetime | None, Query(alias="to", description="updated before then")] = None,
    after: After = None,
) -> ItemPage:
    """Open items of all jobs, oldest job first; with a `jobId`, items of that job with any status. A page may be short
    while there is a `next`."""
    if not settings.pending_enabled:
        raise Problem(404, "is disabled here: see FOREBAY_PENDING_ENABLED")
    wanted = chosen(statuses) or []
    if job_id is None and (wrong := set(wanted) - {"PENDING", "PROCESSING"}):
        raise Problem(422, f"{min(wrong)} is not an open status: name a job with `jobId`", field="query.statuses")
    start = (0, 0) if after is None else paging.decode(after, paging.integer, paging.small)
    job = None if job_id is None else int(job_id)
    times = aware(since, "from"), aware(until, "to")
    where = PendingFilter(whose(who, user_id), wanted, job_type, job, *times)
    async with pools.of(who) as conn:
        rows, more = await lists.pending(conn, where, start, size)
    paging.tell("pending", [(row["job_id"], row["n"]) for row in rows], more)
    request.app.state.meter.pending_served += len(rows)
    return ItemPage(items=[item_row(row) for row in rows], next=None if more is None else paging.encode(*more))


@router.get("/attempts")
async def list_attempts(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    user_id: UserId = "me",
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    item_id: Annotated[str | None, Query(alias="itemId", pattern="^[0-9]{1,9}$")] = None,
    step: Annotated[str | None, Query(max_length=63)] = None,
    outcome: Outcome | None = None,
    worker: Annotated[str | None, Query(max_length=300)] = None,
    error_class: Annotated[str | None, Query(alias="errorClass", max_length=40)] = None,
    since: Annotated[datetime | None, Query(alias="from", description="ended since then")] = None,
    until: Annotated[datetime | None, Query(alias="to", description="ended before then")] = None,
    after: After = None,
) -> AttemptPage:
    """All attempts, newest first. A page may be short while there is a `next`."""
    before = None if after is None else paging.decode(after, paging.moment, paging.integer, paging.small)
    where = AttemptFilter(
        whose(who, user_id),
        None if job_id is None else int(job_id),
        None if item_id is None else int(item_id),
        step,
        outcome,
        worker,
        error_class,
        aware(since, "from"),
        aware(until, "to"),
    )
    async with pools.of(who) as conn:
        rows, more = await lists.attempts(conn, where, before, size)
    paging.tell("attempts", [(row["ended_at"], row["token"], row["n"]) for row in rows], more)
    attempts = [attempt_of(row) for row in rows]
    return AttemptPage(attempts=attempts, next=None if more is None else paging.encode(*more))


@router.get("/audit")
async def list_audit(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    user_id: UserId = "me",
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    actor: Annotated[str | None, Query(max_length=200)] = None,
    action: Annotated[str | None, Query(max_length=100)] = None,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    after: After = None,
) -> AuditPage:
    """Actions of users on jobs, items, queues, accounts and tokens, newest first. A search reads at most 20,000 records
    for a page; `searchedTo` says how far it came."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    where = AuditFilter(
        whose(who, user_id),
        None if job_id is None else int(job_id),
        actor,
        action,
        aware(since, "from"),
        aware(until, "to"),
    )
    async with pools.of(who) as conn:
        rows, more, searched = await lists.audit(conn, where, before, size)
    paging.tell("audit", [row["id"] for row in rows], more)
    return AuditPage(
        audit=[audit_of(row) for row in rows],
        next=None if more is None else paging.encode(more),
        searched=searched.rows,
        searched_to=searched.to,
    )


@router.get("/dead-letters")
async def list_dead_letters(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    user_id: UserId = "me",
    pipeline: Annotated[str | None, Query(max_length=63)] = None,
    step: Annotated[str | None, Query(max_length=63)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    error_class: Annotated[
        str | None, Query(alias="errorClass", max_length=40, description="empty: letters without one")
    ] = None,
    reason: Annotated[str | None, Query(max_length=1000, description="that of a group, see the summary")] = None,
    after: After = None,
) -> DeadLetterPage:
    """Tasks that failed permanently, newest first. A page may be short while there
    is a `next`."""
    before = None
    if after is not None:
        before = paging.decode(after, paging.moment, paging.integer, paging.small, paging.small)
    job = None if job_id is None else int(job_id)
    where = DeadLetterFilter(whose(who, user_id), pipeline, job, error_class, step, reason)
    async with pools.of(who) as conn:
        rows, more = await lists.dead_letters(conn, where, before, size)
    paging.tell("dead letters", [(row["at"], row["job_id"], row["n"]) for row in rows], more)
    letters = [dead_letter_of(row) for row in rows]
    following, searched_to = (None, None) if more is None else (paging.encode(*more), more[0])
    return DeadLetterPage(dead_letters=letters, next=following, searched_to=searched_to)
