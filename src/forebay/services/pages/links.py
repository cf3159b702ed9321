"""The canonical URL, images, icons and feeds of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.services.pages.cleaning import address, line
from forebay.services.pages.facts import Feed, Icon, PagePicture
from forebay.services.pages.jsonld import about, addresses_of, pixels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.services.pages.head import Head
    from forebay.types import Json

_MOST_IMAGES, _MOST_ICONS, _MOST_FEEDS = 10, 12, 20
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_LARGEST_ICON = 512  # pixels; larger ones are for app stores


def read_canonical(head: Head, url: str) -> tuple[str | None, str | None]:
    """The canonical URL of the page, trusted or as a hint."""
    given = next((link.href for link in head.links if "canonical" in link.rel), None) or head.first(
        "og:url", longest=4096
    )
    found = address(given, head.base)
    if found is None:
        return None, None
    is_front = urlsplit(found).path == "/" and not urlsplit(found).query
    page = urlsplit(url)
    # Some sites declare their front page on all pages.
    if site_of(found) != site_of(url) or (is_front and (page.path not in ("", "/") or page.query)):
        return None, found
    return found, None


def site_of(url: str) -> str:
    """The registrable domain of a URL, or else its host."""
    from tld import get_fld  # noqa: PLC0415 # pyright: ignore[reportUnknownVariableType] - reads public suffixes

    host = (urlsplit(url).hostname or "").rstrip(".")
    if ":" in host or host.replace(".", "").isdecimal():
        return host
    # For unknown suffixes, as in intranets, two labels are a site.
    return get_fld(f"https://{host}", fail_silently=True, search_private=True) or ".".join(host.split(".")[-2:])


def read_images(head: Head, things: list[dict[str, Json]]) -> list[PagePicture]:
    """Images that represent the page, the best first."""
    found: dict[str, PagePicture] = {}
    for picture in _pictures(head, things):
        found.setdefault(picture.url, picture)
    return list(found.values())[:_MOST_IMAGES]


def _pictures(head: Head, things: list[dict[str, Json]]) -> Iterator[PagePicture]:
    yield from _opengraph_images(head)
    alt = head.first("twitter:image:alt")
    told: list[tuple[str, int | None, int | None, str | None]] = []
    told += [(each, None, None, alt) for name in ("twitter:image", "twitter:image:src") for each in head.all(name)]
    told += [(*each, None) for key in ("image", "thumbnailUrl") for each in addresses_of(about(things), key)]
    told += [(link.href, None, None, None) for link in head.links if "image_src" in link.rel]
    told += [(each, None, None, None) for name in ("image", "thumbnail") for each in head.all(name)]
    for each, width, height, text in told:
        if url := address(each, head.base):
            yield PagePicture(url=url, width=width, height=height, alt=text)


def _opengraph_images(head: Head) -> Iterator[PagePicture]:
    """Each og:image with the properties that follow it."""
    current: dict[str, str] = {}
    for name, content in (*head.metas, ("og:image", "")):
        if name in ("og:image", "og:image:url") and ("og:image" in current or not content):
            if picture := _opengraph_image(head, current):
                yield picture
            current = {}
        if name.startswith("og:image") and content:
            current.setdefault("og:image" if name == "og:image:url" else name, content)


def _opengraph_image(head: Head, said: dict[str, str]) -> PagePicture | None:
    url = address(said.get("og:image:secure_url"), head.base) or address(said.get("og:image"), head.base)
    if url is None:
        return None
    width, height = pixels(said.get("og:image:width")), pixels(said.get("og:image:height"))
    return PagePicture(url=url, width=width, height=height, alt=line(said.get("og:image:alt")))


def read_icons(head: Head, url: str) -> list[Icon]:
    """The icons of the site, the largest suitable one first, /favicon.ico last."""
    found: dict[str, Icon] = {}
    for link in head.links:
        icon = _icon(head, link.rel, link.href, link.media_type, link.sizes)
        if icon and icon.size > found.get(icon.url, Icon(url="", size=-1)).size:
            found[icon.url] = icon
    ordered = sorted(found.values(), key=lambda icon: (icon.size > _LARGEST_ICON, -icon.size))
    last = address("/favicon.ico", url)
    return [
        *ordered[: _MOST_ICONS - 1],
        *([Icon(url=last, size=16, media_type="image/x-icon")] if last and last not in found else []),
    ]


def _icon(head: Head, rel: frozenset[str], href: str, media_type: str, sizes: str) -> Icon | None:
    is_touch = bool(rel & {"apple-touch-icon", "apple-touch-icon-precomposed"})
    if not is_touch and not rel & {"icon", "fluid-icon"}:
        return None
    url = address(href, head.base)
    if url is None or media_type == "image/svg+xml" or urlsplit(url).path.lower().endswith((".svg", ".svgz")):
        return None
    told = [max(int(width), int(height)) for width, height in _SIZE.findall(sizes)]
    return Icon(url=url, size=max(told, default=180 if is_touch else 32), media_type=media_type or None)


def read_feeds(head: Head) -> list[Feed]:
    """The feeds of the page, in order."""
    found: dict[str, Feed] = {}
    for link in head.links:
        if ("alternate" in link.rel or "feed" in link.rel) and link.media_type in _FEED_TYPES:
            url = address(link.href, head.base)
            if url:
                found.setdefault(url, Feed(url=url, title=link.title, media_type=link.media_type))
    return list(found.values())[:_MOST_FEEDS]
