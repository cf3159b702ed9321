"""The chore that completes the index: what no job has indexed, and a model that has been configured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.pipelines.indexing.reindexing import start_reindex
from forebay.search import db
from forebay.search.backfill import fill
from forebay.search.models import off, open_models

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context

_FORGOTTEN = timedelta(minutes=10)  # what has waited this long has no job, or one that failed
_MOST = 5000
_FILLING_S = 300.0  # of a run, for what was there before the index; the next run continues


async def complete_index(ctx: Context) -> int:
    """Submit jobs for documents that are not indexed, and build a model that is configured and not active."""
    pool = await ctx.get(resources.database)
    await fill(pool, seconds=_FILLING_S)
    if await off(pool, await ctx.get(resources.settings)) is not None:
        return 0
    first, *_ = await open_models(ctx)
    if first.is_active:
        return await db.index_forgotten(pool, first.id, datetime.now(UTC) - _FORGOTTEN, _MOST)
    async with pool.acquire() as conn, conn.transaction():
        await start_reindex(conn, first.id)
    return 0
