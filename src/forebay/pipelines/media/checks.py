"""What media needs, in `forebay doctor`: PyAV, yt-dlp, ffmpeg, and room for downloads."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

from forebay.cli._doctor_files import of_extra
from forebay.hooks import Finding
from forebay.pipelines.media.settings import MediaSettings

if TYPE_CHECKING:
    from forebay.settings import Settings


async def check(settings: Settings) -> list[Finding]:
    own = settings.of(MediaSettings)
    if not own.enabled:
        return [Finding("OK", "media", "off: FOREBAY_MEDIA_ENABLED is false")]
    found = [of_extra("media", ("av", "yt_dlp"), "downloads of media wait")]
    if shutil.which("ffmpeg") is None:
        fix = "apt-get install ffmpeg, or FOREBAY_MEDIA_ENABLED=false"
        found.append(Finding("WARN", "ffmpeg", "not installed: downloads wait", fix))
    else:
        found.append(Finding("OK", "ffmpeg", "installed"))
    return [*found, await asyncio.to_thread(_room, settings, own)]


def _room(settings: Settings, own: MediaSettings) -> Finding:
    """Whether the downloads that may run at the same time fit on the disk."""
    folder = settings.data_dir.absolute()
    while not folder.exists():
        folder = folder.parent
    free, needed = shutil.disk_usage(folder).free, own.downloads * own.max_bytes
    if free >= needed:
        return Finding("OK", "media space", f"{free >> 30} GiB free")
    fix = "free some, or lower FOREBAY_MEDIA_DOWNLOADS or FOREBAY_MEDIA_MAX_BYTES"
    return Finding("WARN", "media space", f"{free >> 30} GiB free; downloads may need {needed >> 30} GiB", fix)
