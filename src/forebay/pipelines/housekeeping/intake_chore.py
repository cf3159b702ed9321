"""The chore of files that come in."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.packages import intake_targets

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def clean_uploads(ctx: Context) -> int:
    """Delete the remains of abandoned uploads and of deleted jobs; returns the number of deleted objects."""
    settings = await ctx.get(resources.settings)
    pool, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    grace, count = timedelta(seconds=settings.storage_grace_s), 0
    for target in intake_targets().values():
        for key in await target.tidy(pool, grace):
            await blobs.store.delete(key)
            count += 1
    return count
