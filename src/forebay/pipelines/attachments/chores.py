"""The chore of attachments: old files and those over the quota of their owners are deleted, deliveries are tidied."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.log import get_logger
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.settings import AttachmentsSettings

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context

_AT_ONCE = 500
_ROUNDS = 100

log = get_logger("attachments")


async def clean(ctx: Context) -> int:
    """Returns how many files and vouchers were deleted."""
    own = (await ctx.get(resources.settings)).of(AttachmentsSettings)
    pool, now, total = await ctx.get(resources.database), datetime.now(UTC), 0
    for _ in range(_ROUNDS):
        removed = await db.clean_old(pool, now - timedelta(days=own.keep_days), _AT_ONCE) if own.keep_days else 0
        removed += await db.clean_over(pool, own.owner_max_bytes, _AT_ONCE) if own.owner_max_bytes else 0
        if not removed:
            break
        total += removed
        ctx.progress(note=f"{total} files")
    deleted, submitted = await db.tidy(pool, now - timedelta(days=own.deliveries_days))
    if total or deleted or submitted:
        log.info("attachments_cleaned", files=total, deliveries=deleted, submitted=submitted)
    return total
