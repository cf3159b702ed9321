"""The chores of the store: delete unreferenced blobs, and count what is stored."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.storage import db as files

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def clean_storage(ctx: Context) -> int:
    """Delete unreferenced blobs; returns the number of deleted objects."""
    from forebay.storage import clean  # noqa: PLC0415 - an extra

    settings = await ctx.get(resources.settings)
    pool, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    return await clean(pool, blobs.store, grace=timedelta(seconds=settings.storage_grace_s))


async def count_storage(ctx: Context) -> None:
    """Count what each owner stores, for the pages that show it."""
    await files.count(await ctx.get(resources.database))
