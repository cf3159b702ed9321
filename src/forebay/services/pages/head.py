"""The meta and link elements of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.services.pages.cleaning import address, line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MOST = 2000
_REFRESH = re.compile(r"^\s*(\d{1,6}(?:\.\d*)?)\s*(?:[;,\s]\s*(?:url\s*=\s*)?(.*))?$", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeadLink:
    """A link element."""

    rel: frozenset[str]
    href: str
    media_type: str
    sizes: str
    title: str | None


@dataclass(slots=True)
class Head:
    """Metas by lower-case name, which may be repeated, and links."""

    base: str
    metas: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    links: list[HeadLink] = field(default_factory=list[HeadLink])
    refresh: str | None = None
    title: str | None = None

    def first(self, *names: str, longest: int = 500) -> str | None:
        """The first meta of these names, the names in order."""
        for name in names:
            for found in self.all(name):
                if text := line(found, longest):
                    return text
        return None

    def all(self, name: str) -> Iterator[str]:
        return (content for each, content in self.metas if each == name)

    def under(self, prefix: str) -> dict[str, str]:
        """The metas with a prefix, each once."""
        found: dict[str, str] = {}
        for name, content in self.metas:
            text = line(content, 2000) if name.startswith(prefix) else None
            if text and len(found) < 60:
                found.setdefault(name.removeprefix(prefix)[:100], text)
        return found


def read_head(tree: LexborHTMLParser, url: str) -> Head:
    """Collect them from the whole document: invalid pages have such elements in their body."""
    head = Head(_base(tree, url))
    for node in tree.css("meta")[:_MOST]:
        _add_meta(head, node)
    for node in tree.css("link[rel][href]")[:_MOST]:
        given = node.attributes
        head.links.append(
            HeadLink(
                frozenset((given.get("rel") or "").lower().split()),
                given.get("href") or "",
                (given.get("type") or "").partition(";")[0].strip().lower(),
                (given.get("sizes") or "").lower(),
                line(given.get("title"), 200),
            )
        )
    title = next((node for node in tree.css("title")[:20] if not _is_in(node, "svg")), None)
    head.title = line(title.text(), 500) if title is not None else None
    return head


def read_refresh(content: str | None, base: str) -> tuple[str | None, float | None]:
    """The URL and the seconds of a refresh; None for a page that only reloads itself."""
    found = _REFRESH.match((content or "")[:5000])
    if not found or not found[2]:
        return None, None
    target = address(found[2].strip().strip("'\""), base, fragment=True)
    return (target, float(found[1])) if target and target != base else (None, None)


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (address(node.attributes.get("href"), url) if node is not None else None) or url


def _add_meta(head: Head, node: LexborNode) -> None:
    given = node.attributes
    content = given.get("content")
    if not content:
        return
    if (given.get("http-equiv") or "").strip().lower() == "refresh":
        # A refresh within noscript is for browsers without scripts.
        if head.refresh is None and not _is_in(node, "noscript"):
            head.refresh = content
        return
    for key in ("property", "name", "itemprop", "http-equiv"):
        if name := given.get(key):
            head.metas.append((name.strip().lower()[:100], content))


def _is_in(node: LexborNode, tag: str) -> bool:
    above = node.parent
    for _ in range(50):
        if above is None:
            return False
        if above.tag == tag:
            return True
        above = above.parent
    return False
