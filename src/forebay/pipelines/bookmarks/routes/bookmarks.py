"""Bookmarks: save, find, change, archive, crawl, merge and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

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
from forebay.pipelines.bookmarks.db import BulkChange
from forebay.pipelines.bookmarks.imports import tidy_tags
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.pipelines.bookmarks.models import (
    AddedBookmark,
    Bookmark,
    BookmarkChange,
    BookmarkPage,
    Crawled,
    CrawlRequest,
    Extras,
    FoundBookmark,
    NewBookmark,
    Version,
    VersionPage,
    WholeBookmark,
    bookmark_of,
    file_ids,
    whole_bookmark,
)
from forebay.pipelines.bookmarks.routes.filters import Selected
from forebay.services.egress import Policy, allowed_url
from forebay.storage import db as files
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.pipelines.bookmarks.db import BookmarkFilter
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
    selected: Selected,
    after: After = None,
    sort: Annotated[
        Literal["newest", "oldest"],
        Query(description="in the order in which they were added; not with words in `q`"),
    ] = "newest",
) -> BookmarkPage:
    """List bookmarks, newest first; with words in `q`, search titles, texts and images, best match first. A page may be
    short while there is a `next`."""
    async with pools.own(who) as conn:
        selection = await selected.found(conn, who)
        if selection.words is not None:
            return await _search(conn, selection.where, selection.words, after, size)
        start = None if after is None else paging.decode(after, paging.integer)[0]
        ids, more = await rows.match(conn, selection.where, start, size, oldest=sort == "oldest")
        page = await _listed(conn, await rows.show(conn, ids))
    paging.tell("bookmarks", ids, more)
    return BookmarkPage(bookmarks=page, next=None if more is None else paging.encode(more))


async def _listed(conn: Connection, found: Sequence[asyncpg.Record]) -> list[Bookmark | FoundBookmark]:
    extras = await _extras(conn, found)
    return [bookmark_of(row, extras) for row in found]


async def _extras(conn: Connection, found: Sequence[asyncpg.Record]) -> Extras:
    steps = await rows.steps(conn, [row["id"] for row in found])
    return Extras(steps, await files.pictures(conn, file_ids(found)))


async def _search(conn: Connection, where: BookmarkFilter, words: str, after: str | None, size: int) -> BookmarkPage:
    place = None if after is None else paging.decode(after, paging.number, paging.integer)
    found = await rows.search(conn, where, words, place, size + 1)
    page = await _listed(conn, found[:size])
    last = found[size - 1] if len(found) > size else None
    return BookmarkPage(bookmarks=page, next=None if last is None else paging.encode(last["rank"], last["id"]))


# One bookmark.


@router.get("/{bookmark_id}")
async def get_bookmark(bookmark_id: Number, who: Reader, pools: RolePoolsDep) -> WholeBookmark:
    """A bookmark with all fields, including its text."""
    async with pools.own(who) as conn:
        row = await rows.get(conn, int(bookmark_id))
        if row is None or row["deleted_at"] is not None:
            raise _not_there(bookmark_id)
        extras = await _extras(conn, [row])
    return whole_bookmark(row, extras)


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
async def delete_bookmark(
    bookmark_id: Number,
    who: Writer,
    pools: RolePoolsDep,
    purge: Annotated[bool, Query(description="delete it for good, with its files")] = False,
) -> None:
    """Move a bookmark to the trash: lists and exports no longer show it. It is deleted for good after
    FOREBAY_BOOKMARKS_TRASH_DAYS."""
    async with pools.own(who) as conn:
        if await rows.change_many(conn, [int(bookmark_id)], BulkChange("purge" if purge else "delete")) == 0:
            raise _not_there(bookmark_id)


@router.post("/{bookmark_id}/restore")
async def restore_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Take a bookmark out of the trash."""
    return await _changed(bookmark_id, who, pools, "restore")


@router.post("/{bookmark_id}/archive")
async def archive_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Archive a bookmark: lists no longer show it by default."""
    return await _changed(bookmark_id, who, pools, "archive")


@router.post("/{bookmark_id}/unarchive")
async def unarchive_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Move a bookmark out of the archive."""
    return await _changed(bookmark_id, who, pools, "unarchive")


async def _changed(bookmark_id: str, who: Principal, pools: RolePools, action: str) -> Bookmark | Reference:
    async with pools.own(who) as conn:
        await rows.change_many(conn, [int(bookmark_id)], BulkChange(action))
        return _for(who, await _found(conn, bookmark_id))


@router.post("/{bookmark_id}/crawl", status_code=201, openapi_extra=idempotency.TAKES_KEY)
async def crawl_bookmark(
    bookmark_id: Number, request: Request, who: Writer, pools: RolePoolsDep, body: CrawlRequest | None = None
) -> Crawled:
    """Crawl the page again, with all steps or with some; changes are recorded."""
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    idempotent = await idempotency.of(request)
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return Crawled.model_validate(known.body)
        quota.admit()
        job_id = await rows.crawl(conn, int(bookmark_id), only=None if body is None else body.only)
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
    if row is None or row["deleted_at"] is not None:
        raise _not_there(bookmark_id)
    return bookmark_of(row)


def _not_there(bookmark_id: str) -> NotFoundError:
    return NotFoundError("bookmark", f"there is no bookmark {bookmark_id}")
