"""Drafts: what an editor stores while somebody types, so that nothing is lost and no version is made."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import PageSize, RolePoolsDep
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.models import Draft, DraftContent, DraftList

router = APIRouter(prefix="/api/articles/drafts", tags=["articles"], route_class=StrictRoute)

Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,100}$", description="chosen by the editor")]


@router.get("")
async def list_drafts(who: Reader, pools: RolePoolsDep, size: PageSize) -> DraftList:
    """The last changed drafts of the caller."""
    async with pools.own(who) as conn:
        return DraftList(drafts=[Draft(**row) for row in await rows.drafts(conn, who.owner_id, size)])


@router.get("/{key}")
async def get_draft(key: Key, who: Reader, pools: RolePoolsDep) -> Draft:
    """A draft with its whole text."""
    async with pools.own(who) as conn:
        row = await rows.draft(conn, who.owner_id, key)
    if row is None:
        raise NotFoundError("draft", f"there is no draft {key!r}")
    return Draft(**row)


@router.put("/{key}")
async def keep_draft(key: Key, body: DraftContent, who: Writer, pools: RolePoolsDep) -> Draft:
    """Store a draft, or replace it."""
    of_article = (None if body.article_id is None else int(body.article_id), body.base_version)
    async with pools.own(who) as conn:
        row = await rows.keep_draft(conn, who.owner_id, key, body.title, body.content, of_article)
    if row is None:
        raise NotFoundError("articleId", f"there is no article {body.article_id}")
    return Draft(**row)


@router.delete("/{key}", status_code=204)
async def drop_draft(key: Key, who: Writer, pools: RolePoolsDep) -> None:
    """Discard a draft."""
    async with pools.own(who) as conn:
        if not await rows.drop_draft(conn, who.owner_id, key):
            raise NotFoundError("draft", f"there is no draft {key!r}")
