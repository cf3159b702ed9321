"""Bookmarks: save, find, change, archive, crawl again, bring in and take out."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.datastructures import UploadFile

from forebay.api import idempotency, paging
from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import After, Number, PageSize, RolePoolsDep
from forebay.api.models import JobRef, Reference
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.api.submit import bodies
from forebay.engine.declare.limited import limited
from forebay.engine.submit.options import checked_text
from forebay.engine.submit.producer import submit_many
from forebay.errors import DataError, InvalidField, NotFoundError
from forebay.identity import session_context
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks import files as bookmark_files
from forebay.pipelines.bookmarks.db import BookmarkFilter
from forebay.pipelines.bookmarks.files import BookmarkFile, Entry, Format
from forebay.pipelines.bookmarks.imports import Imported, bookmark_imports, tidy_tags
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.pipelines.bookmarks.models import (
    AddedBookmark,
    Bookmark,
    BookmarkChange,
    BookmarkKind,
    BookmarkPage,
    Category,
    CategoryList,
    Crawled,
    FoundBookmark,
    NewBookmark,
    NewCategory,
    TagList,
    TagUse,
    Version,
    VersionPage,
    WholeBookmark,
    bookmark_of,
    whole_bookmark,
)
from forebay.services.egress import Policy, allowed_url
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.engine.processes.limited_calls import LimitedCalls
    from forebay.settings import Settings

router = APIRouter(prefix="/api/bookmarks", tags=["bookmarks"], route_class=StrictRoute)

log = get_logger("api")

READ_BOOKMARKS = limited(bookmark_files.read_file, memory_mb=1024, timeout=120, file_mb=1, scratch_mb=1)
_EXPORTED = 500  # bookmarks of one page of an export
_TAKES_KEY: dict[str, Any] = {
    "parameters": [
        idempotency.parameter("the same request with the same key is done once, and answered as often as it is sent")
    ]
}


# Adding.


@router.post("", status_code=201, responses={200: {"model": AddedBookmark}}, openapi_extra=_TAKES_KEY)
async def add_bookmark(body: NewBookmark, request: Request, response: Response) -> AddedBookmark:
    """Save a link; answers with the bookmark as soon as it is safe. The page is looked at in the background."""
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
    """What this caller may see of it: who may only write is told which one it is."""
    return bookmark if who.can_read else Reference(id=bookmark.id)


def given_bookmark(body: NewBookmark, settings: Settings) -> rows.NewBookmark:
    """What was given, checked; a link that could never be fetched is rejected here.

    Raises: InvalidUrl.
    """
    policy = Policy.of(settings)
    url = str(allowed_url(body.url, policy))
    return rows.NewBookmark(
        url,
        page_hash(url),
        body.title,
        body.note,
        None if body.tags is None else tidy_tags(body.tags),
        None if body.category_id is None else int(body.category_id),
        looks_like_image(url),
        None if body.favicon is None else str(allowed_url(body.favicon, policy, "favicon")),
    )


async def save_bookmark(pools: RolePools, who: Principal, new: rows.NewBookmark) -> AddedBookmark:
    """In one statement that is its own transaction."""
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
        Query(max_length=1000, description='words, "phrases", -without, or; the best come first, else the newest'),
    ] = None,
    category_id: Annotated[str | None, Query(alias="categoryId", pattern="^[0-9]{1,18}$")] = None,
    tag: Annotated[str | None, Query(max_length=100)] = None,
    kind: BookmarkKind | None = None,
    archived: Annotated[bool | None, Query(description="only what is, or is not, in the archive")] = False,
    everything: Annotated[bool, Query(description="what is in the archive, too")] = False,
    duplicates: Annotated[bool, Query(description="only those whose page is bookmarked twice")] = False,
) -> BookmarkPage:
    """Bookmarks, newest first; with `q` those whose title, text or picture has the words, best first."""
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
        raise Problem(422, "goes without `kind` and `duplicates`", field="query.q")
    place = None if after is None else paging.decode(after, paging.number, paging.integer)
    async with pools.own(who) as conn:
        found = await rows.search(conn, where, question, place, size + 1)
    last = found[size - 1] if len(found) > size else None
    page: list[Bookmark | FoundBookmark] = [bookmark_of(row) for row in found[:size]]
    return BookmarkPage(bookmarks=page, next=None if last is None else paging.encode(last["rank"], last["id"]))


# Named things before numbers: the paths would be taken for an id.


@router.get("/tags")
async def list_tags(who: Reader, pools: RolePoolsDep) -> TagList:
    """The tags in use, the most used first; at most 1000."""
    async with pools.own(who) as conn:
        found = await rows.tags(conn, who.owner_id, 1000)
    return TagList(tags=[TagUse(**dict(row)) for row in found])


@router.get("/categories")
async def list_categories(who: Reader, pools: RolePoolsDep) -> CategoryList:
    """Categories by name."""
    async with pools.own(who) as conn:
        found = await rows.categories(conn, who.owner_id)
    return CategoryList(categories=[Category(**dict(row)) for row in found])


@router.post("/categories", status_code=201, responses={200: {"model": Category}})
async def add_category(body: NewCategory, who: Writer, pools: RolePoolsDep, response: Response) -> Category:
    """Make a category; 200 and the one that is there when the name is taken: a repetition does no harm."""
    async with pools.own(who) as conn:
        row = await rows.add_category(conn, who.owner_id, body.name)
    if row is None:  # made by someone else in this moment
        raise Problem(503, "try again", headers={"Retry-After": "1"})
    values = dict(row)
    response.status_code = 201 if values.pop("created") else 200
    return Category(**values)


@router.put("/categories/{category_id}")
async def rename_category(category_id: Number, body: NewCategory, who: Writer, pools: RolePoolsDep) -> Category:
    """Give a category another name."""
    async with pools.own(who) as conn:
        row = await rows.rename_category(conn, int(category_id), body.name)
    if row is None:
        raise NotFoundError("category", f"there is no category {category_id}")
    return Category(**dict(row))


@router.delete("/categories/{category_id}", status_code=204)
async def delete_category(category_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a category; its bookmarks stay."""
    async with pools.own(who) as conn:
        if not await rows.delete_category(conn, int(category_id)):
            raise NotFoundError("category", f"there is no category {category_id}")


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {kind: {} for kind in ("text/html", "text/csv", "application/json")}}},
)
async def export_bookmarks(
    who: Reader, pools: RolePoolsDep, kind: Annotated[Format, Query(alias="format")] = "html"
) -> StreamingResponse:
    """All bookmarks as a file: for browsers (html), as Pocket's (csv), or with everything (json)."""
    headers = {"Content-Disposition": f'attachment; filename="bookmarks.{kind}"'}
    return StreamingResponse(_exported(pools, who, kind), media_type=bookmark_files.media_type(kind), headers=headers)


