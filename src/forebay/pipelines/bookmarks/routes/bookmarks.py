"""Bookmarks: save, find, change, archive, crawl, merge and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response

from forebay.api import idempotency, paging
from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import After, Number, PageSize, RolePoolsDep
from forebay.api.models import Reference
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.db import BookmarkFilter
from forebay.pipelines.bookmarks.imports import tidy_tags
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.pipelines.bookmarks.models import (
    AddedBookmark,
    Bookmark,
    BookmarkChange,
    BookmarkKind,
    BookmarkPage,
    Crawled,
    FoundBookmark,
    NewBookmark,
    Version,
    VersionPage,
    WholeBookmark,
    bookmark_of,
    whole_bookmark,
)
from forebay.services.egress import Policy, allowed_url
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.settings import Settings

router = APIRouter(prefix="/api/bookmarks", tags=["bookmarks"], route_class=StrictRoute)

log = get_logger("api")


# Adding.


@router.post("", status_code=201, responses={200: {"model": AddedBookmark}}, openapi_extra=idempotency.TAKES_KEY)
async def add_bookmark(body: NewBookmark, request: Request, response: Response) -> AddedBookmark:
    """Save a link; responds with the bookmark once it is committed. The page is fetched in the background."""
    who = await authorized(request, "write", makes_owner=True)
    idempotent = await idempotency.of(request)
    state = request.app.state
    pools: RolePools = state.pools
    quotas: Quotas = state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    new = given_bookmark(body, state.settings)
    if idempotent.key is None:
        quota.admit()
        added = await save_bookmark(pools, who, new)
    else:
        async with pools.own(who) as conn:
            if (known := await idempotent.answer(conn, who)) is not None:
                response.status_code = known.status
                return _added_for(who, AddedBookmark.model_validate(known.body))
            quota.admit()
            added = _added(await rows.add_in(conn, pools.owners.role, who.owner_id, who.ip, new))
            kept = added.model_dump(mode="json", by_alias=True)
            await idempotent.keep(conn, who, 201 if added.created else 200, kept)
    response.status_code = 201 if added.created else 200
    return _added_for(who, added)


def _added_for(who: Principal, added: AddedBookmark) -> AddedBookmark:
    return added.model_copy(update={"bookmark": _for(who, added.bookmark)})


def _for(who: Principal, bookmark: Bookmark | Reference) -> Bookmark | Reference:
    """What this caller may see: only the id without the scope `read`."""
    return bookmark if who.can_read else Reference(id=bookmark.id)


def given_bookmark(body: NewBookmark, settings: Settings) -> rows.BookmarkValues:
    """Validate the request; a link that may never be fetched is rejected.

    Raises: InvalidUrl.
    """
    policy = Policy.of(settings)
    url = str(allowed_url(body.url, policy))
    return rows.BookmarkValues(
        url,
        page_hash(url),
        body.title,
        body.note,
        None if body.tags is None else tidy_tags(body.tags),
        None if body.category_id is None else int(body.category_id),
        looks_like_image(url),
        None if body.favicon is None else str(allowed_url(body.favicon, policy, "favicon")),
    )


async def save_bookmark(pools: RolePools, who: Principal, new: rows.BookmarkValues) -> AddedBookmark:
    """Save in one statement, committed by itself."""
    with submitting("bookmarks") as now:
        row = await rows.add(pools.owners, who.owner_id, who.ip, new, trace=now.trace)
        if row["created"]:
            now.made(row["job_id"])
    added = _added(row)
    if added.created:
        log.info("bookmark_added", bookmark=row["id"], job=row["job_id"], owner=who.owner)
    return added


def _added(row: asyncpg.Record) -> AddedBookmark:
    return AddedBookmark(created=row["created"], bookmark=bookmark_of(row))


# Finding.


@router.get("")
async def list_bookmarks(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    after: After = None,
    q: Annotated[
        str | None,
        Query(max_length=1000, description='words, "phrases", -without, or; the best match comes first'),
    ] = None,
    category_id: Annotated[str | None, Query(alias="categoryId", pattern="^[0-9]{1,18}$")] = None,
    tag: Annotated[str | None, Query(max_length=100)] = None,
    kind: BookmarkKind | None = None,
    archived: Annotated[bool | None, Query(description="only archived, or only other bookmarks")] = False,
    everything: Annotated[bool, Query(description="include archived bookmarks")] = False,
    duplicates: Annotated[bool, Query(description="only duplicates")] = False,
) -> BookmarkPage:
    """List bookmarks, newest first; with `q`, search titles, texts and images, best match first."""
    category = None if category_id is None else int(category_id)
    where = BookmarkFilter(None if everything else archived, category, tag, kind, duplicates)
    if q is not None and q.strip():
        return await _search(pools, who, where, q, after, size)
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.own(who) as conn:
        found = await rows.find(conn, where, before, size + 1)
    more = found[size - 1]["id"] if len(found) > size else None
    paging.tell("bookmarks", [row["id"] for row in found[:size]], more)
    page: list[Bookmark | FoundBookmark] = [bookmark_of(row) for row in found[:size]]
    return BookmarkPage(bookmarks=page, next=None if more is None else paging.encode(more))


async def _search(
    pools: RolePools, who: Principal, where: BookmarkFilter, question: str, after: str | None, size: int
) -> BookmarkPage:
    if "\0" in question:
        raise Problem(422, "must not contain a NUL character", field="query.q")
    if where.kind is not None or where.duplicates:
        raise Problem(422, "cannot be combined with `kind` or `duplicates`", field="query.q")
    place = None if after is None else paging.decode(after, paging.number, paging.integer)
    async with pools.own(who) as conn:
        found = await rows.search(conn, where, question, place, size + 1)
    last = found[size - 1] if len(found) > size else None
    page: list[Bookmark | FoundBookmark] = [bookmark_of(row) for row in found[:size]]
    return BookmarkPage(bookmarks=page, next=None if last is None else paging.encode(last["rank"], last["id"]))


# One bookmark.


@router.get("/{bookmark_id}")
async def get_bookmark(bookmark_id: Number, who: Reader, pools: RolePoolsDep) -> WholeBookmark:
    """A bookmark with all fields, including its text."""
    async with pools.own(who) as conn:
        row = await rows.get(conn, int(bookmark_id))
    if row is None:
        raise _not_there(bookmark_id)
    return whole_bookmark(row)


@router.patch("/{bookmark_id}")
async def change_bookmark(
    bookmark_id: Number, body: BookmarkChange, who: Writer, pools: RolePoolsDep
) -> Bookmark | Reference:
    """Change title, note, tags, category or crawl interval."""
    given = body.model_dump(by_alias=True, exclude_unset=True)
    if "tags" in given:
        given["tags"] = tidy_tags(body.tags or ())
    if "crawlEveryHours" in given:
        hours = given.pop("crawlEveryHours")
        given["crawlEvery"] = None if hours is None else hours * 3600
    async with pools.own(who) as conn:
        await _found(conn, bookmark_id)
        if not await rows.change(conn, int(bookmark_id), given):
            raise NotFoundError("categoryId", f"there is no category {body.category_id}")
        return _for(who, await _found(conn, bookmark_id))


@router.delete("/{bookmark_id}", status_code=204)
async def delete_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a bookmark and its files."""
    async with pools.own(who) as conn:
        if not await rows.delete(conn, int(bookmark_id)):
            raise _not_there(bookmark_id)


