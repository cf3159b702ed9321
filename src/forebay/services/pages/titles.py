"""Finds the title of a page, without the name of the site."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.services.pages import jsonld
from forebay.services.pages.cleaning import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.services.pages.head import Head
    from forebay.types import Json

_SEPARATOR = re.compile(r"\s+[-\u2013\u2014|│·•»«\u203a\u2039:/\\<>]+\s+|[|│]+")
_WORD = re.compile(r"\w+")
_SAME_TITLE = 0.8  # share of the words of a heading in the title that makes them the same
_SAME_SUBJECT = 0.3  # share of the words of a headline: some contain a description
_SHORTEST_HEADING = 3  # words; shorter ones may be names of sections
_SHORTEST_SITE = 3  # letters; shorter names of sites are part of many words
_LONGEST_SITE = 6  # words
_MOST_PARTS = 4
_GENERIC = {
    "home", "homepage", "startseite", "index", "untitled", "untitled document", "welcome", "willkommen", "accueil",
    "inicio", "news", "article", "blog", "page", "new page",
}  # fmt: skip


def read_title(head: Head, things: list[dict[str, Json]], headings: list[str], url: str) -> str | None:
    """The title; `headings` are the first-level headings of the page."""
    sites = site_keys(head, things, url)
    headline = line(unescape(jsonld.text_of(jsonld.about(things), "headline") or ""))  # some sites escape it twice
    if headline and _is_alike(headline, f"{head.title} {head.first('og:title')}", _SAME_SUBJECT):
        return _without_site(headline, sites) or headline
    for told in (_shared_title(head), head.first("dc.title", "dcterms.title", "parsely-title")):
        if title := _without_site(told, sites):
            return title
    shown = _without_site(_without_trail(head.title, headings), sites)
    if shown and _key(shown) not in _GENERIC:
        return _as_heading(shown, headings)
    name = line(jsonld.text_of(jsonld.about(things), "name"))
    return headline or name or head.first("twitter:title") or (headings[0] if headings else shown)


def site_keys(head: Head, things: list[dict[str, Json]], url: str) -> set[str]:
    """The normalized names of the site."""
    names = (_squeezed(name) for name in _site_names(head, things, url) if name)
    return {name for name in names if len(name) >= _SHORTEST_SITE}


def _shared_title(head: Head) -> str | None:
    """The title for sharing, unless it is the same on all pages of the site."""
    shared = head.first("og:title")
    if not shared or not head.title:
        return shared
    if shared in (head.first("og:site_name"), head.title):  # the headline is generated, like the title
        return None
    return shared if len(_words(shared)) > 1 or _is_alike(shared, head.title, 1.0) else None


def _without_trail(title: str | None, headings: list[str]) -> str | None:
    """The heading, if the title consists of it and names of sections."""
    keys = {_key(heading): heading for heading in headings}
    for found in _SEPARATOR.finditer(title or ""):
        if title and len(_words(title[: found.start()])) >= _SHORTEST_HEADING and _key(title[: found.start()]) in keys:
            return title[: found.start()].strip()
    return title


def _site_names(head: Head, things: list[dict[str, Json]], url: str) -> Iterator[str | None]:
    sites = [thing for thing in things if "WebSite" in jsonld.types_of(thing)]
    yield head.first("og:site_name")
    yield head.first("application-name", "apple-mobile-web-app-title")
    yield from jsonld.names_of(things, "publisher")
    yield from jsonld.names_of(sites, "alternateName")
    yield jsonld.text_of(sites, "name")
    for address in (url, head.first("og:url"), _canonical(head)):
        yield from _host_names(address)


def _canonical(head: Head) -> str | None:
    return next((link.href for link in head.links if "canonical" in link.rel), None)


def _host_names(url: str | None) -> Iterator[str]:
    """`www.example.co.uk` is `example.co.uk`, and `example`."""
    try:
        host = (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return
    if "." in host and not host.replace(".", "").isdecimal():
        yield host
        yield max(host.split(".")[:-1], key=len)


def _without_site(title: str | None, sites: set[str]) -> str | None:
    """The title without names of the site at its ends; None if nothing else is left."""
    for _ in range(_MOST_PARTS):
        parts = list(_SEPARATOR.finditer(title or ""))
        if not title or not parts:
            break
        if _names_site(title[parts[-1].end() :], sites):
            title = title[: parts[-1].start()].strip()
        elif _squeezed(title[: parts[0].start()]) in sites:
            title = title[parts[0].end() :].strip()
        else:
            break
    return title if title and _squeezed(title) not in sites else None


def _names_site(part: str, sites: set[str]) -> bool:
    name = _squeezed(part)
    if not name or name in sites:
        return True  # a separator at the end leaves an empty part
    if len(name) < _SHORTEST_SITE or len(_words(part)) > _LONGEST_SITE:
        return False
    # "BBC News" and "BBC", "Solarserver" and "solarserver.de": one begins with the other.
    return any(name.startswith(site) or site.startswith(name) for site in sites)


def _as_heading(title: str, headings: list[str]) -> str:
    """The heading of the page if it is similar to the title, which may be written for search engines."""
    if len(headings) != 1 or len(_words(headings[0])) < _SHORTEST_HEADING:
        return title
    is_same = _is_alike(headings[0], title, _SAME_TITLE) and _is_alike(title, headings[0], _SAME_TITLE)
    return headings[0] if is_same else title


def _is_alike(one: str, other: str, share: float) -> bool:
    """Whether at least this share of the words of one is in the other."""
    mine = set(_words(one))
    return bool(mine) and len(mine & set(_words(other))) >= share * len(mine)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _key(text: str) -> str:
    return " ".join(_words(text))


def _squeezed(text: str) -> str:
    return "".join(_words(text)).replace("_", "")
