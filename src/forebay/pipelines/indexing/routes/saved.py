"""Saved searches, and their feeds: Atom documents that whoever has the address can read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree as ET

from fastapi import APIRouter, Path, Request, Response

from forebay.api.auth.authentication import Principal, Reader, Writer
from forebay.api.deps import Number, RolePoolsDep
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.identity.secrets import digest, new_secret
from forebay.pipelines.indexing.models import FeedAddress, NewSavedSearch, SavedSearch, SearchQuestion
from forebay.pipelines.indexing.routes.searching import searched
from forebay.search import db
from forebay.search.finding import Filter

if TYPE_CHECKING:
    import asyncpg

    from forebay.pipelines.indexing.models import SearchHit, TextPart

router = APIRouter(prefix="/api/search", tags=["search"], route_class=StrictRoute)

_TOKEN = "fbq_"  # noqa: S105 - the prefix of tokens of feeds
_ENTRIES = 50
_ATOM: dict[int | str, dict[str, Any]] = {
    200: {"description": "An Atom feed", "content": {"application/atom+xml": {"schema": {"type": "string"}}}}
}


@router.get("/saved")
async def list_saved_searches(who: Reader, pools: RolePoolsDep) -> list[SavedSearch]:
    """The caller's saved searches."""
    async with pools.own(who) as conn:
        return [_saved(row) for row in await db.list_saved(conn, who.owner_id)]


@router.post("/saved", status_code=201)
async def save_search(body: NewSavedSearch, who: Writer, pools: RolePoolsDep) -> SavedSearch:
    """Save a search under a name, or change the one that has this name."""
    async with pools.own(who) as conn:
        return _saved(await db.save(conn, who.owner_id, body.name, body.question.model_dump_json()))


@router.delete("/saved/{search_id}", status_code=204)
async def delete_saved_search(search_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a saved search; its feed ends."""
    async with pools.own(who) as conn:
        if not await db.delete_saved(conn, int(search_id)):
            raise _missing(search_id)


@router.post("/saved/{search_id}/feed", status_code=201)
async def make_feed(search_id: Number, request: Request, who: Writer, pools: RolePoolsDep) -> FeedAddress:
    """Make an address for the feed of a saved search. An earlier address is revoked."""
    if not who.can_read:  # the address shows what is stored
        raise Problem(403, "this token has no scope 'read'")
    secret = new_secret(_TOKEN)
    async with pools.own(who) as conn:
        if not await db.set_feed(conn, int(search_id), digest(secret)):
            raise _missing(search_id)
    return FeedAddress(url=f"{str(request.base_url).rstrip('/')}/api/search/feeds/{secret}")


@router.delete("/saved/{search_id}/feed", status_code=204)
async def revoke_feed(search_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Revoke the address of the feed."""
    async with pools.own(who) as conn:
        if not await db.set_feed(conn, int(search_id), None):
            raise _missing(search_id)


@router.get("/feeds/{token}", responses=_ATOM, response_class=Response)
async def read_feed(token: Annotated[str, Path(max_length=100)], request: Request, pools: RolePoolsDep) -> Response:
    """The newest hits of a saved search, as an Atom feed. The token in the address is the right to read it."""
    async with pools.own(_reader_for(0)) as conn:  # nobody's rows
        row = await db.find_feed(conn, digest(token))
    if row is None:
        raise NotFoundError("token", "there is no such feed, or its address was revoked")
    question = SearchQuestion.model_validate_json(row["question"])
    where = Filter(question.kinds, question.tags)
    found = await searched(request, pools, _reader_for(row["owner_id"]), question, where, None, _ENTRIES)
    hits = sorted(found.hits, key=lambda hit: hit.written_at, reverse=True)
    body = _feed(row["name"], f"urn:forebay:search:{row['id']}", hits, str(request.base_url).rstrip("/"))
    return Response(body, media_type="application/atom+xml", headers={"Cache-Control": "private, max-age=300"})


def _reader_for(owner_id: int) -> Principal:
    return Principal("feed", owner_id, "", "user", frozenset({"read"}))


def _feed(name: str, urn: str, hits: list[SearchHit], base: str) -> bytes:
    feed = ET.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    newest = max((hit.written_at for hit in hits), default=datetime(1970, 1, 1, tzinfo=UTC))
    for tag, text in (("title", name), ("id", urn), ("updated", newest.isoformat())):
        ET.SubElement(feed, tag).text = text
    for hit in hits:
        entry = ET.SubElement(feed, "entry")
        ET.SubElement(entry, "title").text = _plain(hit.title) or hit.ref
        ET.SubElement(entry, "id").text = f"{urn}:{hit.kind}:{hit.ref}"
        ET.SubElement(entry, "updated").text = hit.written_at.isoformat()
        if link := hit.url or (None if hit.path is None else base + hit.path):
            ET.SubElement(entry, "link", href=link)
        ET.SubElement(entry, "summary").text = _plain(hit.snippet)
    written: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written


def _plain(parts: list[TextPart]) -> str:
    return "".join(part.text for part in parts)


def _saved(row: asyncpg.Record) -> SavedSearch:
    return SavedSearch(**row)


def _missing(search_id: str) -> NotFoundError:
    return NotFoundError("search_id", f"there is no saved search {search_id}")
