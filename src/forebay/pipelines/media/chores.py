"""The chore of media: retention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.pipelines.media import db
from forebay.pipelines.media.settings import MediaSettings

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context

_AT_ONCE = 500


async def expire_media(ctx: Context) -> int:
    """Remove files that are too old, or that exceed the quota of their owner; returns how many."""
    own = (await ctx.get(resources.settings)).of(MediaSettings)
    before = datetime.now(UTC) - timedelta(days=own.keep_days) if own.keep_days else None
    quota = own.owner_bytes or None
    if before is None and quota is None:
        return 0
    total = 0
    while count := await db.expire(await ctx.get(resources.database), before, quota, _AT_ONCE):
        total += count
        ctx.progress(note=f"{total} files")
    return total
