"""The chore of sheets."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.pipelines import resources
from forebay.pipelines.sheets.db import sheets

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def clean_uploads(ctx: Context) -> int:
    """Deletes what is left of uploads that were given up, or that no job needs any more; answers how many objects
    went."""
    settings = await ctx.get(resources.settings)
    pool, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    _, left = await sheets.tidy(pool, timedelta(seconds=settings.storage_grace_s))
    for key in left:
        await blobs.store.delete(key)
    return len(left)
