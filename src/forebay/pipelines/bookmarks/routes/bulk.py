"""Counts of bookmarks that match a filter, and changes of many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import RolePoolsDep
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.db import BookmarkFilter, BulkChange
from forebay.pipelines.bookmarks.imports import tidy_tags
from forebay.pipelines.bookmarks.models import BookmarkFacets, BulkFilter, BulkRequest, BulkResult, Count
from forebay.pipelines.bookmarks.routes.filters import Selected, Selection

if TYPE_CHECKING:
    import asyncpg

    from forebay.api.quota import Quotas
    from forebay.db.pool import Connection

router = APIRouter(prefix="/api/bookmarks", tags=["bookmarks"], route_class=StrictRoute)

log = get_logger("api")

_COUNTED = 10_000
_CHANGED = 1000  # bookmarks that a request changes
_FACETS = {"kinds": "kind", "tags": "tag", "categories": "category", "sites": "site", "statuses": "status"}


@router.get("/facets")
async def count_bookmarks(who: Reader, pools: RolePoolsDep, selected: Selected) -> BookmarkFacets:
    """How many bookmarks match, and how many of them are of which kind, tag, category, site and status."""
    async with pools.own(who) as conn:
        selection = await selected.found(conn, who)
        found = await rows.count(conn, selection.where, selection.words, _COUNTED)
    return _facets(found)


def _facets(found: list[asyncpg.Record]) -> BookmarkFacets:
    counts: dict[str, list[Count]] = {}
    totals: dict[str, int] = {}
    for row in found:
        if row["facet"] in ("total", "read"):
            totals[row["facet"]] = row["bookmarks"]
        else:
            counts.setdefault(row["facet"], []).append(Count(value=row["value"], bookmarks=row["bookmarks"]))
    listed = {
        name: sorted(counts.get(facet, []), key=lambda each: (-each.bookmarks, each.value))
        for name, facet in _FACETS.items()
    }
    is_exact = totals["read"] <= _COUNTED
    return BookmarkFacets(
        **listed,
        total=totals["total"],
        is_exact=is_exact,
        archived=sum(each.bookmarks for each in counts.get("archived", []) if each.value == "true"),
        duplicates=sum(each.bookmarks for each in counts.get("duplicate", [])),
    )


@router.post("/bulk")
async def change_bookmarks(body: BulkRequest, request: Request, who: Writer, pools: RolePoolsDep) -> BulkResult:
    """Tag, archive, move, delete, restore or crawl many bookmarks: those with the given ids, or up to 1000 at a time of
    those that match a filter. Words in `q` select among the 1000 newest that match them."""
    change = _change(body)
    selection = _selected(body)
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        if change.category_id is not None and (
            await rows.find_category(conn, who.owner_id, change.category_id, None) is None
        ):
            raise NotFoundError("categoryId", f"there is no category {change.category_id}")
        selection = await selection.found(conn, who)
        if body.dry_run:
            found = _facets(await rows.count(conn, selection.where, selection.words, _COUNTED))
            return BulkResult(matched=found.total, changed=0, next=None)
        ids, more = await _ids(conn, selection, body)
        if change.action == "crawl":
            quota.admit(len(ids))
        changed = await rows.change_many(conn, ids, change)
    log.info("bookmarks_changed", action=change.action, owner=who.owner, bookmarks=changed)
    return BulkResult(matched=len(ids), changed=changed, next=None if more is None else paging.encode(more))


def _change(body: BulkRequest) -> BulkChange:
    """Raises: Problem for fields that are missing, or do not belong to the action."""
    needs_tags = body.do in ("tag", "untag")
    if needs_tags != bool(body.tags):
        raise Problem(422, "is needed for tag and untag, and only for these", field="tags")
    if body.category_id is not None and body.do != "category":
        raise Problem(422, "is only for category", field="categoryId")
    if body.only is not None and body.do != "crawl":
        raise Problem(422, "is only for crawl", field="only")
    return BulkChange(
        body.do,
        tidy_tags(body.tags) if body.tags else None,
        None if body.category_id is None else int(body.category_id),
        body.only,
    )


def _selected(body: BulkRequest) -> Selection:
    """Raises: Problem unless either ids or a filter is given."""
    if (body.ids is None) == (body.filter is None):
        raise Problem(422, "send either `ids` or `filter`", field="ids")
    is_trash = body.do in ("restore", "purge")
    if body.ids is not None:
        return Selection(BookmarkFilter(None, ids=[int(each) for each in body.ids], trash=is_trash))
    given = body.filter or BulkFilter()
    where = BookmarkFilter(
        None if given.trash or is_trash else given.archived,
        None if given.category_id is None else int(given.category_id),
        given.tags,
        given.kinds,
        [site.lower().removeprefix("www.") for site in given.sites],
        given.statuses,
        since=aware(given.since, "filter.since"),
        until=aware(given.until, "filter.until"),
        duplicates=given.duplicates,
        trash=given.trash or is_trash,
    )
    return Selection(where).searching(given.q)


async def _ids(conn: Connection, selection: Selection, body: BulkRequest) -> tuple[list[int], int | None]:
    """The bookmarks to change, and the position after them."""
    if selection.words is not None:
        found = await rows.search(conn, selection.where, selection.words, None, _CHANGED)
        return [row["id"] for row in found], None
    after = None if body.after is None else paging.decode(body.after, paging.integer)[0]
    most = _CHANGED if body.ids is None else len(body.ids)
    return await rows.match(conn, selection.where, after, most)
