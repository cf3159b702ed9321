"""The visible and the readable text of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.pages.cleaning import line, lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

LONGEST_TEXT = 200_000
_MOST_TAGS = 100_000  # the time of trafilatura grows faster than linearly
_SPACES = re.compile(r"[^\S\n]+")
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe", "object"]


def heading_of(tree: LexborHTMLParser) -> str | None:
    """The first non-empty heading."""
    return next(filter(None, (line(node.text(), 300) for node in tree.css("h1, h2")[:10])), None)


def first_headings(tree: LexborHTMLParser) -> list[str]:
    """The distinct, non-empty first-level headings."""
    found = (line(node.text(separator=" "), 300) for node in tree.css("h1")[:10])
    return list(dict.fromkeys(text for text in found if text))


def visible_text(tree: LexborHTMLParser) -> str:
    """The approximate visible text of the page; invisible elements are removed from the tree."""
    tree.strip_tags(_UNSEEN)
    body = tree.body
    return _SPACES.sub(" ", lines(body.text(separator=" "), LONGEST_TEXT)) if body is not None else ""


def readable_text(html: str) -> str:
    """The main text of the page, without menus; None if it cannot be determined."""
    if html.count("<") > _MOST_TAGS:
        return ""
    try:
        from trafilatura import extract  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ConfigError("pages cannot be read: pip install 'forebay[web]'") from missing
    return lines(extract(html, include_comments=False, include_tables=True), LONGEST_TEXT)
