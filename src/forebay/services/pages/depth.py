"""Limits the nesting depth of a page before it is parsed.

The time of parsers grows with the depth of each tag and the square of its attributes. Other expensive pages are stopped
by the limits of the process.
"""

from __future__ import annotations

import re

DEEPEST = 500  # similar to the limit of browsers
MOST_TAGS = 300_000
_LONGEST_TAG = 20_000  # only inline images have more, which are not used
# Attributes with < or > are not matched as parts of tags, so that matching is linear.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)([^<>]*)>")
_LONG = re.compile(rf"<([a-zA-Z][a-zA-Z0-9:-]*)[\s/][^<>]{{{_LONGEST_TAG},}}>")
_ENDLESS = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_SELF_ENDING = {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rp", "rt"}
_NOT_NESTING = frozenset(_ENDLESS | _SELF_ENDING | {"html", "head", "body"})


def shallow(html: str) -> str:
    """The page without tags beyond a maximum number, tags that are nested too deeply, and very long attributes."""
    html = "<".join(html.split("<", MOST_TAGS)[:MOST_TAGS])
    html = _LONG.sub(r"<\1>", html)
    if html.count("<") <= DEEPEST or not _is_deep(html):
        return html
    return _Flattening().of(html)


def _is_deep(html: str) -> bool:
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() not in _NOT_NESTING and not tag[3].endswith("/"):
            depth = max(0, depth - 1) if tag[1] else depth + 1
            if depth > DEEPEST:
                return True
    return False


class _Flattening:
    def __init__(self) -> None:
        self._depth = 0

    def of(self, html: str) -> str:
        return _TAG.sub(self._kept, html)

    def _kept(self, tag: re.Match[str]) -> str:
        if tag[2].lower() in _NOT_NESTING or tag[3].endswith("/"):
            return tag[0]
        if tag[1]:
            self._depth = max(0, self._depth - 1)
            return tag[0] if self._depth < DEEPEST else " "
        self._depth += 1
        return tag[0] if self._depth <= DEEPEST else " "
