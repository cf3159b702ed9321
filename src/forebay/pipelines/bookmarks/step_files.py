"""Files that steps find and store for a bookmark: screenshots, images and icons."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay import resources
from forebay.errors import ConfigError, DataError, StepError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import step_writes
from forebay.pipelines.image_tools import READ_PICTURE, store_thumbnails
from forebay.services.pages import fetching

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.pipelines.bookmarks.step_bookmark import Bookmark
    from forebay.services.images import Picture
    from forebay.storage import Blobs, Stored
    from forebay.types import Statement

log = get_logger("bookmarks")

_ONE_SECONDS = 30.0  # for one of several candidates


async def shot_thumbnails(ctx: Context, blobs: Blobs, stored: Stored, data: bytes) -> list[Statement]:
    """Thumbnails of a screenshot; without them it is shown in full size."""
    try:
        return [await store_thumbnails(blobs, stored, await ctx.call(READ_PICTURE, data))]
    except (ConfigError, DataError) as error:
        log.warning("no_thumbnails", job=ctx.job_id, error=str(error))
        return []


def write_file(mark: Bookmark, stored: Stored) -> Statement:
    """The statement that adds a stored file, unless the bookmark was deleted."""
    return step_writes.write_file(mark.id, mark.owner_id, stored.file_id, stored.sha256, stored.name, stored.media_type)


async def keep_file(blobs: Blobs, mark: Bookmark, data: bytes, what: str, media_type: str) -> Stored:
    """Store the contents of a file of the bookmark."""
    kind = media_type.partition("/")[2]
    return await blobs.put(data, owner_id=mark.owner_id, name=f"{what}.{kind}", media_type=media_type)


async def first_picture(
    ctx: Context, urls: list[str], purpose: str, max_bytes: int, seconds: float
) -> tuple[str, bytes, Picture] | None:
    """The first URL that is an image, within a time limit for all. A temporary error is raised if no other works."""
    later: StepError | None = None
    http = await ctx.get(resources.http)
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    for url in urls:
        left = min(_ONE_SECONDS, ends - loop.time())
        if left <= 0:
            break
        try:
            fetched = await http.get(url, purpose=purpose, max_bytes=max_bytes, timeout=left)
            return url, fetched.content, await ctx.call(READ_PICTURE, fetched.content)
        except StepError as error:
            if isinstance(error, ConfigError):
                raise
            if fetching.may_work_later(error):
                later = error
    if later is not None:
        raise later
    return None
