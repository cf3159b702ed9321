"""The chores of bookmarks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.pipelines.bookmarks import db
from forebay.pipelines.bookmarks.settings import BookmarksSettings

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context

_AT_ONCE = 100


async def crawl_again(ctx: Context) -> int:
    """Submit jobs for bookmarks that are due to be crawled again; returns how many were due."""
    total = 0
    while count := await db.crawl_due(await ctx.get(resources.database), _AT_ONCE, None):
        total += count
        ctx.progress(note=f"{total} bookmarks")
    return total


async def purge_trash(ctx: Context) -> int:
    """Delete bookmarks for good that have been in the trash for long; returns how many."""
    days = (await ctx.get(resources.settings)).of(BookmarksSettings).trash_days
    before = datetime.now(UTC) - timedelta(days=days)
    total = 0
    while count := await db.purge(await ctx.get(resources.database), before, _AT_ONCE):
        total += count
        ctx.progress(note=f"{total} bookmarks")
    return total