async def _exported(pools: RolePools, who: Principal, kind: Format) -> AsyncGenerator[str]:
    file, after = BookmarkFile(kind), (-1, 0)
    yield file.head()
    while True:
        async with pools.own(who) as conn:
            found = await rows.export(conn, after, _EXPORTED)
        yield "".join(file.entry(exported_entry(row, kind)) for row in found)
        if len(found) < _EXPORTED:
            yield file.tail()
            return
        after = (found[-1]["category_id"], found[-1]["id"])


def exported_entry(row: asyncpg.Record, kind: Format) -> Entry:
    """JSON is for forebay itself, which finds the title of the page again; others are told it."""
    title = row["own_title"] if kind == "json" else row["own_title"] or row["title"]
    return Entry(
        row["url"], title, row["note"], tuple(row["tags"]), row["category"], row["created_at"], row["archived"]
    )


_IMPORTS: dict[str, Any] = {
    **_TAKES_KEY,
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    },
}


@router.post("/import", status_code=201, openapi_extra=_IMPORTS, responses={415: {"description": "No file"}})
async def import_bookmarks(request: Request) -> JobRef:
    """Bring in a file of bookmarks: of a browser (HTML), of Pocket (CSV or HTML), or JSON. Each becomes an item of a
    job, whose progress can be followed; a bad one is an error of its own."""
    try:
        who = await authorized(request, "write", makes_owner=True)
        idempotent = await idempotency.of(request)
        return await _import(request, who, idempotent, *await _uploaded(request))
    finally:
        await request.close()


