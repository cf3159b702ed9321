"""What the steps of media can do on this machine. A worker on another machine may have more, or less."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.pipelines.media.settings import MediaSettings

if TYPE_CHECKING:
    from forebay.settings import Settings


def features(settings: Settings) -> dict[str, bool]:
    return {
        "media": settings.of(MediaSettings).enabled,
        "mediaSites": find_spec("yt_dlp") is not None,
        "ffmpeg": shutil.which("ffmpeg") is not None,
    }
