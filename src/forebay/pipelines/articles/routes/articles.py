"""Articles: create, find, read, change and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from forebay.api import idempotency, paging
from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import After, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Reference
from forebay.api.strict_query import StrictRoute
from forebay.engine.declare.limited import limited
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.models import (
    Article,
    ArticleChange,
    ArticleHtml,
    ArticlePage,
    Embedding,
    NewArticle,
    TaskJob,
    WholeArticle,
)
from forebay.pipelines.articles.rendering import render
from forebay.pipelines.articles.routes.common import (
    STALE,
    IfMatch,
    change,
    conflicts,
    etag,
    expected_version,
    found_article,
    not_there,
    shown_to,
)
from forebay.pipelines.articles.saving import given_article
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.engine.processes.limited_calls import LimitedCalls

router = APIRouter(prefix="/api/articles", tags=["articles"], route_class=StrictRoute)

log = get_logger("api")

RENDER = limited(render, memory_mb=512, timeout=20, file_mb=1, scratch_mb=1, needs=("markdown_it", "nh3"))


@router.post("", status_code=201, openapi_extra=idempotency.TAKES_KEY)
async def create_article(body: NewArticle, request: Request, response: Response) -> Article | Reference:
    """Save an article; responds once it is committed together with the task that embeds it."""
    who = await authorized(request, "write", makes_owner=True)
    idempotent = await idempotency.of(request)
    state = request.app.state
    pools: RolePools = state.pools
    quotas: Quotas = state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    new, embedding = given_article(body, state.settings)
    with submitting("articles") as now:
        if idempotent.key is None:
            quota.admit()
            article = Article(**await rows.create(pools.owners, who.owner_id, who.ip, new, embedding, now.trace))
        else:
            async with pools.own(who) as conn:
                if (known := await idempotent.answer(conn, who)) is not None:
                    return shown_to(who, Article.model_validate(known.body))
                quota.admit()
                made = await rows.create_in(conn, pools.owners.role, who.owner_id, who.ip, new, embedding, now.trace)
                article = Article(**made)
                await idempotent.keep(conn, who, 201, article.model_dump(mode="json", by_alias=True))
        if article.job_id is not None:
            now.made(int(article.job_id))
    log.info("article_created", article=article.id, job=article.job_id, owner=who.owner)
    response.headers["ETag"] = etag(article.version)
    return shown_to(who, article)


@router.get("")
async def list_articles(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    embedding: Annotated[list[Embedding] | None, Query(description="only in these states")] = None,
    after: After = None,
) -> ArticlePage:
    """List articles, the last changed first."""
    place = None if after is None else paging.decode(after, paging.moment, paging.integer)
    async with pools.own(who) as conn:
        found = await rows.find(conn, embedding, None if place is None else (place[0], place[1]), size + 1)
    page = [Article(**row) for row in found[:size]]
    last = page[-1] if len(found) > size else None
    more = None if last is None else paging.encode(last.updated_at, int(last.id))
    paging.tell("articles", [article.id for article in page], more)
    return ArticlePage(articles=page, next=more)


@router.get("/by-slug/{slug}")
async def get_article_by_slug(
    slug: Annotated[str, Path(max_length=255)], who: Reader, pools: RolePoolsDep, response: Response
) -> WholeArticle:
    """The article with a file name, with its text."""
    async with pools.own(who) as conn:
        return await _whole(conn, await _with_slug(conn, who, slug), response)


@router.put("/by-slug/{slug}", responses=STALE)
async def change_article_by_slug(
    slug: Annotated[str, Path(max_length=255)],
    body: ArticleChange,
    who: Writer,
    pools: RolePoolsDep,
    settings: SettingsDep,
    response: Response,
    if_match: IfMatch = None,
) -> Article | Reference:
    """Change the article with a file name."""
    async with pools.own(who) as conn:
        article = await change(conn, await _with_slug(conn, who, slug), body, settings, if_match)
    response.headers["ETag"] = etag(article.version)
    return shown_to(who, article)


@router.get("/{article_id}")
async def get_article(article_id: Number, who: Reader, pools: RolePoolsDep, response: Response) -> WholeArticle:
    """An article with its text."""
    async with pools.own(who) as conn:
        return await _whole(conn, article_id, response)


@router.get("/{article_id}/html")
async def get_html(article_id: Number, who: Reader, pools: RolePoolsDep, request: Request) -> ArticleHtml:
    """An article as HTML, without anything that could run or load by itself."""
    async with pools.own(who) as conn:
        row = await found_article(conn, article_id)
    calls: LimitedCalls = request.app.state.limited
    return ArticleHtml(id=row["id"], version=row["version"], html=await calls.call(RENDER, row["content"]))


@router.put("/{article_id}", responses=STALE)
async def change_article(
    article_id: Number,
    body: ArticleChange,
    who: Writer,
    pools: RolePoolsDep,
    settings: SettingsDep,
    response: Response,
    if_match: IfMatch = None,
) -> Article | Reference:
    """Change an article. A changed title or text becomes a new version."""
    async with pools.own(who) as conn:
        article = await change(conn, article_id, body, settings, if_match)
    response.headers["ETag"] = etag(article.version)
    return shown_to(who, article)


@router.delete("/{article_id}", responses=STALE)
async def delete_article(article_id: Number, who: Writer, pools: RolePoolsDep, if_match: IfMatch = None) -> TaskJob:
    """Delete an article with its versions. A task removes its vectors; the search does not show it any more."""
    with submitting("articles") as now, conflicts():
        async with pools.own(who) as conn:
            job = await rows.delete(conn, int(article_id), expected_version(if_match), now.trace)
            if job is None:
                raise not_there(article_id)
        now.made(job)
    log.info("article_deleted", article=article_id, job=job, owner=who.owner)
    return TaskJob(job_id=str(job))


async def _with_slug(conn: Connection, who: Principal, slug: str) -> str:
    found = None if "\0" in slug else await rows.find_slug(conn, who.owner_id, slug)
    if found is None:
        raise NotFoundError("slug", f"there is no article {slug[:80]!r}")
    return str(found)


async def _whole(conn: Connection, article_id: str, response: Response) -> WholeArticle:
    row = await found_article(conn, article_id)
    response.headers["ETag"] = etag(row["version"])
    return WholeArticle(**row)
