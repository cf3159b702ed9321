"""Finds out what a link leads to: a file of media, or a page whose media an extractor knows."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel

from forebay import resources
from forebay.errors import DataError
from forebay.pipelines.media.kinds import ShareKind
from forebay.services.egress import FetchRequest, checked_url

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.step_share import Media, Share
    from forebay.services.egress import Fetched

_HEAD_BYTES = 4096
_HEAD_S = 20.0
_PLAYLISTS = re.compile(rb"^(\xef\xbb\xbf)?\s*(#EXTM3U|<\?xml[^>]*>\s*(<!--.*?-->\s*)*<MPD|<MPD)", re.DOTALL)
_MARKUP = re.compile(rb"^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|head|!--|body|svg|rss)", re.IGNORECASE)
_STREAMS = ("mpegurl", "dash+xml", "vnd.ms-sstr", "f4m")


class Found(BaseModel):
    """What later steps need of a link; the rest is in the share."""

    way: Literal["upload", "direct", "extractor"]
    kind: ShareKind | None = None
    title: str | None = None
    site: str | None = None
    author: str | None = None
    description: str | None = None
    language: str | None = None
    published_at: datetime | None = None
    duration_s: float | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None
    thumbnail: str | None = None
    platform_data: dict[str, Any] = {}

    def facts(self) -> dict[str, object]:
        """What the share is told."""
        return self.model_dump(mode="json", exclude={"way", "size", "thumbnail"})


async def probe_share(ctx: Context, given: Media, share: Share) -> Found:
    """Find out what the link of a share leads to.

    Raises: what `Http.fetch` raises; DataError when there is no media.
    """
    if given.file is not None or share.url is None:
        name = None if given.file is None else given.file.name
        return Found(way="upload", title=share.title or name)
    head = await _read_head(ctx, share.url)
    if is_media(head):
        return _direct(head, share.url)
    raise DataError(f"{checked_url(share.url).place} is {head.media_type}, which is not media")


async def _read_head(ctx: Context, url: str) -> Fetched:
    """The head of the response, and the beginning of the body."""
    http = await ctx.get(resources.http)
    wanted = FetchRequest(url, "media.probe", 1 << 62, 60.0, headers={"accept-encoding": "identity"}, cookies=True)
    async with http.stream(wanted) as answer:
        return await answer.read_beginning(_HEAD_BYTES, _HEAD_S)


def is_media(head: Fetched) -> bool:
    """Whether a response is a file of media, and not a page, or a playlist of a stream."""
    if any(name in head.media_type for name in _STREAMS) or _PLAYLISTS.match(head.content):
        return False
    if _MARKUP.match(head.content):
        return False
    return head.media_type.partition("/")[0] in ("video", "audio", "image") or head.media_type in (
        "application/octet-stream",
        "binary/octet-stream",
        "application/mp4",
        "application/ogg",
    )


def _direct(head: Fetched, url: str) -> Found:
    kinds: dict[str, ShareKind] = {"video": "video", "audio": "audio", "image": "image"}
    declared = head.headers.get("content-length", "")
    return Found(
        way="direct",
        kind=kinds.get(head.media_type.partition("/")[0]),
        title=_name_of(url),
        site=checked_url(head.url).host.removeprefix("www."),
        size=int(declared) if declared.isdecimal() and len(declared) < 19 else None,
    )


def _name_of(url: str) -> str | None:
    """The last part of the path, as a title."""
    name = unquote(PurePosixPath(urlsplit(url).path).stem, errors="replace")
    return re.sub(r"[\x00-\x1f\x7f]+", " ", name).strip()[:300] or None
