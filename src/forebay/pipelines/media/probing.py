"""Finds out what a link leads to: a file of media, or a page whose media an extractor knows."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from forebay import resources
from forebay.errors import PermanentError
from forebay.pipelines.media.extracted import Entry, entries_of, found_of
from forebay.pipelines.media.extractor import EXTRACT_S, GENERIC, Order, remove_folder, run_extractor
from forebay.pipelines.media.found import Found
from forebay.pipelines.media.oembed import read_oembed
from forebay.pipelines.media.page_media import is_known_site, page_entries, page_title
from forebay.services.egress import AccessDenied, FetchRequest, checked_url
from forebay.storage.partials import partial_folder

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.kinds import ShareKind
    from forebay.pipelines.media.step_share import Media, Share
    from forebay.services.egress import Fetched

_HEAD_BYTES = 256 << 10  # pages say in their heads where more is
_HEAD_S = 20.0
_PLAYLISTS = re.compile(rb"^(\xef\xbb\xbf)?\s*(#EXTM3U|<\?xml[^>]*>\s*(<!--.*?-->\s*)*<MPD|<MPD)", re.DOTALL)
_MARKUP = re.compile(rb"^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|head|!--|body|svg|rss)", re.IGNORECASE)
_STREAMS = ("mpegurl", "dash+xml", "vnd.ms-sstr", "f4m")
_BYTES = ("application/octet-stream", "binary/octet-stream", "application/mp4", "application/ogg")


async def probe_share(ctx: Context, given: Media, share: Share) -> tuple[Found, list[Entry]]:
    """Find out what the link of a share leads to, and of a playlist, which entries it has. Downloads nothing.

    Raises: what `Http.fetch` raises; PermanentError when there is no media.
    """
    if given.file is not None or share.url is None:
        name = None if given.file is None else given.file.name
        return Found(way="upload", title=share.title or name), []
    try:
        head = await _read_head(ctx, share.url)
    except AccessDenied:  # sites refuse what is not a browser; the extractor knows more ways
        return await _extract(ctx, share.url, Found(way="extractor"))
    if is_media(head):
        return _direct(head, share.url), []
    if is_stream(head):
        return await _extract(ctx, share.url, Found(way="extractor", title=_name_of(share.url)), (GENERIC,))
    told = await read_oembed(await ctx.get(resources.http), share.url, head)
    if not is_known_site(checked_url(head.url).host):
        entries = page_entries(head, await ctx.get(resources.settings))
        if entries:
            return _on_page(head, told, entries)
    return await _extract(ctx, share.url, told)


def _on_page(page: Fetched, told: Found, entries: list[Entry]) -> tuple[Found, list[Entry]]:
    """Media that the page names itself: one, or a gallery."""
    title = page_title(page.content.decode(page.charset or "utf-8", "replace")) or told.title
    known = told.model_copy(update={"title": title, "site": checked_url(page.url).host.removeprefix("www.")})
    if len(entries) == 1:
        return known.model_copy(update={"way": "page"}), []
    return known.model_copy(update={"way": "page", "kind": "playlist"}), entries


async def _read_head(ctx: Context, url: str) -> Fetched:
    """The head of the response, and the beginning of the body."""
    http = await ctx.get(resources.http)
    wanted = FetchRequest(url, "media.probe", 1 << 62, 60.0, headers={"accept-encoding": "identity"}, cookies=True)
    async with http.stream(wanted) as answer:
        most = _HEAD_BYTES if answer.media_type.startswith("text/") else 4096
        return await answer.read_beginning(most, _HEAD_S)


async def find_on_page(ctx: Context, url: str) -> str | None:
    """The media that a page names now: its URL may be signed for a while."""
    entries = page_entries(await _read_head(ctx, url), await ctx.get(resources.settings))
    return entries[0].url if entries else None


def is_stream(head: Fetched) -> bool:
    """Whether a response is the playlist of a stream."""
    return any(name in head.media_type for name in _STREAMS) or _PLAYLISTS.match(head.content) is not None


def is_media(head: Fetched) -> bool:
    """Whether a response is a file of media, and not a page, or the playlist of a stream."""
    if is_stream(head) or _MARKUP.match(head.content):
        return False
    return head.media_type.partition("/")[0] in ("video", "audio", "image") or head.media_type in _BYTES


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


async def _extract(ctx: Context, url: str, told: Found, extractors: tuple[str, ...] = ()) -> tuple[Found, list[Entry]]:
    """What an extractor knows, completed by what the site has told otherwise."""
    blobs = await ctx.get(resources.blobs)
    folder = partial_folder(await blobs.partial_path(ctx.owner_id, ctx.key))
    try:
        info, _ = await run_extractor(ctx, Order(url, folder, False, EXTRACT_S, "media.probe", extractors))
    finally:
        await remove_folder(folder)
    found = found_of(info, url)
    entries = entries_of(info, await ctx.get(resources.settings)) if found.kind == "playlist" else []
    if found.kind == "playlist" and not entries:
        raise PermanentError("the playlist has no entry that can be downloaded")
    known = told.model_dump(exclude_none=True, exclude={"platform_data"})
    merged = found.model_copy(update={name: v for name, v in known.items() if getattr(found, name) is None})
    return merged.model_copy(update={"platform_data": told.platform_data | found.platform_data}), entries
