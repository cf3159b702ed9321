"""Routes that are compatible with an earlier queue API of bookmarks, for programs that use it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from forebay.api.auth.authentication import address_of, authorized, for_owner, service_scopes
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.api.submit.kickoff import run_slice
from forebay.errors import InvalidField, NotFoundError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.models import (
    Bookmark,
    ConsumerReport,
    LegacyBookmark,
    LegacyRemaining,
    LegacyScreenshot,
    MessageResult,
    NewBookmark,
    StepReport,
)
from forebay.pipelines.bookmarks.routes.bookmarks import given_bookmark, save_bookmark
from forebay.services.egress import checked_url

if TYPE_CHECKING:
    import asyncpg
    from starlette.datastructures import State

    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools

router = APIRouter(prefix="/api/v1/bookmarks/add", tags=["bookmarks (compatibility)"], route_class=StrictRoute)

log = get_logger("api")

_MESSAGES = 10
_REMAINING = ("metadata", "images", "favicon")
_ANYONE = 0  # the owner of slices of the service
Duration = Annotated[int, Query(alias="durationMs", ge=1, le=60_000, description="maximum duration")]


@router.post("/data", response_model=dict[str, Any])
async def add_data(body: LegacyBookmark, request: Request) -> JSONResponse:
    """Save a link; responds with its row. With `update_access` false the category is not changed."""
    who = await authorized(request, "write", makes_owner=True)
    pools: RolePools = request.app.state.pools
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    new = given_bookmark(NewBookmark(url=body.url), request.app.state.settings)
    if body.update_access and body.category_id:
        new = replace(new, category_id=body.category_id)
    quota.admit()
    added = await save_bookmark(pools, who, new)
    shown: dict[str, Any] = {"id": int(added.bookmark.id), "user_id": who.owner, "url": new.url}
    if who.can_read and isinstance(added.bookmark, Bookmark):
        shown |= _legacy_row(added.bookmark)
    return JSONResponse({"data": [shown], "error": None})


def _legacy_row(bookmark: Bookmark) -> dict[str, Any]:
    return {
        "url": bookmark.url,
        "title": bookmark.title,
        "description": bookmark.description,
        "category_id": int(bookmark.category_id or 0),
        "inserted_at": bookmark.created_at.isoformat(),
    }


@router.get("/tasks/queue-consumer", response_model_exclude_none=True)
async def consume(request: Request, duration_ms: Duration = 25_000) -> ConsumerReport:
    """Process ten waiting bookmarks in this request and report on each: those of the caller, or with the service token
    those of all owners."""
    return await _consume(request, duration_ms)


@router.post("/tasks/queue-consumer", response_model_exclude_none=True)
async def consume_by_post(request: Request, duration_ms: Duration = 25_000) -> ConsumerReport:
    """The same."""
    return await _consume(request, duration_ms)


async def _consume(request: Request, duration_ms: int) -> ConsumerReport:
    state = request.app.state
    owner_id, scopes = None, await service_scopes(request)
    if scopes is None:
        who = await authorized(request, "write")
        if who.kind == "session" and request.method == "GET":  # a link on any page could trigger it
            raise Problem(403, "use POST with the CSRF header, or a token")
        owner_id, scopes = who.owner_id, who.scopes
    async with state.pools.admins.acquire() as conn:
        jobs = await rows.messages(conn, owner_id, _MESSAGES)
    if jobs:
        await _work(state, _ANYONE if owner_id is None else owner_id, jobs, duration_ms / 1000)
    results = await _report(state, jobs)
    if "read" not in scopes:  # reasons may quote the bookmark
        results = [result.model_copy(update={"error": None}) for result in results]
    archived = sum(result.archived for result in results)
    log.info("bookmarks_consumed", messages=len(results), archived=archived)
    return ConsumerReport(
        success=True,
        message="Queue processing completed" if jobs else "No messages to process",
        processedCount=len(results),
        archivedCount=archived,
        failedCount=len(results) - archived,
        results=results,
    )


async def _work(state: State, owner_id: int, jobs: list[int], seconds: float) -> None:
    async with asyncio.timeout(seconds + 60):
        await run_slice(state, owner_id, jobs, seconds, pipeline="bookmarks")


async def _report(state: State, jobs: list[int]) -> list[MessageResult]:
    async with state.pools.admins.acquire() as conn:
        return [_result(row) for row in await rows.message_reports(conn, jobs)]


def _result(row: asyncpg.Record) -> MessageResult:
    archived = row["status"] in ("DONE", "SKIPPED")
    step, reason = row["failed_step"], row["reason"]
    return MessageResult(
        messageId=row["job_id"],
        bookmarkId=None if row["bookmark"] is None else int(row["bookmark"]),
        success=archived,
        archived=archived,
        screenshotSuccess=_went_well(("screenshot",), row),
        remainingDataSuccess=_went_well(_REMAINING, row),
        error=None if archived or reason is None else f"{(step or 'message').capitalize()}: {reason}",
    )


def _went_well(steps: tuple[str, ...], row: asyncpg.Record) -> bool | None:
    """None while they have not ended; a failure that a retry fixed does not count."""
    if set(steps) <= set(row["done"]):
        return True
    failed = {*row["dead"], *([row["failed_step"]] if row["status"] in ("ERROR", "NOT_FOUND") else [])}
    return None if failed.isdisjoint(steps) else False


_ANSWERS: dict[int | str, dict[str, Any]] = {
    202: {"model": StepReport, "description": "Not finished yet; it continues in the background"},
    502: {"description": "A step has failed: `detail` names it and the reason"},
}


@router.post("/tasks/screenshot", response_model=StepReport, responses=_ANSWERS)
async def take_screenshot(
    body: LegacyScreenshot, request: Request, duration_ms: Duration = 45_000
) -> StepReport | JSONResponse:
    """Take the screenshots of a bookmark in this request, for the owner in `userId`; needs the service token."""
    return await _run_steps(request, body, ["screenshot", "metadata"], duration_ms)


@router.post("/tasks/remaining", response_model=StepReport, responses=_ANSWERS)
async def do_remaining(
    body: LegacyRemaining, request: Request, duration_ms: Duration = 45_000
) -> StepReport | JSONResponse:
    """Process image, OCR, caption and icon of a bookmark in this request; needs the service token."""
    return await _run_steps(request, body, ["images", "favicon", "ocr", "caption"], duration_ms, body.favIcon)


async def _run_steps(
    request: Request, body: LegacyScreenshot, steps: list[str], duration_ms: int, favicon: str | None = None
) -> StepReport | JSONResponse:
    scopes = await service_scopes(request)
    if scopes is None:
        await authorized(request, "write")  # 401 without credentials
        raise Problem(403, "only the service token may do this")
    state = request.app.state
    who = replace(await for_owner(state.pools, body.userId), ip=address_of(request))
    job_id = await _submit_steps(state.pools, who, body, steps, favicon)
    await _work(state, who.owner_id, [job_id], duration_ms / 1000)
    (result,) = await _report(state, [job_id])
    if result.archived:
        return StepReport(success=True, message=f"{' and '.join(steps)} done", jobId=str(job_id))
    if result.error is not None:
        raise Problem(502, result.error if "read" in scopes else "a step has failed", about=str(job_id))
    answer = StepReport(success=False, message="still in progress", jobId=str(job_id))
    return JSONResponse(answer.model_dump(), 202)


async def _submit_steps(
    pools: RolePools, who: Principal, body: LegacyScreenshot, steps: list[str], favicon: str | None
) -> int:
    async with pools.own(who) as conn:
        known = await rows.get_light(conn, body.id)
        if known is None:
            raise NotFoundError("id", f"{body.userId} has no bookmark {body.id}")
        if str(checked_url(body.url)) != known["url"]:
            raise InvalidField("url", f"is not the URL of bookmark {body.id}")
        job_id = await rows.crawl(conn, body.id, priority=10, only=steps, favicon=favicon)
    if job_id is None:
        raise NotFoundError("id", f"{body.userId} has no bookmark {body.id}")
    return job_id
