"""The limit on the bytes per second of all downloads of a worker, of its own client and of yt-dlp."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from forebay import resources
from forebay.engine.declare.resources import Resources, resource
from forebay.pipelines.media.settings import MediaSettings

PURPOSE = "media.download"  # of the grants of all downloads


@resource
async def download_rate(given: Resources) -> AsyncGenerator[None]:
    settings, egress = await given.get(resources.settings), await given.get(resources.egress)
    egress.limit_rate(PURPOSE, settings.of(MediaSettings).download_bytes_per_s)
    yield