@router.post("/{bookmark_id}/archive")
async def archive_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Archive a bookmark: lists no longer show it by default."""
    return await _archived(bookmark_id, who, pools, archived=True)


@router.post("/{bookmark_id}/unarchive")
async def unarchive_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Move a bookmark out of the archive."""
    return await _archived(bookmark_id, who, pools, archived=False)


async def _archived(bookmark_id: str, who: Principal, pools: RolePools, *, archived: bool) -> Bookmark | Reference:
    async with pools.own(who) as conn:
        await rows.archive(conn, int(bookmark_id), archived=archived)
        return _for(who, await _found(conn, bookmark_id))


@router.post("/{bookmark_id}/crawl", status_code=201, openapi_extra=idempotency.TAKES_KEY)
async def crawl_bookmark(bookmark_id: Number, request: Request, who: Writer, pools: RolePoolsDep) -> Crawled:
    """Crawl the page again; changes are recorded."""
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    idempotent = await idempotency.of(request)
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return Crawled.model_validate(known.body)
        quota.admit()
        job_id = await rows.crawl(conn, int(bookmark_id))
        if job_id is None:
            raise _not_there(bookmark_id)
        crawled = Crawled(job_id=str(job_id))
        await idempotent.keep(conn, who, 201, crawled.model_dump(by_alias=True))
    return crawled


@router.post("/{bookmark_id}/merge")
async def merge_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Merge tags and notes of a duplicate into the original and delete the duplicate; responds with the original."""
    async with pools.own(who) as conn:
        await _found(conn, bookmark_id)
        kept = await rows.merge(conn, int(bookmark_id))
        if kept is None:
            raise Problem(409, f"bookmark {bookmark_id} is not a duplicate")
        return _for(who, await _found(conn, str(kept)))


@router.get("/{bookmark_id}/changes")
async def list_changes(
    bookmark_id: Number, who: Reader, pools: RolePoolsDep, size: PageSize, after: After = None
) -> VersionPage:
    """The changes that crawls detected, newest first."""
    before = None if after is None else paging.decode(after, paging.moment)[0]
    async with pools.own(who) as conn:
        await _found(conn, bookmark_id)
        found = await rows.changes(conn, int(bookmark_id), before, size + 1)
    more = found[size - 1]["at"] if len(found) > size else None
    page = [Version(**dict(row)) for row in found[:size]]
    return VersionPage(changes=page, next=None if more is None else paging.encode(more))


async def _found(conn: Connection, bookmark_id: str) -> Bookmark:
    row = await rows.get_light(conn, int(bookmark_id))
    if row is None:
        raise _not_there(bookmark_id)
    return bookmark_of(row)


def _not_there(bookmark_id: str) -> NotFoundError:
    return NotFoundError("bookmark", f"there is no bookmark {bookmark_id}")
