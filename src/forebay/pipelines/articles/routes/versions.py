"""The versions of an article: list, read, compare and restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Reference
from forebay.api.strict_query import StrictRoute
from forebay.engine.declare.limited import limited
from forebay.errors import NotFoundError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.models import (
    Article,
    ArticleChange,
    ArticleVersion,
    ArticleVersionPage,
    VersionDifference,
    WholeVersion,
)
from forebay.pipelines.articles.routes.common import STALE, IfMatch, change, etag, found_article, shown_to
from forebay.services import differences

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.processes.limited_calls import LimitedCalls

router = APIRouter(prefix="/api/articles/{article_id}", tags=["articles"], route_class=StrictRoute)

COMPARE = limited(differences.unified_lines, memory_mb=512, timeout=20, file_mb=1, scratch_mb=1)

Version = Annotated[int, Path(ge=1, lt=2**31)]


@router.get("/versions")
async def list_versions(
    article_id: Number, who: Reader, pools: RolePoolsDep, size: PageSize, after: After = None
) -> ArticleVersionPage:
    """The versions of an article, the newest first."""
    before = rows.NEWEST if after is None else paging.decode(after, paging.small)[0]
    async with pools.own(who) as conn:
        await found_article(conn, article_id)
        found = await rows.versions(conn, int(article_id), before, size + 1)
    page = [ArticleVersion(**row) for row in found[:size]]
    return ArticleVersionPage(versions=page, next=paging.encode(page[-1].version) if len(found) > size else None)


@router.get("/versions/{version}")
async def get_version(article_id: Number, version: Version, who: Reader, pools: RolePoolsDep) -> WholeVersion:
    """A version with its text."""
    async with pools.own(who) as conn:
        return await _found_version(conn, article_id, version)


@router.get("/difference")
async def compare_versions(
    article_id: Number,
    who: Reader,
    pools: RolePoolsDep,
    request: Request,
    before: Annotated[int, Query(ge=1, lt=2**31, description="a version")],
    after: Annotated[int, Query(ge=1, lt=2**31, description="a version")],
) -> VersionDifference:
    """How one version differs from another."""
    async with pools.own(who) as conn:
        old = await _found_version(conn, article_id, before)
        new = await _found_version(conn, article_id, after)
    calls: LimitedCalls = request.app.state.limited
    names = (f"version {before}", f"version {after}")
    text, is_cut = await calls.call(COMPARE, _document(old), _document(new), names)
    return VersionDifference(before=old, after=new, difference=text, is_cut=is_cut)


@router.post("/versions/{version}/restore", responses=STALE)
async def restore_version(
    article_id: Number,
    version: Version,
    who: Writer,
    pools: RolePoolsDep,
    settings: SettingsDep,
    response: Response,
    if_match: IfMatch = None,
) -> Article | Reference:
    """Make the text of an earlier version the current one, as a new version."""
    async with pools.own(who) as conn:
        old = await _found_version(conn, article_id, version)
        body = ArticleChange(title=old.title, content=old.content, message=f"Restores version {version}")
        article = await change(conn, article_id, body, settings, if_match)
    response.headers["ETag"] = etag(article.version)
    return shown_to(who, article)


async def _found_version(conn: Connection, article_id: str, version: int) -> WholeVersion:
    row = await rows.version(conn, int(article_id), version)
    if row is None:
        raise NotFoundError("version", f"there is no version {version} of article {article_id}")
    return WholeVersion(**row)


def _document(version: WholeVersion) -> str:
    return f"# {version.title}\n\n{version.content}"
