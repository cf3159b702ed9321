"""The visible and the readable text of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from forebay.errors import ConfigError
from forebay.services.pages.blocks import read_blocks
from forebay.services.pages.cleaning import line, lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from forebay.services.pages.facts import Block

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


def readable_text(html: str, base: str) -> tuple[str, list[Block]]:
    """The main text of the page, without menus, and its blocks; empty if it cannot be determined."""
    if html.count("<") > _MOST_TAGS:
        return "", []
    try:
        from trafilatura import bare_extraction, extract  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ConfigError("pages cannot be read: pip install 'forebay[web]'") from missing
    text = lines(extract(html, include_comments=False, include_tables=True), LONGEST_TEXT)
    if not text:
        return "", []
    # Looked for again: with pictures, their captions and teasers beside them count as text, too.
    found: Any = bare_extraction(html, include_comments=False, include_tables=True, include_images=True)
    return text, [] if found is None or found.body is None else read_blocks(found.body, base)
