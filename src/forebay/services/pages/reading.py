"""Reads a page: from bytes to facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.encodings import decode_page
from forebay.services.pages import jsonld
from forebay.services.pages.authors import read_author
from forebay.services.pages.cleaning import count_words, line
from forebay.services.pages.dates import read_date
from forebay.services.pages.depth import MOST_TAGS, shallow
from forebay.services.pages.facts import PageFacts
from forebay.services.pages.guessing import guess_published
from forebay.services.pages.head import Head, read_head, read_refresh
from forebay.services.pages.kinds import Signals, judge
from forebay.services.pages.links import read_canonical, read_feeds, read_icons, read_images
from forebay.services.pages.text import first_headings, heading_of, readable_text, visible_text
from forebay.services.pages.titles import read_title, site_keys

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from selectolax.lexbor import LexborHTMLParser

    from forebay.types import Json

LONGEST_HTML = 5 << 20
_LANGUAGE = re.compile(r"^[a-zA-Z]{2,3}(?:[-_][a-zA-Z]{4})?(?:[-_](?:[a-zA-Z]{2}|\d{3}))?(?=$|[-_,;.\s@])")
_PUBLISHED = (
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "citation_publication_date",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.created",
    "dc.date",
    "parsely-pub-date",
    "sailthru.date",
    "pubdate",
    "publishdate",
    "publish_date",
    "publication_date",
    "og:published_time",
    "article:published",
    "dc.date.created",
    "date",
)
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified", "lastmod")


def read_page(
    html: bytes, url: str, charset: str | None, status: int, headers: Mapping[str, str] | None = None
) -> PageFacts:
    """Read the facts of a response; only its first megabytes are used.

    Raises:
        ConfigError: the packages of the extra `web` are not installed.
    """
    parse = _parser()
    decoded = decode_page(html[:LONGEST_HTML], charset)
    source = shallow(decoded.text.replace("\0", ""))
    tree = parse(source)
    said = {name.lower(): value for name, value in (headers or {}).items()}
    head = read_head(tree, url)
    things = jsonld.read_json_ld(node.text() for node in tree.css('script[type="application/ld+json" i]')[:50])
    signals = _signals(tree, head, url, status, said)
    judged = judge(signals)
    readable, blocks = readable_text(source, head.base)
    text = readable or signals.text
    words, minutes = count_words(text)
    canonical, hint = read_canonical(head, url)
    refresh_url, refresh_after = read_refresh(head.refresh or said.get("refresh"), head.base)
    return PageFacts(
        url=url,
        status=status,
        kind=judged.kind,
        reason=judged.reason,
        charset=decoded.charset,
        is_cut=len(html) > LONGEST_HTML or decoded.text.count("<") >= MOST_TAGS,
        title=read_title(head, things, first_headings(tree), url),
        description=_description(head, things),
        author=read_author(tree, head, things, site_keys(head, things, url)),
        site=_site(head, things),
        language=_language(tree, head, said),
        published=_published(tree, head, things) or read_date(guess_published(source, url)),
        modified=_date(head, _MODIFIED, things, "dateModified"),
        canonical=canonical,
        canonical_hint=hint,
        refresh_url=refresh_url,
        refresh_after=refresh_after,
        images=read_images(head, things),
        icons=read_icons(head, url),
        feeds=read_feeds(head),
        opengraph=head.under("og:"),
        twitter=head.under("twitter:"),
        json_ld=things,
        text=text,
        blocks=blocks,
        word_count=words,
        reading_minutes=minutes,
    )


def read_text(data: bytes, charset: str | None) -> str:
    """Decode a text file like a page: only with encodings of the web."""
    return decode_page(data, charset).text.replace("\0", "")


def _parser() -> type[LexborHTMLParser]:
    try:
        from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ConfigError("pages cannot be read: pip install 'forebay[web]'") from missing
    return LexborHTMLParser


def _signals(tree: LexborHTMLParser, head: Head, url: str, status: int, headers: Mapping[str, str]) -> Signals:
    markers = _markers(tree)
    has_scripts = tree.css_first("script") is not None
    text = visible_text(tree)  # removes the scripts from the tree
    return Signals(
        status=status,
        url=url,
        title=head.title or "",
        heading=heading_of(tree) or "",
        text=text,
        words=count_words(text)[0],
        has_password=tree.css_first("input[type='password' i]") is not None,
        has_media=tree.css_first("body img[src], body video, body canvas, body iframe[src], frameset") is not None,
        has_scripts=has_scripts,
        markers=markers,
        headers=headers,
    )


def _markers(tree: LexborHTMLParser) -> str:
    """The URLs of scripts, frames and forms, and the ids and classes of containers."""
    found: list[str] = []
    for node in tree.css("script[src], iframe[src], form, div[id], div[class*='captcha' i]")[:1000]:
        given = node.attributes
        found += [value[:300] for key in ("src", "action", "id", "class") if (value := given.get(key))]
    return "\n".join(found)


def _description(head: Head, things: list[dict[str, Json]]) -> str | None:
    found = head.first("og:description", "description", "twitter:description", "dc.description", longest=1000)
    return found or line(jsonld.text_of(jsonld.about(things), "description", "abstract"), 1000)


def _site(head: Head, things: list[dict[str, Json]]) -> str | None:
    sites = [thing for thing in things if "WebSite" in jsonld.types_of(thing)]
    told = jsonld.text_of(things, "publisher") or jsonld.text_of(sites, "name")
    return head.first("og:site_name") or line(told) or head.first("application-name", "apple-mobile-web-app-title")


def _language(tree: LexborHTMLParser, head: Head, headers: Mapping[str, str]) -> str | None:
    root = tree.css_first("html")
    given = root.attributes if root is not None else {}
    for told in (
        given.get("lang"),
        given.get("xml:lang"),
        head.first("content-language"),
        head.first("og:locale"),
        headers.get("content-language"),
    ):
        found = _LANGUAGE.match((told or "").strip())
        if found:
            return _language_tag(found[0])
    return None


def _language_tag(text: str) -> str:
    first, *rest = re.split("[-_]", text)
    return "-".join([first.lower(), *(part.title() if len(part) == 4 else part.upper() for part in rest)])


def _date(head: Head, names: tuple[str, ...], things: list[dict[str, Json]], *keys: str) -> datetime | None:
    told = read_date(jsonld.text_of(jsonld.about(things), *keys))
    return told or next(filter(None, (read_date(content) for name in names for content in head.all(name))), None)


def _published(tree: LexborHTMLParser, head: Head, things: list[dict[str, Json]]) -> datetime | None:
    return _date(head, _PUBLISHED, things, "datePublished", "uploadDate") or _time_element(tree)


def _time_element(tree: LexborHTMLParser) -> datetime | None:
    for node in tree.css("time[datetime][pubdate], time[datetime][itemprop='datePublished'], article time[datetime]")[
        :5
    ]:
        if found := read_date(node.attributes.get("datetime")):
            return found
    return None
