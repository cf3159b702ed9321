"""The tasks that embed articles: counted, listed, repeated and cleared; and all articles embedded that need it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.models import (
    ArticleLog,
    Cleared,
    ClearRequest,
    EmbeddingTaskInfo,
    EmbeddingTaskPage,
    EmbedRequest,
    LogEntry,
    QueueStats,
    ReindexJob,
    ReindexRequest,
    RetriedTasks,
    TaskJob,
    TaskStatus,
)
from forebay.pipelines.articles.priorities import rank_of
from forebay.pipelines.articles.routes.common import found_article, not_there
from forebay.pipelines.articles.settings import ArticlesSettings

if TYPE_CHECKING:
    from forebay.api.quota import Quotas

router = APIRouter(prefix="/api/articles", tags=["articles"], route_class=StrictRoute)

_NEWEST = (2**63 - 1, 2**31 - 1)
_LOG = 1000  # entries


@router.get("/stats")
async def get_stats(who: Reader, pools: RolePoolsDep) -> QueueStats:
    """The exact number of the caller's tasks by status; for administrators, of the tasks of all owners."""
    async with pools.of(who) as conn:
        return QueueStats(**await rows.count_tasks(conn, None if who.is_admin else who.owner_id))


@router.get("/tasks")
async def list_tasks(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    status: Annotated[list[TaskStatus] | None, Query(description="only with these statuses")] = None,
    article: Annotated[str | None, Query(pattern=r"^[0-9]{1,18}$", description="only of this article")] = None,
    after: After = None,
) -> EmbeddingTaskPage:
    """The tasks of the caller's articles, the newest first."""
    place = _NEWEST if after is None else paging.decode(after, paging.integer, paging.small)
    async with pools.own(who) as conn:
        found = await rows.tasks(
            conn, (place[0], place[1]), status, None if article is None else int(article), size + 1
        )
    page = [EmbeddingTaskInfo(**row) for row in found[:size]]
    last = page[-1] if len(found) > size else None
    return EmbeddingTaskPage(tasks=page, next=None if last is None else paging.encode(int(last.job_id), last.item))


@router.get("/tasks/{task_id}")
async def get_task(task_id: UUID, who: Reader, pools: RolePoolsDep) -> EmbeddingTaskInfo:
    """The status of a task."""
    async with pools.own(who) as conn:
        row = await rows.task(conn, task_id)
    if row is None:
        raise NotFoundError("task", f"there is no task {task_id}")
    return EmbeddingTaskInfo(**row)


@router.post("/tasks/retry")
async def retry_failed(who: Writer, pools: RolePoolsDep) -> RetriedTasks:
    """Run all failed tasks of the caller again, with high priority."""
    async with pools.own(who) as conn:
        return RetriedTasks(retried=await rows.retry_failed(conn, who.owner_id, who.actor))


@router.post("/tasks/clear")
async def clear_completed(
    who: Writer, pools: RolePoolsDep, settings: SettingsDep, body: ClearRequest | None = None
) -> Cleared:
    """Delete completed tasks of the caller. The articles and their vectors stay."""
    days = None if body is None else body.older_than_days
    keep = settings.of(ArticlesSettings).cleanup_retention_days if days is None else days
    before, total = datetime.now(UTC) - timedelta(days=keep), 0
    while True:
        async with pools.own(who) as conn:
            cleared = await rows.clear_completed(conn, who.owner_id, before)
        total += cleared
        if not cleared:
            return Cleared(cleared=total)


@router.post("/reindex")
async def reindex_articles(
    request: Request, who: Writer, pools: RolePoolsDep, body: ReindexRequest | None = None
) -> ReindexJob:
    """Embed all articles of the caller that need it, as one job. It has a low priority, and can be paused."""
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        made = await rows.reindex(conn, who.owner_id, rank_of((body or ReindexRequest()).priority), who.actor)
        if made is not None and made.created:
            quota.admit(made.items)
    if made is None:
        return ReindexJob(job_id=None, created=False, items=0)
    return ReindexJob(job_id=str(made.job_id), created=made.created, items=made.items)


@router.post("/{article_id}/embed", status_code=201)
async def embed_article(
    article_id: Number, who: Writer, pools: RolePoolsDep, body: EmbedRequest | None = None
) -> TaskJob:
    """Embed an article now, also if its last task has failed."""
    async with pools.own(who) as conn:
        job = await rows.embed_again(conn, int(article_id), rank_of((body or EmbedRequest()).priority))
    if job is None:
        raise not_there(article_id)
    return TaskJob(job_id=str(job))


@router.get("/{article_id}/log")
async def get_log(article_id: Number, who: Reader, pools: RolePoolsDep) -> ArticleLog:
    """What happened to the tasks of an article, in the order of time; the oldest 1,000 entries."""
    async with pools.own(who) as conn:
        await found_article(conn, article_id)
        return ArticleLog(entries=[LogEntry(**row) for row in await rows.log_of(conn, int(article_id), _LOG)])
