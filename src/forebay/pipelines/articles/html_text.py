"""HTML to Markdown: what articles keep of an HTML file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_DROPPED = frozenset(("script", "style", "template", "noscript", "svg", "iframe", "object", "head"))
_BLOCKS = frozenset(
    ("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "table", "ul", "ol", "figure")
)
_MARKS = {"em": "*", "i": "*", "strong": "**", "b": "**", "code": "`", "s": "~~", "del": "~~"}
_BEGINNINGS = {
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    "li": "\n- ",
    "br": "  \n",
    "blockquote": "\n\n> ",
    "tr": "\n",
    "hr": "\n\n---\n\n",
    "td": " ",
    "th": " ",
}
_SPECIAL = re.compile(r"([\\`*_\[\]<>])")
_DEEPEST = 500  # open elements


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._dropping = 0
        self._in_title = self._in_pre = False
        self._links: list[str | None] = []
        self._open = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open += 1
        if tag == "title":
            self._in_title = True
        elif tag in _DROPPED:
            self._dropping += 1
        elif not self._dropping and self._open <= _DEEPEST:
            self.parts.append(self._begin(tag, dict(attrs)))

    def _begin(self, tag: str, attributes: dict[str, str | None]) -> str:
        """What an element begins with."""
        if tag == "a":
            href = attributes.get("href") or ""
            is_link = href.startswith(("http://", "https://")) and not re.search(r"[\s<>()]", href)
            self._links.append(href if is_link else None)
            return "[" if is_link else ""
        if tag == "pre":
            self._in_pre = True
            return "\n\n```\n"
        if tag in _BLOCKS:
            return "\n\n"
        return _BEGINNINGS.get(tag) or ("" if self._in_pre else _MARKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._open -= 1
        if tag == "title":
            self._in_title = False
        elif tag in _DROPPED:
            self._dropping = max(0, self._dropping - 1)
        elif self._dropping:
            return
        elif tag == "pre":
            self._in_pre = False
            self.parts.append("\n```\n\n")
        elif tag == "a" and self._links:
            href = self._links.pop()
            self.parts.append("" if href is None else f"]({href})")
        elif tag in _BLOCKS or re.fullmatch(r"h[1-6]", tag):
            self.parts.append("\n\n")
        else:
            self.parts.append(_MARKS.get(tag, "") if not self._in_pre else "")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropping:
            self.parts.append(data if self._in_pre else _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", data)))


def markdown_of(html: str) -> tuple[str, str]:
    """The title and the text of an HTML file, as Markdown; what runs or is not text is left out."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = re.sub(r"[ \t]+\n(?!\n)", lambda found: "  \n" if found[0].startswith("  ") else "\n", "".join(reader.parts))
    return reader.title.strip(), re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
