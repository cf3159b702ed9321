"""The visible and the readable text of a page."""

from __future__ import annotations

import re
import unicodedata
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
        from trafilatura import bare_extraction, xml  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ConfigError("pages cannot be read: pip install 'forebay[web]'") from missing
    found: Any = bare_extraction(html, include_comments=False, include_tables=True, include_images=True)
    if found is None or found.body is None:
        return "", []
    blocks = read_blocks(found.body, base)
    _without_pictures(found.body)
    text: str = xml.xmltotxt(found.body, include_formatting=False)  # pyright: ignore[reportUnknownMemberType]
    return lines(unicodedata.normalize("NFC", text), LONGEST_TEXT), blocks


def _without_pictures(body: Any) -> None:
    """Remove pictures; the text around them stays, with one space."""
    for node in list(body.iter("graphic")):
        parent, before, tail = node.getparent(), node.getprevious(), node.tail or ""
        holder, name = (parent, "text") if before is None else (before, "tail")
        text = getattr(holder, name) or ""
        joined = f"{text.rstrip()} {tail.lstrip()}" if text.strip() and tail.strip() else text + tail
        setattr(holder, name, joined)
        node.tail = None
        parent.remove(node)