async def _uploaded(request: Request) -> tuple[str, list[Entry]]:
    """The name of the file and its bookmarks, read in a process with limits: nobody vouches for the file.

    Raises: Problem, InvalidField.
    """
    if not bodies.is_upload(request):
        raise Problem(415, "send multipart/form-data with a file")
    file = (await bodies.form(request)).get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, "must be a file of bookmarks", field="file")
    calls: LimitedCalls = request.app.state.limited
    with NamedTemporaryFile(prefix="forebay-bookmarks-") as copy:
        await asyncio.to_thread(shutil.copyfileobj, file.file, copy)
        copy.flush()
        try:
            return file.filename or "bookmarks", await calls.call(READ_BOOKMARKS, Path(copy.name))
        except DataError as error:
            raise InvalidField("file", str(error)) from error


async def _import(
    request: Request, who: Principal, idempotent: idempotency.Idempotency, name: str, entries: list[Entry]
) -> JobRef:
    pools: RolePools = request.app.state.pools
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return JobRef.model_validate(known.body)
        quota.admit(len(entries))
        await session_context.begin_upload(conn, checked_text("file", name[:500], 500))
        job = await submit_many(conn, bookmark_imports, map(imported_of, entries), owner=who.owner)
        ref = JobRef(job_id=str(job.job_id), created=job.created, items=job.items)
        await idempotent.keep(conn, who, 201, ref.model_dump(by_alias=True))
    log.info("bookmarks_imported", job=job.job_id, owner=who.owner, items=job.items)
    return ref


def imported_of(entry: Entry) -> Imported:
    """A bookmark of a file as the work on it takes it."""
    return Imported(
        url=_text(entry.url) or "",
        title=_text(entry.title),
        note=_text(entry.note),
        tags=[_text(tag) or "" for tag in entry.tags],
        category=_text(entry.category),
        added_at=entry.added_at,
        archived=entry.archived,
        fault=_text(entry.fault),
    )


def _text(text: str | None) -> str | None:
    """What the database can keep: no NUL, and no half of a character."""
    return None if text is None else text[:100_000].replace("\0", "").encode("utf-8", "replace").decode()


# One.


@router.get("/{bookmark_id}")
async def get_bookmark(bookmark_id: Number, who: Reader, pools: RolePoolsDep) -> WholeBookmark:
    """A bookmark with all that was found, its text included."""
    async with pools.own(who) as conn:
        row = await rows.get(conn, int(bookmark_id))
    if row is None:
        raise _not_there(bookmark_id)
    return whole_bookmark(row)


@router.patch("/{bookmark_id}")
async def change_bookmark(
    bookmark_id: Number, body: BookmarkChange, who: Writer, pools: RolePoolsDep
) -> Bookmark | Reference:
    """Change title, note, tags, category, or how often it is crawled."""
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
    """Put it away: lists show it no more, unless they are asked to."""
    return await _archived(bookmark_id, who, pools, archived=True)


@router.post("/{bookmark_id}/unarchive")
async def unarchive_bookmark(bookmark_id: Number, who: Writer, pools: RolePoolsDep) -> Bookmark | Reference:
    """Take it out of the archive."""
    return await _archived(bookmark_id, who, pools, archived=False)


async def _archived(bookmark_id: str, who: Principal, pools: RolePools, *, archived: bool) -> Bookmark | Reference:
    async with pools.own(who) as conn:
        await rows.archive(conn, int(bookmark_id), archived=archived)
        return _for(who, await _found(conn, bookmark_id))


@router.post("/{bookmark_id}/crawl", status_code=201, openapi_extra=_TAKES_KEY)
async def crawl_bookmark(bookmark_id: Number, request: Request, who: Writer, pools: RolePoolsDep) -> Crawled:
    """Look at the page once more: what has changed is noted."""
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
    """Give the tags and notes of a duplicate to the bookmark that it repeats, and delete it; answers that one."""
    async with pools.own(who) as conn:
        await _found(conn, bookmark_id)
        kept = await rows.merge(conn, int(bookmark_id))
        if kept is None:
            raise Problem(409, f"bookmark {bookmark_id} is no duplicate of another")
        return _for(who, await _found(conn, str(kept)))


@router.get("/{bookmark_id}/changes")
async def list_changes(
    bookmark_id: Number, who: Reader, pools: RolePoolsDep, size: PageSize, after: After = None
) -> VersionPage:
    """What crawls have found to be different, newest first."""
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
