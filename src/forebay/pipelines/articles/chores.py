"""The chores of articles: completed tasks are cleared, and articles without vectors are queued."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.priorities import rank_of
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.search.models import off

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context

_OWNERS = 100
_ACTOR = "forebay"


async def clear_tasks(ctx: Context) -> int:
    """Delete completed tasks that are old enough, and records of tasks whose jobs are gone; returns how many."""
    own = (await ctx.get(resources.settings)).of(ArticlesSettings)
    now = datetime.now(UTC)
    if int(now.timestamp() // 3600) % own.cleanup_interval:
        return 0  # the chore runs every hour
    return await clear_all(ctx, now - timedelta(days=own.cleanup_retention_days))


async def clear_all(ctx: Context, before: datetime) -> int:
    """Delete all completed tasks that ended before this time."""
    pool, total = await ctx.get(resources.database), 0
    while count := await rows.clear_old(pool, before):
        total += count
    return total


async def queue_unembedded(ctx: Context) -> int:
    """Queue articles that have no vectors and no task, with low priority, unless their tasks failed; returns how
    many."""
    pool, settings = await ctx.get(resources.database), await ctx.get(resources.settings)
    if not settings.of(ArticlesSettings).enabled or await off(pool, settings) is not None:
        return 0
    last, total = 0, 0
    while owners := await rows.unembedded_owners(pool, last, _OWNERS):
        for last in owners:
            made = await rows.reindex_for(pool, last, rank_of("low"), _ACTOR)
            total += made.items if made is not None and made.created else 0
    return total
