"""Downloads the media of a share into a partial file, inspects it, and stores it."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import BaseModel

from forebay import resources
from forebay.errors import DataError, TransientError
from forebay.log import get_logger
from forebay.pipelines.image_tools import store_thumbnails
from forebay.pipelines.media import step_writes
from forebay.pipelines.media.extracted import plain_file
from forebay.pipelines.media.extractor import EXTRACT_S, Order, remove_folder, run_extractor
from forebay.pipelines.media.inspecting import inspect_file, inspect_stream, let_sandbox_read
from forebay.pipelines.media.links import check_allowed
from forebay.pipelines.media.probing import find_on_page
from forebay.pipelines.media.settings import MediaSettings
from forebay.services.download.resuming import download
from forebay.services.egress import AccessDenied, FetchRequest, checked_url
from forebay.storage import Stored
from forebay.storage.partials import partial_folder
from forebay.types import Done

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.found import Found
    from forebay.pipelines.media.step_share import Media, Share
    from forebay.services.av_files import AVFile, FileFacts
    from forebay.services.download.partial_file import PartialFile
    from forebay.types import Write

log = get_logger("media")

_STORE_S = 600.0  # to store a file, when it has come
_MEDIA = re.compile(r"media\.[A-Za-z0-9]{1,8}")  # what is left of a download, without its parts


class Alive(Protocol):
    """Says that a download goes on; `allowed` are the seconds until it must be said again, None if it need not be."""

    def __call__(self, allowed: float | None = ..., /) -> None: ...


class Transfer(NamedTuple):
    """What one attempt has received; the bytes before `resumed_from` came in earlier ones."""

    seconds: float
    resumed_from: int

    def facts(self, size: int) -> dict[str, float]:
        """For the log."""
        rate = (size - self.resumed_from) / max(self.seconds, 0.001)
        return {
            "seconds": round(self.seconds, 3),
            "bytes_per_s": max(0, round(rate)),
            "resumed_from": self.resumed_from,
        }


class Downloaded(BaseModel):
    """The stored file of a share."""

    file_id: int
    sha256: str
    size: int
    kind: str
    media_type: str
    duration_s: float | None = None
    has_subtitles: bool = False


async def download_share(ctx: Context, given: Media, share: Share, found: Found) -> Done[Downloaded]:
    """Download the media of a share and store it.

    Raises: what `Http.fetch` raises; DataError when it is too large, too long or no media; ResourceError; ConfigError.
    """
    log.info("download_started", share=share.id, job=ctx.job_id, attempt=ctx.attempt, way=found.way)
    own = (await ctx.get(resources.settings)).of(MediaSettings)
    if found.way == "upload":
        return await _keep_upload(ctx, given, share, own)
    if own.max_duration_s and (found.duration_s or 0) > own.max_duration_s:
        raise too_long(found.duration_s or 0, own)
    async with resources.partial_file(ctx) as partial, unless_stalled(own.stall_s) as alive:
        one = _Download(ctx, share, own, partial, alive)
        ended = await (one.fetch_file(share.url or "") if found.way == "direct" else one.fetch_found(found))
        await remove_folder(one.folder)
        partial.discard()
    return ended


class _Download:
    """One attempt at the media of a share. What came stays in the partial file, or in the folder beside it, until it is
    stored: the next attempt on this machine continues it."""

    def __init__(self, ctx: Context, share: Share, own: MediaSettings, partial: PartialFile, alive: Alive) -> None:
        self._ctx, self._share, self._own, self._partial, self._alive = ctx, share, own, partial, alive
        self._tell = resources.reporting(ctx, "downloading")
        self._start = time.monotonic()
        self.folder = partial_folder(partial.path)

    async def fetch_file(self, url: str, headers: Mapping[str, str] | None = None) -> Done[Downloaded]:
        """Download one file."""
        wanted = FetchRequest(
            url, "media.download", self._own.max_bytes, self._own.download_s, headers=headers or {}, cookies=True
        )
        http = await self._ctx.get(resources.http)
        size, journal = self._partial.size, self._partial.journal
        done = await download(http, wanted, self._partial, report=self._report)
        is_resumed = self._partial.journal is journal  # otherwise it was begun again
        return await self._store(done.path, done.sha256, size if is_resumed else 0)

    async def fetch_found(self, found: Found) -> Done[Downloaded]:
        """Download what is found on a page. The URLs there are signed for a while: if they are denied, it is asked once
        more."""
        fetch = self._fetch_on_page if found.way == "page" else self._fetch_extracted
        try:
            return await fetch(found)
        except AccessDenied as error:
            log.info("extracted_again", share=self._share.id, job=self._ctx.job_id, error=str(error))
            return await fetch(found)

    async def _fetch_on_page(self, found: Found) -> Done[Downloaded]:
        url = await find_on_page(self._ctx, self._share.url or "")
        if url is None:
            raise TransientError("the page does not name its media any more")
        return await self.fetch_file(url, {"referer": self._share.url or ""})

    async def _fetch_extracted(self, found: Found) -> Done[Downloaded]:
        name = found.platform_data.get("extractorName")
        known = () if name is None else (str(name),)
        asking = Order(self._share.url or "", self.folder, False, EXTRACT_S, "media.download", known)
        if found.is_plain:
            self._alive(EXTRACT_S)
            info, _ = await run_extractor(self._ctx, asking)
            self._alive()
            if (file := plain_file(info)) is not None:
                check_allowed(checked_url(file.url), self._own)
                return await self.fetch_file(file.url, file.headers)
        return await self._fetch_stream(asking)

    async def _fetch_stream(self, asking: Order) -> Done[Downloaded]:
        """Let yt-dlp download what is in parts; those that came are there for the next attempt."""
        self._alive(EXTRACT_S)
        order = replace(asking, download=True, timeout=self._own.download_s)
        size = await asyncio.to_thread(_size_of_files, self.folder)
        _, files = await run_extractor(self._ctx, order, self._report)
        media = [file for file in files if file.parent == self.folder and _MEDIA.fullmatch(file.name)]
        if len(media) != 1:
            raise DataError(f"the download ended with {len(media)} files instead of one")
        return await self._store(media[0], None, size)

    def _report(self, done: int, total: int | None) -> None:
        self._alive()
        self._tell(done, total)

    async def _store(self, path: Path, sha256: str | None, resumed_from: int) -> Done[Downloaded]:
        """Inspect a complete file, and make it that of the share. Without a hash, it is the joined parts of a stream.

        Raises: DataError when it is no media, or too long.
        """
        transfer = Transfer(time.monotonic() - self._start, resumed_from)
        ctx, own = self._ctx, self._own
        self._alive(None)  # all bytes are here: it may wait for other inspections, each of which has a limit of its own
        await let_sandbox_read(path)
        path, media = await inspect_stream(ctx, path) if sha256 is None else (path, await inspect_file(ctx, path))
        check_duration(media.facts, own)
        self._alive(_STORE_S)
        ctx.progress(note="storing the file")
        blobs = await ctx.get(resources.blobs)
        stored = await blobs.adopt(
            path,
            owner_id=self._share.owner_id,
            name=media.facts.file_name,
            media_type=media.facts.media_type,
            sha256=sha256,
            max_bytes=own.max_bytes,
        )
        return await _ready(ctx, self._share, stored, media, transfer)


def _size_of_files(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


async def _keep_upload(ctx: Context, given: Media, share: Share, own: MediaSettings) -> Done[Downloaded]:
    """Inspect a file of the owner, which is stored already."""
    sha256 = given.file.sha256 if given.file is not None else share.sha256
    file_id = int(given.file.file_id) if given.file is not None else share.file_id
    if sha256 is None or file_id is None:
        raise DataError("the uploaded file is not there any more: upload it again")
    blobs = await ctx.get(resources.blobs)
    async with blobs.local(sha256) as path:
        media = await inspect_file(ctx, path)
        check_duration(media.facts, own)
        size = path.stat().st_size
    stored = Stored(file_id, share.owner_id, sha256, size, media.facts.file_name, media.facts.media_type)
    return await _ready(ctx, share, stored, media)


@asynccontextmanager
async def unless_stalled(seconds: float) -> AsyncGenerator[Alive]:
    """Fails unless the yielded function is called at least once in so many seconds, or as it says.

    Raises: TransientError.
    """
    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:

            def alive(allowed: float | None = seconds) -> None:
                if not limit.expired():
                    limit.reschedule(None if allowed is None else loop.time() + allowed)

            yield alive
    except TimeoutError:
        if not limit.expired():
            raise
        raise TransientError(f"no byte was received for {seconds:g} s (FOREBAY_MEDIA_STALL_S)") from None


def check_duration(facts: FileFacts, own: MediaSettings) -> None:
    """Raises: DataError."""
    if own.max_duration_s and (facts.duration_s or 0) > own.max_duration_s:
        raise too_long(facts.duration_s or 0, own)


def too_long(seconds: float, own: MediaSettings) -> DataError:
    return DataError(f"lasts {seconds:.0f} s; FOREBAY_MEDIA_MAX_DURATION_S allows {own.max_duration_s:.0f} s")


async def _ready(
    ctx: Context, share: Share, stored: Stored, media: AVFile, transfer: Transfer | None = None
) -> Done[Downloaded]:
    """What makes a stored file that of the share, with its poster and thumbnails."""
    blobs, facts = await ctx.get(resources.blobs), media.facts
    writes: list[Write] = [step_writes.write_file(share, stored)]
    shown: Stored | None = stored if facts.kind == "image" else None
    if media.poster is not None:
        shown = await blobs.put(media.poster, owner_id=share.owner_id, name="poster.jpg", media_type="image/jpeg")
        writes.append(step_writes.write_file(share, shown))
    if shown is not None and media.picture is not None:
        writes.append(await store_thumbnails(blobs, shown, media.picture))
    poster_id = None if shown is None else shown.file_id
    writes.append(step_writes.write_download(share, stored, poster_id, _about(facts, stored.size)))
    received = {} if transfer is None else transfer.facts(stored.size)
    log.info("download_completed", share=share.id, job=ctx.job_id, attempt=ctx.attempt, size=stored.size,
             kind=facts.kind, duration_s=facts.duration_s, **received)  # fmt: skip
    return Done(
        Downloaded(
            file_id=stored.file_id,
            sha256=stored.sha256,
            size=stored.size,
            kind=facts.kind,
            media_type=facts.media_type,
            duration_s=facts.duration_s,
            has_subtitles=facts.has_subtitles,
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
