"""Downloads the media of a share into a partial file, inspects it, and stores it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel

from forebay import resources
from forebay.errors import DataError, TransientError
from forebay.log import get_logger
from forebay.pipelines.image_tools import store_thumbnails
from forebay.pipelines.media import step_writes
from forebay.pipelines.media.inspecting import inspect_file, make_poster
from forebay.pipelines.media.settings import MediaSettings
from forebay.services.download.resuming import download
from forebay.services.egress import FetchRequest
from forebay.types import Done

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.inspecting import FileFacts
    from forebay.pipelines.media.probing import Found
    from forebay.pipelines.media.step_share import Media, Share
    from forebay.services.images import Picture
    from forebay.types import Write

log = get_logger("media")


class Downloaded(BaseModel):
    """The stored file of a share."""

    file_id: int
    sha256: str
    size: int
    kind: str
    media_type: str
    duration_s: float | None = None


async def download_share(ctx: Context, given: Media, share: Share, found: Found) -> Done[Downloaded]:
    """Download the media of a share and store it.

    Raises: what `Http.fetch` raises; DataError when it is too large, too long or no media; ResourceError; ConfigError.
    """
    own = (await ctx.get(resources.settings)).of(MediaSettings)
    log.info("download_started", share=share.id, job=ctx.job_id, attempt=ctx.attempt, way=found.way)
    async with resources.partial_file(ctx) as partial, unless_stalled(own.stall_s) as alive:
        wanted = FetchRequest(share.url or "", "media.download", own.max_bytes, own.download_s, cookies=True)
        tell = resources.reporting(ctx, "downloading")

        def report(done: int, total: int | None) -> None:
            alive()
            tell(done, total)

        done = await download(await ctx.get(resources.http), wanted, partial, report=report)
        ended = await store(ctx, share, own, done.path, done.sha256, alive)
        partial.discard()
    return ended


@asynccontextmanager
async def unless_stalled(seconds: float) -> AsyncGenerator[Callable[[], None]]:
    """Fails unless the yielded function is called at least once in so many seconds.

    Raises: TransientError.
    """
    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield lambda: limit.reschedule(loop.time() + seconds)
    except TimeoutError:
        if not limit.expired():
            raise
        raise TransientError(f"no byte was received for {seconds:g} s (FOREBAY_MEDIA_STALL_S)") from None


async def store(
    ctx: Context, share: Share, own: MediaSettings, path: Path, sha256: str | None, alive: Callable[[], None]
) -> Done[Downloaded]:
    """Inspect a complete file, and make it that of the share.

    Raises: DataError when it is no media, or too long.
    """
    ctx.progress(note="inspecting the file")
    await asyncio.to_thread(path.chmod, 0o644)  # its folders are private; a sandboxed program reads it without a copy
    facts = await inspect_file(ctx, path)
    alive()
    if own.max_duration_s and (facts.duration_s or 0) > own.max_duration_s:
        raise DataError(
            f"lasts {facts.duration_s:.0f} s; FOREBAY_MEDIA_MAX_DURATION_S allows {own.max_duration_s:.0f} s"
        )
    poster = await make_poster(ctx, path, facts)
    alive()
    return await _adopt(ctx, share, path, sha256, facts, poster)


async def _adopt(
    ctx: Context, share: Share, path: Path, sha256: str | None, facts: FileFacts, poster: tuple[bytes, Picture] | None
) -> Done[Downloaded]:
    blobs = await ctx.get(resources.blobs)
    ctx.progress(note="storing the file")
    stored = await blobs.adopt(
        path, owner_id=share.owner_id, name=facts.file_name, media_type=facts.media_type, sha256=sha256
    )
    writes: list[Write] = [step_writes.write_file(share, stored)]
    poster_id: int | None = None
    if facts.picture is not None:
        poster_id = stored.file_id
        writes.append(await store_thumbnails(blobs, stored, facts.picture))
    elif poster is not None:
        shown = await blobs.put(poster[0], owner_id=share.owner_id, name="poster.jpg", media_type="image/jpeg")
        poster_id = shown.file_id
        writes += [step_writes.write_file(share, shown), await store_thumbnails(blobs, shown, poster[1])]
    writes.append(step_writes.write_download(share, stored, poster_id, _about(facts, stored.size)))
    log.info("download_completed", share=share.id, job=ctx.job_id, attempt=ctx.attempt, size=stored.size,
             kind=facts.kind, duration_s=facts.duration_s)  # fmt: skip
    return Done(
        Downloaded(
            file_id=stored.file_id,
            sha256=stored.sha256,
            size=stored.size,
            kind=facts.kind,
            media_type=facts.media_type,
            duration_s=facts.duration_s,
        ),
        writes,
    )


def _about(facts: FileFacts, size: int) -> dict[str, object]:
    return {
        "kind": facts.kind,
        "duration_s": facts.duration_s,
        "width": facts.width,
        "height": facts.height,
        "video_codec": facts.video_codec,
        "audio_codec": facts.audio_codec,
        "container": facts.container,
        "title": facts.title,
        "download_metadata": {"size": size, "duration": facts.duration_s, "storageType": "blob"},
    }
