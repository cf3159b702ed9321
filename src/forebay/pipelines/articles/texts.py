"""What is derived from the text of an article: its file name, its first words, and their number."""

from __future__ import annotations

import re
import unicodedata

SLUG = r"^[^\s./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,254}$"
"""File names: without a path, and not hidden."""

_SUFFIX = re.compile(r"\.(?:md|markdown|html?|txt|pdf)$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\W_]+")
_LONGEST_SLUG = 80
_LOOKED_AT = 4000  # characters that an excerpt is made of
_EXCERPT = 240

_BLOCKS = re.compile(r"^\s*(?:\|?\s*:?--[-\s:|]*$|```.*|~~~.*|#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+|\|)", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_MARKS = re.compile(r"[*`~|]+|(?<!\w)_+|_+(?!\w)")


def slug_of(title: str) -> str:
    """A file name made of a title: small letters and digits of any script, separated by hyphens."""
    plain = unicodedata.normalize("NFKC", title).lower()
    return _SEPARATORS.sub("-", plain)[:_LONGEST_SLUG].strip("-") or "article"


def slug_of_file(name: str) -> str:
    """The slug of an article in a file of this name, without its suffix."""
    return _SUFFIX.sub("", name) or name


def excerpt_of(content: str, title: str) -> str:
    """The first words of a Markdown text, without its marks; a heading that repeats the title is omitted."""
    text = " ".join(without_marks(content[:_LOOKED_AT]).split())
    text = text.removeprefix(title).lstrip()
    if len(text) <= _EXCERPT:
        return text
    return text[:_EXCERPT].rsplit(" ", 1)[0] + " …"


def without_marks(text: str) -> str:
    """A Markdown text, or a piece of one, without its marks."""
    return _MARKS.sub("", _LINK.sub(r"\1", _BLOCKS.sub("", text)))


def count_words(content: str) -> int:
    return len(content.split())
