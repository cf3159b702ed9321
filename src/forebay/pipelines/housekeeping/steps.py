"""Housekeeping: what is to be done now and then, as jobs: seen, repeated after a failure, and never lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.pipelines import resources
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.sheets.db import sheets
from forebay.types import Skip

OWNER = "forebay"
_AT_ONCE = 100


class Chore(BaseModel):
    """Something to be done."""

    what: Literal["clean storage", "crawl again"]


housekeeping = Pipeline("housekeeping", Chore, internal=True)
housekeeping.schedule("forebay: clean storage", "17 3 * * *", Chore(what="clean storage"), owner=OWNER)
housekeeping.schedule("forebay: crawl again", "*/15 * * * *", Chore(what="crawl again"), owner=OWNER)


@housekeeping.step(timeout=3600)
async def clean_storage(ctx: Context, chore: Chore) -> int | Skip:
    """Deletes what no sheet, upload or file refers to any more; answers how many objects went."""
    if chore.what != "clean storage":
        return Skip()
    from forebay.storage import clean  # noqa: PLC0415 - an extra

    settings, pool, blobs = (
        await ctx.get(resources.settings),
        await ctx.get(resources.database),
        await ctx.get(resources.blobs),
    )
    grace = timedelta(seconds=settings.storage_grace_s)
    _, left = await sheets.tidy(pool, grace)
    for key in left:
        await blobs.store.delete(key)
    return len(left) + await clean(pool, blobs.store, grace=grace)


@housekeeping.step(timeout=600)
async def crawl_again(ctx: Context, chore: Chore) -> int | Skip:
    """Submits the work on bookmarks that are to be crawled again; answers how many were due."""
    if chore.what != "crawl again":
        return Skip()
    total = 0
    while count := await rows.crawl_due(await ctx.get(resources.database), _AT_ONCE, None):
        total += count
        ctx.progress(note=f"{total} bookmarks")
    return total
