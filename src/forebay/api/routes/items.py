"""Items, attempts, dead letters and the audit."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request

from forebay.api import paging
from forebay.api.auth.authentication import Reader
from forebay.api.deps import After, ItemId, JobId, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import (
    AttemptPage,
    AuditPage,
    AuditRow,
    DeadLetter,
    DeadLetterPage,
    Item,
    ItemPage,
    Outcome,
    SignalWait,
    Status,
    StepState,
    attempt_of,
    children_of,
    item_row,
    parsed,
)
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware, find_job, whose
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import lists
from forebay.engine.db.lists import AttemptFilter, DeadLetterFilter, PendingFilter
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    import asyncpg

    from forebay.engine.db.lists import WaitRow

router = APIRouter(prefix="/api", tags=["items"], route_class=StrictRoute)

_STATUSES = get_args(Status)
_ATTEMPTS_SHOWN = 200
_LETTER = ("at", "job_id", "pipeline", "step", "owner", "outcome", "error_class", "reason", "attempt")
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
    after: After = None,
    sort: Annotated[str, Query(pattern="^number$", description="items are in the order of submission")] = "number",
) -> ItemPage:
    """Items in the order of submission. Their numbers never change, so paging skips none while they are processed."""
    if status is not None and statuses is not None:
        raise Problem(422, "is the same as `statuses`: send one of them", field="query.status")
    start = 0 if after is None else paging.decode(after, paging.small)[0]
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
        rows, more = await lists.items(conn, job_id, start, chosen(statuses or status), size)
    paging.tell("items", [row["n"] for row in rows], more)
    return ItemPage(items=[item_row(row) for row in rows], next=None if more is None else paging.encode(more))


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
        tries, _ = await lists.attempts(conn, AttemptFilter(job_id=job_id, n=item_id), None, _ATTEMPTS_SHOWN)
        waits = await lists.waits(conn, job_id, item_id)
    return _item(row, tries, waits)


def _item(row: asyncpg.Record, tries: list[asyncpg.Record], waits: list[WaitRow]) -> Item:
    values: dict[str, Any] = dict(row)
    for name in ("input", "normalized", "result", "error", "progress"):
        values[name] = None if values[name] is None else parsed(values[name])
    results: dict[str, Any] = values["result"] or {}
    named: dict[Literal["DONE", "FAILED", "OPEN"], list[str]] = {
        "DONE": values.pop("done"),
        "FAILED": values.pop("dead"),
        "OPEN": values.pop("open"),
    }
    steps = [
        StepState(name=name, state=state, result=results.get(name)) for state, names in named.items() for name in names
    ]
    awaited = [SignalWait(step=each.step, signal=each.signal, key=each.key, until=each.until) for each in waits]
    made = [attempt_of(one) for one in tries]
    values["children"] = children_of(values["children"])
    return Item(id=values.pop("n"), steps=steps, waits=awaited, attempts=made, **values)


@router.get("/pending")
async def list_pending(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    request: Request,
    size: PageSize,
    statuses: Annotated[str, Query(description="PENDING, PROCESSING, or both", max_length=60)] = "PENDING,PROCESSING",
    user_id: UserId = "me",
    job_type: Annotated[str | None, Query(alias="jobType", description="a pipeline", max_length=63)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    after: After = None,
) -> ItemPage:
    """Open items of all jobs, oldest job first."""
    if not settings.pending_enabled:
        raise Problem(404, "is disabled here: see FOREBAY_PENDING_ENABLED")
    wanted = chosen(statuses) or []
    if wrong := set(wanted) - {"PENDING", "PROCESSING"}:
        raise Problem(422, f"{min(wrong)} is not an open status: list the job's items instead", field="query.statuses")
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
    after: After = None,
) -> AuditPage:
    """Actions of users on jobs, items, queues, accounts and tokens, newest first."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.of(who) as conn:
        rows = await lists.audit(conn, whose(who, user_id), None if job_id is None else int(job_id), before, size + 1)
    keys = [row["id"] for row in rows[:size]]
    more = keys[-1] if len(rows) > size else None
    paging.tell("audit", keys, more)
    audit = [AuditRow(item_id=row["n"], **{k: v for k, v in row.items() if k != "n"}) for row in rows[:size]]
    return AuditPage(audit=audit, next=None if more is None else paging.encode(more))


@router.get("/dead-letters")
async def list_dead_letters(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    user_id: UserId = "me",
    pipeline: Annotated[str | None, Query(max_length=63)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", pattern="^[0-9]{1,18}$")] = None,
    error_class: Annotated[str | None, Query(alias="errorClass", max_length=40)] = None,
    after: After = None,
) -> DeadLetterPage:
    """Tasks that failed permanently, newest first; reprocess their jobs to try again. A page may be short while there
    is a `next`."""
    before = None
    if after is not None:
        before = paging.decode(after, paging.moment, paging.integer, paging.small, paging.small)
    where = DeadLetterFilter(whose(who, user_id), pipeline, None if job_id is None else int(job_id), error_class)
    async with pools.of(who) as conn:
        rows, more = await lists.dead_letters(conn, where, before, size)
    paging.tell("dead letters", [(row["at"], row["job_id"], row["n"]) for row in rows], more)
    letters = [_letter(row) for row in rows]
    return DeadLetterPage(dead_letters=letters, next=None if more is None else paging.encode(*more))


def _letter(row: asyncpg.Record) -> DeadLetter:
    values = dict(row)
    return DeadLetter(item_id=values.pop("n"), **{name: values[name] for name in _LETTER})
