"""Decodes pages: by byte order mark, header, declaration in the page, then by detection."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from forebay.services.encodings import detection
from forebay.services.encodings.labels import codec_name, web_name

_META = re.compile(rb"""<meta[^>]{0,512}?charset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([a-zA-Z0-9_:.-]{2,40})""", re.IGNORECASE)
_HEAD = 4096  # bytes that are searched for a declaration
_SAMPLE = 1 << 16
_BROKEN_SHARE = 0.1  # a larger share of invalid characters among the non-ASCII ones means that the declaration is wrong
_CHANCE = 4  # fewer characters may be valid UTF-8 by chance in a two-byte encoding
_TWO_BYTES = frozenset(("gb18030", "big5hkscs", "euc_jp", "cp932", "cp949"))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and the name of its encoding."""

    text: str
    charset: str


def decode_page(data: bytes, declared: str | None = None) -> Decoded:
    """Decode a page; invalid bytes become U+FFFD."""
    codec, mark = detection.find_mark(data[:4])
    if codec is not None:
        return _decoded(data[mark:], codec)
    characters = _utf8_characters(data)
    for name in _told(data, declared):
        # Valid UTF-8 is UTF-8, whatever is declared: other encodings are hardly ever valid by chance.
        if characters >= (_CHANCE if name in _TWO_BYTES else 1):
            return _decoded(data, "utf_8")
        text = _fitting(data, name)
        if text is not None:
            return Decoded(text, web_name(name))
    return _decoded(data, "utf_8" if characters else detection.guess([data], data[:_SAMPLE]))


def _told(data: bytes, declared: str | None) -> Iterator[str]:
    """The declared encodings, the header first."""
    if declared and (name := codec_name(declared)):
        yield name
    for pattern in (_META, _XML):
        found = pattern.search(data[:_HEAD])
        if found and (name := codec_name(found[1].decode("ascii"))):
            # A page whose declaration is readable as ASCII is not in UTF-16.
            yield "utf_8" if name.startswith("utf_16") else name


def _fitting(data: bytes, name: str) -> str | None:
    """The text, unless the bytes show that the declaration is wrong."""
    text = data.decode(name, "replace")
    head = text[:_SAMPLE]
    beyond = sum(1 for char in head if char > "\x7f")
    return None if head.count("\ufffd") > _BROKEN_SHARE * max(beyond, 10) else text


def _utf8_characters(data: bytes) -> int:
    """The number of non-ASCII characters if all of it is UTF-8, else 0; the end may be cut."""
    if data.isascii():
        return 0
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return 0
    return len(text) - len(text.encode("ascii", "ignore"))


def _decoded(data: bytes, name: str) -> Decoded:
    return Decoded(data.decode(name, "replace"), web_name(name))
