"""Finds the media that a page names itself: in its video and audio elements, and in its OpenGraph tags.

An extractor would find them as well, but it takes seconds of processor time to find out that no site is known.
"""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from forebay.pipelines.media.extracted import Entry
from forebay.pipelines.media.links import shared_url
from forebay.services.egress import InvalidUrl

if TYPE_CHECKING:
    from forebay.services.egress import Fetched
    from forebay.settings import Settings

_TAG = re.compile(r"<(video|audio|source|meta)\b([^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-z:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)
_GRAPH = ("og:video", "og:video:url", "og:video:secure_url", "og:audio", "og:audio:url", "twitter:player:stream")
_PICTURES = ("og:image", "og:image:url", "og:image:secure_url")
_MEDIA = re.compile(r"\.(?:mp4|m4v|mov|webm|mkv|mp3|m4a|ogg|oga|ogv|opus|flac|wav|aac|m3u8|mpd)", re.IGNORECASE)


def page_entries(page: Fetched, settings: Settings) -> list[Entry]:
    """The media that a page names, each once; of a page with several pictures and no other media, the pictures."""
    text = page.content.decode(page.charset or "utf-8", "replace")
    found, pictures = dict[str, Entry](), dict[str, Entry]()
    title = page_title(text)
    for kind, rest in _TAG.findall(text):
        given = {name.lower(): html.unescape(a or b) for name, a, b in _ATTRIBUTE.findall(rest)}
        name = given.get("property", given.get("name", "")).lower()
        if kind.lower() != "meta":
            _put(found, given.get("src"), page.url, title, settings)
        elif name in _GRAPH and _MEDIA.search(urlsplit(given.get("content", "")).path):
            _put(found, given.get("content"), page.url, title, settings)
        elif name in _PICTURES:
            _put(pictures, given.get("content"), page.url, title, settings)
    return list(found.values()) or list(pictures.values())


def page_title(text: str) -> str | None:
    title = _TITLE.search(text)
    return " ".join(html.unescape(title[1]).split())[:1000] or None if title else None


def _put(found: dict[str, Entry], link: str | None, base: str, title: str | None, settings: Settings) -> None:
    try:
        url = str(shared_url(urljoin(base, link or ""), settings))
    except (InvalidUrl, ValueError):
        return
    if link and url not in found:
        found[url] = Entry(url, title)


def is_known_site(host: str) -> bool:
    """Whether an extractor seems to be made for this site: its name is in the patterns of URLs."""
    label = re.escape(max(host.split(".")[:-1], key=len, default=""))
    return bool(label) and re.search(rf"(?<![a-z0-9]){label}(?:\\\\?\\\.|\||\))", _patterns()) is not None


@cache
def _patterns() -> str:
    """The patterns of all extractors; empty without the package."""
    found = find_spec("yt_dlp")
    if found is None or found.origin is None:
        return ""
    file = Path(found.origin).with_name("extractor") / "lazy_extractors.py"
    return file.read_text("utf-8") if file.exists() else ""
