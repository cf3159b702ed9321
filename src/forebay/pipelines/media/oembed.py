"""oEmbed: what a site says about a page of its own, for those who show it. Nothing depends on it."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urljoin

from forebay.errors import StepError
from forebay.log import get_logger
from forebay.pipelines.media.found import Found
from forebay.services.egress import checked_url

if TYPE_CHECKING:
    from forebay.services.egress import Fetched, Http

log = get_logger("media")

_TIMEOUT_S = 10.0
_MOST_BYTES = 256 << 10
_LINK = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_HREF = re.compile(r"""href\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
# Sites whose pages do not say where it is.
_KNOWN = {
    "tiktok.com": "https://www.tiktok.com/oembed?url=",
    "vimeo.com": "https://vimeo.com/api/oembed.json?url=",
    "youtube.com": "https://www.youtube.com/oembed?format=json&url=",
}


async def read_oembed(http: Http, url: str, page: Fetched) -> Found:
    """What the site says, as far as it does."""
    place = _place(url, page)
    if place is None:
        return Found(way="extractor")
    try:
        fetched = await http.get(place, purpose="media.oembed", max_bytes=_MOST_BYTES, timeout=_TIMEOUT_S)
        told: Any = json.loads(fetched.content)
        return _found(cast("dict[str, Any]", told)) if isinstance(told, dict) else Found(way="extractor")
    except (StepError, ValueError) as error:
        log.info("no_oembed", host=checked_url(url).host, error=str(error))
        return Found(way="extractor")


def _place(url: str, page: Fetched) -> str | None:
    for link in _LINK.findall(page.content.decode("utf-8", "replace")):
        if "application/json+oembed" in link and (found := _HREF.search(link)):
            return urljoin(page.url, html.unescape(found[1]))
    host = checked_url(url).host.removeprefix("www.")
    known = next((place for site, place in _KNOWN.items() if host == site or host.endswith(f".{site}")), None)
    return None if known is None else known + quote(url, safe="")


def _found(told: dict[str, Any]) -> Found:
    kept = ("type", "provider_name", "author_url", "thumbnail_url")
    about = {name: str(told[name])[:2000] for name in kept if isinstance(told.get(name), str)}
    return Found(
        way="extractor",
        title=_text(told.get("title")),
        author=_text(told.get("author_name")),
        thumbnail=about.get("thumbnail_url"),
        platform_data={"oembed": about} if about else {},
    )


def _text(value: object) -> str | None:
    return re.sub(r"[\x00-\x1f\x7f]+", " ", value).strip()[:500] or None if isinstance(value, str) else None
