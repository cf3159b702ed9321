"""The chores of bookmarks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from forebay import resources
from forebay.db.calls import execute
from forebay.errors import ConfigError, DataError, PermanentError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db
from forebay.pipelines.bookmarks.settings import BookmarksSettings
from forebay.pipelines.image_tools import READ_PICTURE, store_thumbnails
from forebay.storage import db as files

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.pipelines.bookmarks.db import UnseenPicture
    from forebay.types import Statement

_AT_ONCE = 100
_LOOKED_AT = 5000  # bookmarks per query
_MOST_PICTURES = 5000  # per run: some minutes

log = get_logger("bookmarks")


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


async def make_thumbnails(ctx: Context) -> int:
    """Make the thumbnails of pictures that were stored before there were any; returns how many were looked at."""
    pool, total = await ctx.get(resources.database), 0
    after: int | None = 0
    while after is not None and total < _MOST_PICTURES:
        found, after = await db.unseen_pictures(pool, after, _LOOKED_AT)
        for picture in found[: _MOST_PICTURES - total]:
            try:
                written = await _thumbnails(ctx, picture)
            except ConfigError as error:  # other chores do not need it
                log.warning("no_thumbnails", error=str(error))
                return total
            await execute(pool, written.sql, *written.args)
            total += 1
            ctx.progress(note=f"{total} pictures")
    return total


async def _thumbnails(ctx: Context, unseen: UnseenPicture) -> Statement:
    """A file that cannot be read as a picture is recorded without a size, and is not tried again."""
    blobs = await ctx.get(resources.blobs)
    try:
        picture = await ctx.call(READ_PICTURE, await blobs.read(unseen.sha256))
    except (DataError, PermanentError) as error:
        log.warning("no_thumbnails", file=unseen.file_id, error=str(error))
        return files.write_picture(files.PictureRow(unseen.file_id, 0, 0, "", []), unseen.owner_id, [])
    return await store_thumbnails(blobs, unseen, picture)
