"""The chore of bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import resources
from forebay.pipelines.bookmarks import db

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
